/** Which groups the page `/duplicates` lists, as the address has it and as the API takes it. */
import type { GroupSummary } from "../../../src/gen/dedup-json.ts";

/** A status of the API, or a group's place in the delete plan. */
export type Shown = GroupSummary["status"] | "accepted" | "all";
type Sort = "confidence" | "member_count" | "created_at";

export interface Filters {
  readonly shown: Shown;
  /** Part of a member's title. */
  readonly search: string;
  readonly minConfidence: number | undefined;
  readonly sort: Sort;
  readonly descending: boolean;
  readonly offset: number;
}

/** The filter of `GET /api/v1/duplicates`. */
export interface GroupQuery {
  readonly status: readonly GroupSummary["status"][];
  readonly plan: "in" | "out" | undefined;
}

/** Groups on one page. */
export const PAGE_GROUPS = 50;

/** The tabs, in order. */
export const SHOWN: readonly (readonly [Shown, string])[] = [
  ["pending", "To review"],
  ["accepted", "In the delete plan"],
  ["false_positive", "Not duplicates"],
  ["ignored", "Ignored"],
  ["deleted", "Deleted"],
  ["all", "All"],
];

/** Lower bounds of the confidence to choose from. */
export const CONFIDENCES: readonly (readonly [string | undefined, string])[] = [
  [undefined, "Any"],
  ["0.8", "≥ 80 %"],
  ["0.9", "≥ 90 %"],
  ["0.95", "≥ 95 %"],
  ["1", "100 %"],
];

const SORTS: readonly Sort[] = ["confidence", "member_count", "created_at"];

/** What the address cannot mean is as if it were not there. */
export function readFilters(params: URLSearchParams): Filters {
  const sort = params.get("sort") ?? "-confidence";
  const minimum = Number(params.get("min") ?? Number.NaN);
  return {
    shown: SHOWN.find(([name]) => name === params.get("show"))?.[0] ?? "pending",
    search: (params.get("q") ?? "").slice(0, 200),
    minConfidence: minimum >= 0 && minimum <= 1 ? minimum : undefined,
    sort: SORTS.find((name) => name === sort.replace(/^-/, "")) ?? "confidence",
    descending: sort.startsWith("-"),
    offset: readOffset(params),
  };
}

/** Rows to skip; 0 for anything that is no such number. */
export function readOffset(params: URLSearchParams): number {
  const offset = Number(params.get("offset") ?? 0);
  return Number.isSafeInteger(offset) && offset > 0 && offset < 2 ** 31 ? offset : 0;
}

/** The API keeps an accepted group pending. */
export function queryOf({ shown }: Filters): GroupQuery {
  switch (shown) {
    case "all":
      return { status: ["pending", "false_positive", "ignored", "deleted"], plan: undefined };
    case "accepted":
      return { status: ["pending"], plan: "in" };
    case "pending":
      return { status: ["pending"], plan: "out" };
    default:
      return { status: [shown], plan: undefined };
  }
}

/** Whether the list with this filter has the group as it is now. */
export function isListed(group: Pick<GroupSummary, "status" | "accepted">, shown: Shown): boolean {
  return shown === "all" || shown === shownAs(group);
}

/** The tab that a group is under. */
export function shownAs({
  status,
  accepted,
}: Pick<GroupSummary, "status" | "accepted">): Exclude<Shown, "all"> {
  return status === "pending" && accepted ? "accepted" : status;
}
