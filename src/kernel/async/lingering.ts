/** A signal for a step that must not be cut in the middle without need. */
import type { Clock } from "../base/clock.ts";

/** Must be disposed when the step is over. */
export interface Lingering extends Disposable {
  readonly signal: AbortSignal;
}

/** Fires `graceMs` after `signal`, with its reason. */
export function createLingering(
  clock: Pick<Clock, "monotonic" | "timer">,
  signal: AbortSignal,
  graceMs: number,
): Lingering {
  const controller = new AbortController();
  let timer: Disposable | undefined;
  const wait = (): void => {
    timer = clock.timer(clock.monotonic() + graceMs, () => controller.abort(signal.reason));
  };
  if (signal.aborted) wait();
  else signal.addEventListener("abort", wait, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      signal.removeEventListener("abort", wait);
      timer?.[Symbol.dispose]();
    },
  };
}
