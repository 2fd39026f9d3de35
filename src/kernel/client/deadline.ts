/** A time limit that can be paused, combined with the caller's signal. */
import type { Clock } from "../base/clock.ts";

/** Fires its signal when the time is up or the parent fires. Must be disposed. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Stops the time until `resume`; the parent still counts. */
  pause(): void;
  resume(): void;
  /** Time counted so far, in milliseconds. */
  elapsedMs(): number;
}

/** A running deadline; `reason` is called when the time is up. */
export function createDeadline(
  clock: Clock,
  limitMs: number,
  parent: AbortSignal,
  reason: () => Error,
): Deadline {
  const controller = new AbortController();
  let countedMs = 0;
  let sinceMs: number | undefined;
  let timer: Disposable | undefined;
  const follow = (): void => controller.abort(parent.reason);
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
    timer = clock.timer(sinceMs + limitMs - countedMs, () => controller.abort(reason()));
  }

  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow, { once: true });
  resume();
  return {
    signal: controller.signal,
    pause,
    resume,
    elapsedMs,
    [Symbol.dispose]() {
      pause();
      parent.removeEventListener("abort", follow);
    },
  };
}
