/**
 * GET /api/v1/export/duplicates.csv: the groups that a list would show, one row a member, for
 * spreadsheets (RFC 4180).
 */
import type { MessageShape } from "@bufbuild/protobuf";
import { ListGroupsRequestSchema } from "../../gen/steward/dedup/v1/duplicates_pb.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { BYTE_ORDER_MARK, csvRow } from "../../kernel/base/text/csv.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import { createBinder } from "../../kernel/wire/bind.ts";
import { invalidRequest } from "../../kernel/wire/issues.ts";
import { checkRules } from "../../kernel/wire/validate.ts";
import { statusOf } from "../groups/decision.ts";
import { shownDocuments } from "../groups/present.ts";
import { primaryOf } from "../groups/row.ts";
import { readGroup, type StoredGroup } from "../groups/store.ts";
import type { Snapshot } from "../../kernel/state/types.ts";
import { listedGroups, type DuplicatesApiDeps } from "./duplicates.ts";

const COLUMNS = [
  "group_id",
  "confidence_score",
  "jaccard_similarity",
  "fuzzy_text_ratio",
  "discriminative_score",
  "group_status",
  "is_primary",
  "paperless_id",
  "title",
  "correspondent",
  "document_type",
  "tags",
  "created_date",
  "word_count",
  "group_created_at",
  "archive",
  "archive_ref",
];

const STATUS: Readonly<Record<number, string>> = {
  [GroupStatus.PENDING]: "pending",
  [GroupStatus.FALSE_POSITIVE]: "false_positive",
  [GroupStatus.IGNORED]: "ignored",
  [GroupStatus.DELETED]: "deleted",
};

/** The route without its handler. */
export const DUPLICATES_CSV_ROUTE: Omit<PlainRoute, "handle"> = {
  verb: "GET",
  template: "/api/v1/export/duplicates.csv",
  access: Access.OPERATOR,
  dialect: "dedup",
  describe: {
    operationId: "exportDuplicatesCsv",
    tag: "DuplicateService",
    text:
      "Downloads duplicate groups as CSV, a row for each member, the groups of highest confidence first. " +
      "Takes the filters of the list of groups, without pages. UTF-8 with a byte order mark; a text that a spreadsheet would read as a formula begins with an apostrophe.",
    answer: "The rows, without an envelope.",
    contentType: "text/csv",
    query: {
      minConfidence: "Only groups with at least this confidence, from 0 to 1.",
      maxConfidence: "Only groups with at most this confidence, from 0 to 1.",
      status:
        "Statuses with commas between them: `pending`, `false_positive`, `ignored`, `deleted`; all but `deleted` if not given.",
      plan: "`in` for groups in the delete plan, `out` for the others.",
      search: "Part of the title of a member.",
      since:
        "A time: only groups found then or later, or with a document that a sync which started then or later brought.",
    },
  },
};

export interface DuplicatesCsvDeps extends DuplicatesApiDeps {
  readonly clock: Clock;
}

export function duplicatesCsvRoute(deps: DuplicatesCsvDeps): PlainRoute {
  const binder = createBinder({
    input: ListGroupsRequestSchema,
    variables: [],
    body: "",
    ignoreUnknown: true,
  });
  return {
    ...DUPLICATES_CSV_ROUTE,
    async handle({ query }, { signal }) {
      const request = binder.bind({
        params: {},
        search: query.toString(),
        body: undefined,
      }) as MessageShape<typeof ListGroupsRequestSchema>;
      const findings = checkRules(ListGroupsRequestSchema, request);
      if (findings.length > 0) throw invalidRequest(findings);
      const { ids } = listedGroups(deps, request, { offset: 0, limit: Infinity });
      const day = new Date(deps.clock.now()).toISOString().slice(0, 10);
      return {
        status: 200,
        headers: {
          "content-type": "text/csv; charset=utf-8",
          "content-disposition": `attachment; filename="duplicates-${day}.csv"`,
          "cache-control": "no-store",
        },
        body: formatGroups(deps, ids, signal),
      };
    },
  };
}

/** Reads a group at a time: one that is gone by then is left out. */
async function* formatGroups(
  { env }: Pick<DuplicatesApiDeps, "env">,
  ids: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const turns = new Turns();
  yield `${BYTE_ORDER_MARK}${csvRow(COLUMNS)}`;
  for (const id of ids) {
    if (turns.over) await turns.give(signal);
    yield env.read((snapshot) => {
      const group = readGroup(snapshot, id);
      return group === undefined ? "" : formatGroup(snapshot, group);
    });
  }
}

function formatGroup(snapshot: Snapshot, group: StoredGroup): string {
  const { row, decision } = group;
  const primary = primaryOf(row, decision);
  return shownDocuments(snapshot, group)
    .map((document) =>
      csvRow([
        row.id,
        row.confidence,
        row.jaccard,
        row.fuzzy,
        row.discriminative,
        STATUS[statusOf(row, decision)],
        document.docNo === primary,
        document.paperlessId,
        document.title,
        document.correspondent,
        document.documentType,
        document.tags.join("|"),
        document.createdDate,
        document.contentHash.length === 0 ? undefined : document.wordCount,
        new Date(decision.createdAtMs).toISOString(),
        document.archive,
        document.archiveRef,
      ]),
    )
    .join("");
}
