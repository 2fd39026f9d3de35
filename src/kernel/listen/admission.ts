/** A fixed number of places for requests, and a short bounded queue of those that wait for one. */
import type { Clock } from "../base/clock.ts";

/** Hands out places. */
export interface Admission {
  /** Whether the caller got a place: at once, or within the admission time. A place is given back by `leave`. */
  enter(): Promise<boolean>;
  leave(): void;
  inFlight(): number;
}

/** `places` requests at once; as many again may wait `waitMs`, first come first served. */
export function createAdmission(options: { places: number; waitMs: number }, clock: Clock): Admission {
  const waiting = new Set<(admitted: boolean) => void>();
  let taken = 0;
  const wait = (): Promise<boolean> => new Promise((resolve) => {
    const settle = (admitted: boolean): void => {
      timer[Symbol.dispose]();
      waiting.delete(settle);
      resolve(admitted);
    };
    const timer = clock.timer(clock.monotonic() + options.waitMs, () => settle(false));
    waiting.add(settle);
  });
  return {
    enter() {
      if (taken < options.places) {
        taken += 1;
        return Promise.resolve(true);
      }
      return waiting.size < options.places ? wait() : Promise.resolve(false);
    },
    leave() {
      const [next] = waiting;
      if (next === undefined) taken -= 1;
      else next(true);
    },
    inFlight: () => taken,
  };
}
