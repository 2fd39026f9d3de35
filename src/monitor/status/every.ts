/** Does something small again and again while it is wanted. */
import type { Clock } from "../../kernel/base/clock.ts";

/** What repeats. */
export interface Repeating {
  /** The first time at once. */
  start(): void;
  stop(): void;
}

/** `run` must not throw; `everyMs` is asked after each time. */
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
