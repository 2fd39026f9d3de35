/** Repeating timer. */
import type { Clock } from "../../../kernel/base/clock.ts";

export interface Repeating {
  /** Runs at once, then repeats. */
  start(): void;
  stop(): void;
}

/** `run` must not throw; `everyMs` is evaluated after each run. */
export function every(clock: Clock, everyMs: () => number, run: () => void): Repeating {
  let timer: Disposable | undefined;
  const turn = (): void => {
    run();
    timer = clock.timer(clock.monotonic() + everyMs(), turn);
  };
  return {
    start() {
      if (timer === undefined) turn();
    },
    stop() {
      timer?.[Symbol.dispose]();
      timer = undefined;
    },
  };
}
