/**
 * Sends a batch again until the receiver takes it, rejects its contents, or the process stops: the
 * SDK's processors forget a batch whose export failed.
 *
 * Some receivers answer 500 to a record that they cannot store. A batch that is answered so again
 * and again is sent in halves, so that one such record does not block all others; it is lost once
 * it is refused alone while the receiver accepts others.
 */
import { delay, systemClock } from "../../../base/clock.ts";
import { maybeOfContents } from "./error-class.ts";
import type { BatchExporter } from "./owners.ts";

/** Of the wait after each failed attempt. */
export const RETRY_GROWTH = 1.5;
/** So that the first success comes soon after an outage of any length. */
const MAX_WAIT_MS = 5_000;
/** A receiver that asks for more is asked again after this time: meanwhile records wait. */
const MAX_RETRY_AFTER_MS = 300_000;
/** Answers that may be due to the contents, before a batch is halved or a record is lost. */
const MAX_REFUSALS = 10;

export interface PersistentOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Ends a wait. */
  readonly stopping: AbortSignal;
  /** Called with the number of items that are given up here. */
  readonly lost: (items: number) => void;
}

type Result = Parameters<Parameters<BatchExporter<never>["export"]>[1]>[0];
/** A failed attempt whose batch is still queued. */
export type AttemptResult = Result & {
  readonly again?: boolean;
  /** Of the `Retry-After` in the answer, if it has one. */
  readonly retryAfterMs?: number | undefined;
};

/** The enumeration is in a package that only the SDK depends on. */
const SUCCESS: Result["code"] = 0;

/** A batch, or a part of one. */
interface Part<T> {
  readonly items: T[];
  readonly isHalf: boolean;
  /** Of all items accepted since the start, those before this part was made. */
  readonly acceptedBefore: number;
  refusals: number;
}

/**
 * `inner` decides by the member `again` of its result. Each attempt passes all of a part, so that
 * its fence is checked again.
 */
export function persistentExporter<T>(
  inner: BatchExporter<T>,
  options: PersistentOptions,
): BatchExporter<T> {
  const persistent = new Persistent(inner, options);
  return {
    export: (items, done) => void persistent.send(items).then(done),
    forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => inner.shutdown(),
  };
}

class Persistent<T> {
  readonly #inner: BatchExporter<T>;
  readonly #options: PersistentOptions;
  /** Items of all batches, which may be under way at the same time. */
  #accepted = 0;

  constructor(inner: BatchExporter<T>, options: PersistentOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  async send(items: T[]): Promise<Result> {
    const { initialMs, maxMs, stopping } = this.#options;
    const longestMs = Math.min(maxMs, MAX_WAIT_MS);
    let waitMs = Math.min(initialMs, longestMs);
    let result: Result = { code: SUCCESS };
    let parts = [this.#part(items, false)];
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      // A stop leaves one attempt, for all of them.
      if (stopping.aborted && parts.length > 0) {
        part = this.#part(
          [part, ...parts].flatMap((each) => each.items),
          false,
        );
        parts = [];
      }
      const attempt = await this.#attempt(part.items);
      if (attempt.again === true) {
        const left = this.#after(part, attempt);
        parts.push(...left);
        if (left.length === 0) result = attempt;
        else {
          const pauseMs = Math.max(waitMs, Math.min(attempt.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
          await delay(systemClock, pauseMs, stopping).catch(() => undefined);
        }
        waitMs = Math.min(longestMs, waitMs * RETRY_GROWTH);
        continue;
      }
      waitMs = Math.min(initialMs, longestMs);
      if (attempt.code === SUCCESS) this.#accepted += part.items.length;
      else result = attempt;
    }
    return result;
  }

  #attempt(items: T[]): Promise<AttemptResult> {
    return new Promise((resolve) => this.#inner.export(items, resolve));
  }

  /** What is sent again of a part that was refused; nothing when its only item is lost. */
  #after(part: Part<T>, { error }: AttemptResult): readonly Part<T>[] {
    const { items, isHalf, acceptedBefore } = part;
    if (!maybeOfContents(error)) return [part];
    part.refusals += 1;
    if (items.length > 1) {
      if (!isHalf && part.refusals < MAX_REFUSALS) return [part];
      const middle = Math.ceil(items.length / 2);
      return [this.#part(items.slice(0, middle), true), this.#part(items.slice(middle), true)];
    }
    if (part.refusals < MAX_REFUSALS || this.#accepted === acceptedBefore) return [part];
    this.#options.lost(items.length);
    return [];
  }

  #part(items: T[], isHalf: boolean): Part<T> {
    return { items, isHalf, acceptedBefore: this.#accepted, refusals: 0 };
  }
}
