/** Exports how the runs of collectors go. Nothing of it with self-observability off. */
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

/** A run as far as it is exported. */
export interface RunFigures {
  readonly tookMs: number;
  readonly intervalMs: number;
  /** Milliseconds since 1970. */
  readonly finishedMs: number;
  /** Undefined when it went well. */
  readonly failed: FailureWord | undefined;
}

/** Says how a run went. */
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
 * Says how old what a collector said is, by what is known now and not when its last run ended.
 * `staleMs`: since the last good run, or since the network started.
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
