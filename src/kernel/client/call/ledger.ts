/**
 * Outcomes of attempts by operation, for status pages. Bounded by the number of operations, not of
 * calls.
 */
import { failureClasses, type FailureClass } from "../failure.ts";
import type { AttemptReport, OperationStatus } from "../types.ts";

/** Latencies kept per operation. */
const RECENT = 60;

/** Operation names are few; beyond this limit they share one row. */
const MAX_OPERATIONS = 256;
const OTHERS = "__other__";

const MAX_MESSAGE_LENGTH = 200;

type Row = { -readonly [K in keyof OperationStatus]: OperationStatus[K] } & { recentMs: number[] };

export interface Ledger {
  record(report: AttemptReport, message: string | undefined): void;
  /** In the order of first use. */
  rows(): readonly OperationStatus[];
}

/** `now` is wall time in milliseconds. */
export function createLedger(now: () => number): Ledger {
  const rows = new Map<string, Row>();

  function rowOf(name: string): Row {
    const operation = rows.has(name) || rows.size < MAX_OPERATIONS ? name : OTHERS;
    const known = rows.get(operation);
    if (known !== undefined) return known;
    const row: Row = {
      operation,
      requests: 0,
      failures: 0,
      retries: 0,
      rateLimited: 0,
      waitedMs: 0,
      lastStatus: 0,
      lastClass: undefined,
      lastMessage: undefined,
      lastSuccessAtMs: undefined,
      lastFailureAtMs: undefined,
      recentMs: [],
    };
    rows.set(operation, row);
    return row;
  }

  return {
    record(report, message) {
      const row = rowOf(report.operation);
      row.waitedMs += report.waitedMs;
      if (report.class === "cancelled") return;
      row.requests += 1;
      if (report.attempt > 1) row.retries += 1;
      row.lastStatus = report.status;
      row.lastClass = report.class;
      row.lastMessage = message?.slice(0, MAX_MESSAGE_LENGTH);
      row.recentMs.push(report.durationMs);
      if (row.recentMs.length > RECENT) row.recentMs.shift();
      if (report.class === undefined) row.lastSuccessAtMs = now();
      else fail(row, report.class, now());
    },
    rows: () => [...rows.values()].map((row) => ({ ...row, recentMs: [...row.recentMs] })),
  };
}

function fail(row: Row, kind: FailureClass, nowMs: number): void {
  row.failures += 1;
  row.lastFailureAtMs = nowMs;
  if (kind === "rate_limited") row.rateLimited += 1;
}

/** Whether an outcome counts for or against the upstream's health; cancelling does neither. */
export function healthOf(kind: FailureClass | undefined): "good" | "trouble" | "unknown" {
  if (kind === "cancelled") return "unknown";
  return kind !== undefined && failureClasses[kind].trouble ? "trouble" : "good";
}
