/** Which suggestions the page lists, as the address has it. */
import type { AiResult } from "../../../src/gen/dedup-json.ts";
import { readOffset } from "../review/filters.ts";

export type Status = AiResult["appliedStatus"];

export interface Filters {
  readonly status: Status | undefined;
  /** Part of the document's title. */
  readonly search: string;
  readonly minConfidence: number | undefined;
  readonly offset: number;
}

/** Suggestions on one page. */
export const PAGE_RESULTS = 50;

/** The tabs, in order; without a status all are listed. */
export const TABS: readonly (readonly [name: Status | "all", label: string])[] = [
  ["pending", "To review"],
  ["applied", "Applied"],
  ["partial", "Applied in part"],
  ["rejected", "Rejected"],
  ["reverted", "Reverted"],
  ["failed", "Failed"],
  ["all", "All"],
];

/** Lower bounds of the mean confidence to choose from. */
export const CONFIDENCES: readonly (readonly [string | undefined, string])[] = [
  [undefined, "Any"],
  ["0.5", "≥ 50 %"],
  ["0.8", "≥ 80 %"],
  ["0.9", "≥ 90 %"],
];

/** What the address cannot mean is as if it were not there. */
export function readFilters(params: URLSearchParams): Filters {
  const minimum = Number(params.get("min") ?? Number.NaN);
  const shown = TABS.find(([name]) => name === params.get("show"))?.[0] ?? "pending";
  return {
    status: shown === "all" ? undefined : shown,
    search: (params.get("q") ?? "").slice(0, 200),
    minConfidence: minimum >= 0 && minimum <= 1 ? minimum : undefined,
    offset: readOffset(params),
  };
}

/** The filter of requests about many results: what the list shows. */
export function filterOf({
  status,
  search,
  minConfidence,
}: Filters): Readonly<Record<string, unknown>> {
  return {
    ...(status === undefined ? {} : { status }),
    ...(search === "" ? {} : { search }),
    ...(minConfidence === undefined ? {} : { minConfidence }),
  };
}
