/**
 * Keeps unauthenticated clients from making the audit grow at will. Of failed requests without a
 * live token, the first ten per address and minute are recorded individually; the rest of the
 * minute becomes one record with their count and first and last time, written at its end and at
 * shutdown. Requests that need no credential have a limit per address and minute; beyond it they
 * are such failures. A crash loses the counts of one minute.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { isLoopback } from "../../../kernel/config/values/address.ts";
import type { AuditSummary } from "../types.ts";
import { networkOf } from "./networks.ts";

const WINDOW_MS = 60_000;
/** Individual records per address and window. */
const MAX_RECORDED = 10;
/** Requests per address and window that prove no credential: scrapers and clients send one a second. */
const MAX_SERVED = 600;
/**
 * For windows that many clients share: loopback, which is also an untrusted proxy's address, and
 * the window of all further addresses.
 */
const MAX_SERVED_SHARED = 6_000;
/** Addresses with their own window; the rest share one, whose record names no address. */
const MAX_ADDRESSES = 10_000;
const OTHERS = "";

/** Decides which failures are recorded individually, and which requests are too many. */
export interface Refusals {
  /**
   * Counts a request that needs no credential. Returns the error to respond with instead, including
   * the time to wait, once there were too many. Unknown addresses are not counted.
   */
  serve(address: string | undefined): StewardError | undefined;
  /** Reserves an individual record before the request is tried; false when none is left. */
  enter(address: string | undefined): boolean;
  /** Returns the reservation: the request did not fail. */
  leave(address: string | undefined): void;
  /** Counts a failure without an individual record. */
  add(address: string | undefined): void;
  /** Writes all summaries and stops the timer. Failures are logged. */
  close(): Promise<void>;
}

export interface RefusalsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly write: (summary: AuditSummary) => Promise<void>;
}

interface Window {
  readonly endsAtMs: number;
  served: number;
  recorded: number;
  count: number;
  firstMs: number;
  lastMs: number;
}

export function createRefusals({ clock, log, write }: RefusalsDeps): Refusals {
  /** Windows are equally long, so the first one ends first. */
  const windows = new Map<string, Window>();
  let timer: Disposable | undefined;
  let closed = false;

  function open(key: string, window: Window): Window {
    windows.set(key, window);
    arm();
    return window;
  }

  function arm(): void {
    const [first] = windows.values();
    if (timer !== undefined || first === undefined || closed) return;
    timer = clock.timer(first.endsAtMs, () => {
      timer = undefined;
      void end(clock.monotonic());
    });
  }

  /** Writes summaries of finished windows. One that cannot be written is carried over. */
  async function end(byMs: number): Promise<void> {
    const over = [...windows].filter(([, window]) => window.endsAtMs <= byMs);
    for (const [key] of over) windows.delete(key);
    arm();
    await Promise.all(
      over.map(async ([key, window]) => {
        const { count, firstMs, lastMs } = window;
        if (count === 0) return;
        try {
          await write({ address: key === OTHERS ? undefined : key, count, firstMs, lastMs });
        } catch (error) {
          if (closed)
            log.error("cannot write the summary of refused requests to the audit; it is lost", {
              address: key,
              count,
              error: toStewardError(error),
            });
          else carry(key, window);
        }
      }),
    );
  }

  function carry(key: string, before: Window): void {
    const present = windows.get(key);
    if (present === undefined)
      return void open(key, { ...before, served: 0, endsAtMs: clock.monotonic() + WINDOW_MS });
    present.lastMs = present.count === 0 ? before.lastMs : present.lastMs;
    present.count += before.count;
    present.firstMs = before.firstMs;
  }

  function keyOf(address: string | undefined): string {
    const network = networkOf(address) ?? OTHERS;
    return windows.has(network) || windows.size < MAX_ADDRESSES ? network : OTHERS;
  }

  function windowAt(key: string): Window {
    return (
      windows.get(key) ??
      open(key, {
        endsAtMs: clock.monotonic() + WINDOW_MS,
        served: 0,
        recorded: 0,
        count: 0,
        firstMs: 0,
        lastMs: 0,
      })
    );
  }

  return {
    serve(address) {
      const key = keyOf(address);
      if (networkOf(address) === undefined) return undefined;
      const window = windowAt(key);
      window.served += 1;
      const limit = key === OTHERS || isLoopback(key) ? MAX_SERVED_SHARED : MAX_SERVED;
      if (window.served <= limit) return undefined;
      if (window.served === limit + 1)
        log.warn("requests without a token exceed the limit; further ones are answered 429", {
          address: key,
          limit,
        });
      const retryAfterMs = Math.max(1, window.endsAtMs - clock.monotonic());
      return new StewardError(
        "exhausted",
        `more than ${limit} requests without a token in a minute; try again in ${Math.ceil(retryAfterMs / 1_000)} s, or send a token`,
        { rule: "open_requests", retryAfterMs },
      );
    },
    enter(address) {
      const window = windowAt(keyOf(address));
      if (window.recorded >= MAX_RECORDED) return false;
      window.recorded += 1;
      return true;
    },
    leave(address) {
      const key = keyOf(address);
      const window = windows.get(key);
      if (window === undefined || window.recorded === 0) return;
      window.recorded -= 1;
      if (window.recorded + window.count + window.served === 0) windows.delete(key);
    },
    add(address) {
      const window = windowAt(keyOf(address));
      const nowMs = clock.now();
      if (window.count === 0) window.firstMs = nowMs;
      window.count += 1;
      window.lastMs = nowMs;
    },
    async close() {
      closed = true;
      timer?.[Symbol.dispose]();
      timer = undefined;
      await end(Number.POSITIVE_INFINITY);
    },
  };
}
