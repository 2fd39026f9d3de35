/** FIFO semaphore of thread slots with a bounded queue. */
import { StewardError } from "../base/errors.ts";

export interface SlotQueue {
  /**
   * Resolves with a slot; return it with `release`. Rejects with the signal's reason. With
   * `bounded`, throws `exhausted` when the queue is full.
   */
  acquire(signal: AbortSignal, bounded: boolean): Promise<void>;
  release(): void;
  /** Resolves when the queue is not full. Rejects with the signal's reason. */
  waitForCapacity(signal: AbortSignal): Promise<void>;
  readonly running: number;
  readonly queued: number;
  readonly limit: number;
}

/** A queued caller: called once, when it is its turn. */
type Turn = () => void;

/** A semaphore of `slots` slots with a queue of at most `limit`. */
export function createSlotQueue(slots: number, limit: number): SlotQueue {
  const line = new Set<Turn>();
  const waitingForCapacity = new Set<Turn>();
  let running = 0;

  function settle(): void {
    for (const turn of line) {
      if (running >= slots) break;
      line.delete(turn);
      running += 1;
      turn();
    }
    for (const turn of waitingForCapacity) {
      if (line.size >= limit) break;
      waitingForCapacity.delete(turn);
      turn();
    }
  }

  return {
    acquire(signal, bounded) {
      if (bounded && running >= slots && line.size >= limit) {
        return Promise.reject(
          new StewardError(
            "exhausted",
            `${limit} tasks wait for a worker thread already; try again later`,
            { retryAfterMs: 1_000 },
          ),
        );
      }
      const turn = waitIn(line, signal, settle);
      settle();
      return turn;
    },
    release() {
      running -= 1;
      settle();
    },
    waitForCapacity(signal) {
      const turn = waitIn(waitingForCapacity, signal, settle);
      settle();
      return turn;
    },
    get running() {
      return running;
    },
    get queued() {
      return line.size;
    },
    limit,
  };
}

function waitIn(line: Set<Turn>, signal: AbortSignal, left: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const turn = (): void => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = (): void => {
      line.delete(turn);
      reject(signal.reason as Error);
      left();
    };
    signal.addEventListener("abort", leave, { once: true });
    line.add(turn);
  });
}
