/** Exports metrics of collector runs, unless self-observability is off. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  scrapeBudget,
  scrapeDuration,
  scrapeDurationHistogram,
  scrapeErrors,
  scrapeLastTimestamp,
  scrapeStaleness,
  scrapeSuccess,
} from "../catalogue/collection.ts";
import type { FailureWord } from "./failure-class.ts";

export interface RunFigures {
  readonly tookMs: number;
  readonly intervalMs: number;
  /** Milliseconds since 1970. */
  readonly finishedMs: number;
  /** Undefined on success. */
  readonly failed: FailureWord | undefined;
}

export function reportRun(
  scope: Scope,
  collector: string,
  { tookMs, intervalMs, finishedMs, failed }: RunFigures,
): void {
  const attributes = { "vpn.collector": collector };
  scope.gauge(scrapeDuration, tookMs / 1_000, attributes);
  scope.record(scrapeDurationHistogram, tookMs / 1_000, attributes);
  scope.gauge(scrapeLastTimestamp, finishedMs / 1_000, attributes);
  scope.gauge(scrapeBudget, intervalMs > 0 ? tookMs / intervalMs : 0, attributes);
  if (failed !== undefined) scope.add(scrapeErrors, 1, { ...attributes, "error.type": failed });
}

/**
 * Exports staleness as of now, not as of the last run. `staleMs`: since the last success, or since
 * the network started.
 */
export function reportFreshness(
  scope: Scope,
  collector: string,
  { staleMs, succeeded }: { readonly staleMs: number; readonly succeeded: boolean },
): void {
  const attributes = { "vpn.collector": collector };
  scope.gauge(scrapeSuccess, succeeded ? 1 : 0, attributes);
  scope.gauge(scrapeStaleness, Math.max(0, staleMs) / 1_000, attributes);
}
