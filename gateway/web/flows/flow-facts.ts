/** What the page of flows shows: the newest answer, and the older connections it loaded. */
import type { Flow, FlowReport } from "../../../src/gen/flows-json.ts";

export interface FlowFacts {
  /** The newest answer; undefined when none could be read. */
  readonly report: FlowReport | undefined;
  /** Connections, the newest first. */
  readonly rows: readonly Flow[];
  /** Continues below the last row; undefined when nothing older matches. */
  readonly olderCursor: string | undefined;
  /** Why nothing could be read. */
  readonly problem?: string | undefined;
  /** The answer may be outdated. */
  readonly stale?: boolean;
}

/** The page shows no more connections than this. */
export const MAX_ROWS = 2_000;

/** The parameters that the page takes, in the address as in the API. */
export const FLOW_FILTERS = [
  "device",
  "addr",
  "service",
  "identity",
  "type",
  "verdict",
  "path",
] as const;
export const FLOW_PARAMS = ["network", "window", "end", ...FLOW_FILTERS] as const;

/** What is read at once: a page that can be looked over, on a phone, too. */
export const FLOW_SIZES = { top: "10", recent: "50" } as const;

/** What an answer shows by itself. */
export function factsOf(report: FlowReport): FlowFacts {
  return { report, rows: report.recent, olderCursor: report.next_cursor };
}

/** A newer answer to the same question. Older connections that were loaded stay as they are. */
export function withNewer(facts: FlowFacts, report: FlowReport): FlowFacts {
  const hasOlder = facts.report !== undefined && facts.rows.length > facts.report.recent.length;
  return hasOlder ? { ...facts, report, problem: undefined } : factsOf(report);
}

/** The page after the last row. */
export function withOlder(facts: FlowFacts, older: FlowReport): FlowFacts {
  return {
    ...facts,
    rows: [...facts.rows, ...older.recent].slice(0, MAX_ROWS),
    olderCursor: older.next_cursor,
  };
}
