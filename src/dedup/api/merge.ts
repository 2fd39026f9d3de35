/** Merging the metadata of a group into its primary, shown first. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  MergeField,
  MergeService,
  type GroupMergeSchema,
  type MergedFieldSchema,
} from "../../gen/steward/dedup/v1/merge_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import { shownDocuments } from "../groups/present.ts";
import { requireGroup } from "../groups/review.ts";
import { applyMerge } from "../merge/apply.ts";
import { mergeFields, planMerge, type MergedValue, type MergeFieldName } from "../merge/merge.ts";
import type { LiveDocument } from "../paperless/live-document.ts";
import type { PaperlessWriter } from "../paperless/writer.ts";
import { notInPaperless } from "./archive-of.ts";

export interface MergeApiDeps {
  readonly env: Env;
  readonly archives: () => readonly Pick<Archive, "name" | "kind" | "writer">[];
}

/** Members read for one answer. */
const MAX_MEMBERS = 200;

const wireFields: Readonly<Record<MergeFieldName, MergeField>> = {
  tags: MergeField.TAGS,
  correspondent: MergeField.CORRESPONDENT,
  documentType: MergeField.DOCUMENT_TYPE,
  created: MergeField.CREATED,
  notes: MergeField.NOTES,
};

/** MergeGroup. */
export function mergeHandlers(deps: MergeApiDeps): BoundService {
  return bindService(MergeService, {
    async mergeGroup({ id, dryRun = true, fields }, { signal }) {
      const { writer, primary, others } = membersOf(deps, id);
      const wanted = mergeFields.filter(
        (name) => fields.length === 0 || fields.includes(wireFields[name]),
      );
      const live = await readPrimary(writer, primary, signal);
      const read = await readMembers(writer, others, signal);
      const plan = planMerge(live, read.members, wanted);
      if (!dryRun && !(await applyMerge(writer, live.id, read.members, { fields: wanted, signal })))
        throw primaryGone(primary);
      const shown = createShower(writer, others, signal);
      return {
        data: {
          groupId: id,
          documentId: primary.id,
          paperlessId: live.id,
          merged: !dryRun,
          changes: await shown(plan.changes),
          kept: await shown(plan.kept),
          missingDocumentIds: read.missing,
        } satisfies MessageInitShape<typeof GroupMergeSchema>,
      };
    },
  });
}

/** The documents of a group that are all in one Paperless-ngx. Throws `not_found`, `conflict`. */
function membersOf(
  { env, archives }: MergeApiDeps,
  id: string,
): {
  readonly writer: PaperlessWriter;
  readonly primary: DocumentRow;
  readonly others: DocumentRow[];
} {
  const [primary, ...others] = env.read((snapshot) =>
    shownDocuments(snapshot, requireGroup(snapshot, id)),
  );
  if (primary === undefined)
    throw conflict(
      `duplicate group "${id}" is deleted and has no members; set its status to pending first`,
    );
  if (others.length > MAX_MEMBERS)
    throw conflict(
      `duplicate group "${id}" has more than ${MAX_MEMBERS} members; delete them with merge: true, which merges one by one`,
    );
  const known = archives();
  for (const { archive } of [primary, ...others]) {
    const found = known.find(({ name }) => name === archive);
    if (found?.writer === undefined)
      throw notInPaperless(
        `duplicate group "${id}" has a document of archive "${archive}"`,
        found?.kind,
      );
  }
  if (others.some(({ archive }) => archive !== primary.archive))
    throw conflict(
      `duplicate group "${id}" has documents of several archives, whose tags and correspondents differ; merge by hand`,
    );
  const writer = known.find(({ name }) => name === primary.archive)?.writer as PaperlessWriter;
  return { writer, primary, others };
}

function conflict(message: string): StewardError {
  return new StewardError("conflict", message, { rule: "group members" });
}

function primaryGone({ id }: DocumentRow): StewardError {
  return conflict(`the primary ${id} is gone from the archive; sync, then try again`);
}

async function readPrimary(
  writer: PaperlessWriter,
  row: DocumentRow,
  signal: AbortSignal,
): Promise<LiveDocument> {
  const live = await writer.document(row.paperlessId ?? 0, signal);
  if (live === undefined) throw primaryGone(row);
  return live;
}

async function readMembers(
  writer: PaperlessWriter,
  rows: readonly DocumentRow[],
  signal: AbortSignal,
): Promise<{ readonly members: LiveDocument[]; readonly missing: string[] }> {
  const members: LiveDocument[] = [];
  const missing: string[] = [];
  for (const { id, paperlessId = 0 } of rows) {
    const live = await writer.document(paperlessId, signal);
    if (live === undefined) missing.push(id);
    else members.push(live);
  }
  return { members, missing };
}

/** Shows values by their names. */
function createShower(
  writer: PaperlessWriter,
  others: readonly DocumentRow[],
  signal: AbortSignal,
): (values: readonly MergedValue[]) => Promise<MessageInitShape<typeof MergedFieldSchema>[]> {
  const idOf = new Map(others.map(({ paperlessId, id }) => [paperlessId, id]));
  const namesOf = async (
    { field }: MergedValue,
    values: readonly (number | string)[],
  ): Promise<string[]> => {
    const list = labelLists[field];
    return list === undefined
      ? values.map(String)
      : await writer.labelNames(list, values as number[], signal);
  };
  return async (values) => {
    const shown: MessageInitShape<typeof MergedFieldSchema>[] = [];
    for (const value of values)
      shown.push({
        field: wireFields[value.field],
        before: await namesOf(value, value.before),
        after: await namesOf(value, value.after),
        documentIds: value.from.flatMap((id) => idOf.get(id) ?? []),
      });
    return shown;
  };
}

const labelLists = {
  tags: "tags",
  correspondent: "correspondents",
  documentType: "document_types",
  created: undefined,
  notes: undefined,
} as const;
