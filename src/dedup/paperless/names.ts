/** Names of tags, correspondents and document types by their ids. */
import type { DocumentLabels } from "../archives/archive.ts";
import { NAME_UNITS, TAGS } from "../archives/record.ts";
import { readNamed, type ReferenceIds } from "./decode.ts";
import { notPaperless } from "./failures.ts";
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

const PAGE = 1_000;
const MAX_PAGES = 1_000;

const lists = ["tags", "correspondents", "document_types"] as const;
type List = (typeof lists)[number];
type Tables = Readonly<Record<List, ReadonlyMap<number, string>>>;

/** Reads all names. */
export async function readNames(client: PaperlessClient, signal: AbortSignal): Promise<Names> {
  let tables = await readTables(client, signal);
  const absent: Readonly<Record<List, Set<number>>> = {
    tags: new Set(),
    correspondents: new Set(),
    document_types: new Set(),
  };
  const unknown = (ids: ReferenceIds): [List, number][] =>
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

function idsOf({ tags, correspondent, documentType }: ReferenceIds): [List, number][] {
  return [
    ...tags.map((id): [List, number] => ["tags", id]),
    ...(correspondent === undefined ? [] : [["correspondents", correspondent] as [List, number]]),
    ...(documentType === undefined ? [] : [["document_types", documentType] as [List, number]]),
  ];
}

async function readTables(client: PaperlessClient, signal: AbortSignal): Promise<Tables> {
  const [tags, correspondents, documentTypes] = await Promise.all(
    lists.map((list) => readTable(client, list, signal)),
  );
  return {
    tags: tags ?? new Map(),
    correspondents: correspondents ?? new Map(),
    document_types: documentTypes ?? new Map(),
  };
}

async function readTable(
  client: PaperlessClient,
  list: List,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (let number = 1; number <= MAX_PAGES; number++) {
    const page = await client.page(list, { page: number, page_size: PAGE }, signal);
    for (const item of page?.results ?? []) {
      const named = readNamed(item);
      if ("wrong" in named)
        throw notPaperless(client.name, `an entry of the list of ${list} ${named.wrong}`);
      names.set(named.id, named.name.toWellFormed().slice(0, NAME_UNITS));
    }
    if (page === undefined || page.isLast) return names;
  }
  throw notPaperless(client.name, `the list of ${list} has more than ${MAX_PAGES} pages`);
}
