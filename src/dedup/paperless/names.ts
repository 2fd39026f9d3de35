/** Names of tags, correspondents and document types by their ids. */
import type { DocumentLabels } from "../archives/archive.ts";
import { TAGS } from "../../../workers/extract/record.ts";
import type { ReferenceIds } from "./decode.ts";
import { labelLists, readTable, type LabelList } from "./label-lists.ts";
import type { PaperlessClient } from "./client.ts";

/** Resolves ids to names. */
export interface Names {
  /** Whether an id is not known and may be newer than what was read. */
  lacks(ids: ReferenceIds): boolean;
  /** Ids that are not known are left out: they are gone, or not visible to the user. */
  labelsOf(ids: ReferenceIds): DocumentLabels;
  /** Reads all names again; ids that are not known then are not asked for again. */
  refresh(seeking: readonly ReferenceIds[], signal: AbortSignal): Promise<void>;
}

type Tables = Readonly<Record<LabelList, ReadonlyMap<number, string>>>;

/** Reads all names. */
export async function readNames(client: PaperlessClient, signal: AbortSignal): Promise<Names> {
  let tables = await readTables(client, signal);
  const absent: Readonly<Record<LabelList, Set<number>>> = {
    tags: new Set(),
    correspondents: new Set(),
    document_types: new Set(),
  };
  const unknown = (ids: ReferenceIds): [LabelList, number][] =>
    idsOf(ids).filter(([list, id]) => !tables[list].has(id) && !absent[list].has(id));
  return {
    lacks: (ids) => unknown(ids).length > 0,
    labelsOf({ tags, correspondent, documentType }) {
      const named = tags.flatMap((id) => tables.tags.get(id) ?? []);
      const from =
        correspondent === undefined ? undefined : tables.correspondents.get(correspondent);
      const type = documentType === undefined ? undefined : tables.document_types.get(documentType);
      return {
        tags: named.slice(0, TAGS),
        ...(from === undefined ? {} : { correspondent: from }),
        ...(type === undefined ? {} : { documentType: type }),
      };
    },
    async refresh(seeking, refreshSignal) {
      tables = await readTables(client, refreshSignal);
      for (const [list, id] of seeking.flatMap(unknown)) absent[list].add(id);
    },
  };
}

function idsOf({ tags, correspondent, documentType }: ReferenceIds): [LabelList, number][] {
  return [
    ...tags.map((id): [LabelList, number] => ["tags", id]),
    ...(correspondent === undefined
      ? []
      : [["correspondents", correspondent] as [LabelList, number]]),
    ...(documentType === undefined
      ? []
      : [["document_types", documentType] as [LabelList, number]]),
  ];
}

async function readTables(client: PaperlessClient, signal: AbortSignal): Promise<Tables> {
  const [tags, correspondents, documentTypes] = await Promise.all(
    labelLists.map((list) => readTable(client, list, signal)),
  );
  return {
    tags: tags ?? new Map(),
    correspondents: correspondents ?? new Map(),
    document_types: documentTypes ?? new Map(),
  };
}
