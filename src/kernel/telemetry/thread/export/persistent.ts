/**
 * Sends a batch again until the receiver takes it, rejects its contents, or the process stops: the
 * SDK's processors forget a batch whose export failed.
 */
import { delay, systemClock } from "../../../base/clock.ts";
import type { BatchExporter } from "./owners.ts";

/** Of the wait after each failed attempt. */
export const RETRY_GROWTH = 1.5;
/** So that the first success comes soon after an outage of any length. */
const MAX_WAIT_MS = 5_000;

export interface PersistentOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Ends a wait. */
  readonly stopping: AbortSignal;
}

type Result = Parameters<Parameters<BatchExporter<never>["export"]>[1]>[0];
/** A failed attempt whose batch is still queued. */
export type AttemptResult = Result & { readonly again?: boolean };

/**
 * `inner` decides by the member `again` of its result. Each attempt passes all of it, so that its
 * fence is checked again.
 */
export function persistentExporter<T>(
  inner: BatchExporter<T>,
  { initialMs, maxMs, stopping }: PersistentOptions,
): BatchExporter<T> {
  const longestMs = Math.min(maxMs, MAX_WAIT_MS);
  const send = async (items: T[]): Promise<Result> => {
    for (let waitMs = Math.min(initialMs, longestMs); ;) {
      const result = await new Promise<AttemptResult>((resolve) => inner.export(items, resolve));
      if (result.again !== true) return result;
      await delay(systemClock, waitMs, stopping).catch(() => undefined);
      waitMs = Math.min(longestMs, waitMs * RETRY_GROWTH);
    }
  };
  return {
    export: (items, done) => void send(items).then(done),
    forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => inner.shutdown(),
  };
}
