/**
 * Groups as CSV (RFC 4180) for spreadsheets: UTF-8 with a byte order mark, lines end with CRLF, one
 * row a document of a group.
 */
import type { ReportableGroup } from "../../dedup/analysis/outcome.ts";
import type { Corpus } from "../../dedup/corpus.ts";
import { BYTE_ORDER_MARK, csvRow } from "../../kernel/base/text/csv.ts";

const COLUMNS = [
  "group_id",
  "confidence_score",
  "jaccard_similarity",
  "fuzzy_text_ratio",
  "discriminative_score",
  "group_status",
  "is_primary",
  "id",
  "title",
  "correspondent",
  "document_type",
  "tags",
  "created_date",
  "word_count",
  "truncated",
  "hard_link_of",
] as const;

/** A group, and its status as the API writes it. */
export interface CsvGroup {
  readonly group: ReportableGroup;
  readonly status: string;
}

/** A line for the names of the columns, then one a document; a group's primary comes first. */
export function* formatCsv(
  groups: Iterable<CsvGroup>,
  { document }: Pick<Corpus, "document">,
): Generator<string> {
  yield `${BYTE_ORDER_MARK}${csvRow(COLUMNS)}`;
  for (const { group, status } of groups) {
    const { id, confidence, jaccard, fuzzy, discriminative, members } = group;
    for (const [at, member] of members.entries()) {
      const { correspondent, documentType, tags, createdDate } = document(member.number);
      const same = members.findIndex(({ hardLink }) => hardLink === member.hardLink);
      const isOtherName = member.hardLink !== undefined && same < at;
      yield csvRow([
        id,
        confidence,
        jaccard,
        fuzzy,
        discriminative,
        status,
        member.primary,
        member.ref,
        member.title,
        correspondent,
        documentType,
        tags?.join("|"),
        createdDate,
        member.wordCount,
        member.truncated === true,
        isOtherName ? members[same]?.ref : undefined,
      ]);
    }
  }
}
