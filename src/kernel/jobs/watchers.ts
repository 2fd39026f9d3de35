/** Waits for changes of jobs. A watcher that does not read holds one flag and nothing else. */
import type { Clock } from "../base/clock.ts";

/** Wakes watchers by job id. */
export interface Watchers {
  wake(id: string): void;
  wakeAll(): void;
  /** Records changes of a job until disposed. */
  join(id: string): Watcher;
}

interface Watcher extends Disposable {
  /** Resolves at a change since the last call, after `ms` without one, or when the signal fires. */
  next(ms: number, signal: AbortSignal): Promise<void>;
}

export function createWatchers(clock: Clock): Watchers {
  const joined = new Map<string, Set<() => void>>();
  return {
    wake: (id) => joined.get(id)?.forEach((wake) => wake()),
    wakeAll: () => joined.forEach((set) => set.forEach((wake) => wake())),
    join(id) {
      let changed = false;
      let resume: (() => void) | undefined;
      const wake = (): void => {
        changed = true;
        resume?.();
      };
      const set = joined.get(id) ?? new Set();
      joined.set(id, set.add(wake));
      return {
        next: (ms, signal) =>
          new Promise((resolve) => {
            const finish = (): void => {
              timer[Symbol.dispose]();
              signal.removeEventListener("abort", finish);
              resume = undefined;
              changed = false;
              resolve();
            };
            const timer = clock.timer(clock.monotonic() + ms, finish);
            signal.addEventListener("abort", finish, { once: true });
            resume = finish;
            if (changed || signal.aborted) finish();
          }),
        [Symbol.dispose]() {
          set.delete(wake);
          if (set.size === 0) joined.delete(id);
        },
      };
    },
  };
}
