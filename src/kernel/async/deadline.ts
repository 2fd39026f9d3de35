/** Time limits of work that heeds a signal, combined with the signal of the caller. */
import type { Clock } from "../base/clock.ts";
import { orAborted } from "./wait.ts";

/** Fires its signal when the time is up or the parent fires. Must be disposed. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Stops the time until `resume`; the parent still counts. */
  pause(): void;
  resume(): void;
  /** Gives the whole limit again from here on. */
  restart(): void;
  /** Time counted so far, in milliseconds. */
  elapsedMs(): number;
}

/** A running deadline; `reason` gives the error when the time is up. */
export function createDeadline(
  clock: Clock,
  limitMs: number,
  parent: AbortSignal | undefined,
  reason: () => Error,
): Deadline {
  const controller = new AbortController();
  let countedMs = 0;
  let allowedMs = limitMs;
  let sinceMs: number | undefined;
  let timer: Disposable | undefined;
  const follow = (): void => controller.abort(parent?.reason);
  const elapsedMs = (): number =>
    countedMs + (sinceMs === undefined ? 0 : clock.monotonic() - sinceMs);

  function pause(): void {
    countedMs = elapsedMs();
    sinceMs = undefined;
    timer?.[Symbol.dispose]();
    timer = undefined;
  }

  function resume(): void {
    if (sinceMs !== undefined) return;
    sinceMs = clock.monotonic();
    timer = clock.timer(sinceMs + allowedMs - countedMs, () => controller.abort(reason()));
  }

  function restart(): void {
    pause();
    allowedMs = countedMs + limitMs;
    resume();
  }

  if (parent?.aborted === true) follow();
  else parent?.addEventListener("abort", follow, { once: true });
  resume();
  return {
    signal: controller.signal,
    pause,
    resume,
    restart,
    elapsedMs,
    [Symbol.dispose]() {
      pause();
      parent?.removeEventListener("abort", follow);
    },
  };
}

export interface DeadlineOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the work too, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /** The error when the time is up. */
  readonly reason: () => Error;
}

/**
 * The outcome of work under a signal that fires when the time is up or the caller's signal fires;
 * rejects with its reason at that moment. Work that ignores its signal is left behind.
 */
export async function withDeadline<T>(
  { clock, timeoutMs, signal, reason }: DeadlineOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using deadline = createDeadline(clock, timeoutMs, signal, reason);
  return await orAborted(work(deadline.signal), deadline.signal);
}
