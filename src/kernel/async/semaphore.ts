/** Bounds how many hold something at once; further callers wait in the order of their calls. */

export interface Semaphore {
  /** Resolves with a slot; dispose it once to return it. Rejects with the signal's reason. */
  acquire(signal?: AbortSignal): Promise<Disposable>;
  /** A slot if one is free now. */
  tryAcquire(): Disposable | undefined;
  /** All slots are held and as many callers wait as `queue` allows. */
  readonly isFull: boolean;
  /** Resolves when fewer callers wait than `queue`. Rejects with the signal's reason. */
  waitForQueue(signal: AbortSignal): Promise<void>;
  readonly held: number;
  readonly waiting: number;
}

/**
 * A semaphore of `slots` slots. `acquire` waits however many wait already: who must not wait in a
 * line longer than `queue` looks at `isFull` first.
 */
export function createSemaphore(slots: number, queue = 0): Semaphore {
  const line = new Set<() => void>();
  const waitingForQueue = new Set<() => void>();
  let held = 0;

  function settle(): void {
    for (const next of line) {
      if (held >= slots) break;
      line.delete(next);
      held += 1;
      next();
    }
    for (const next of waitingForQueue) {
      if (line.size >= queue) break;
      waitingForQueue.delete(next);
      next();
    }
  }
  const slot = (): Disposable => {
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        held -= 1;
        settle();
      },
    };
  };
  return {
    async acquire(signal) {
      const turn = waitIn(line, signal, settle);
      settle();
      await turn;
      return slot();
    },
    tryAcquire() {
      if (held >= slots) return undefined;
      held += 1;
      return slot();
    },
    get isFull() {
      return held >= slots && line.size >= queue;
    },
    waitForQueue(signal) {
      const turn = waitIn(waitingForQueue, signal, settle);
      settle();
      return turn;
    },
    get held() {
      return held;
    },
    get waiting() {
      return line.size;
    },
  };
}

function waitIn(
  line: Set<() => void>,
  signal: AbortSignal | undefined,
  left: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const turn = (): void => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const leave = (): void => {
      line.delete(turn);
      reject(signal?.reason as Error);
      left();
    };
    signal?.addEventListener("abort", leave, { once: true });
    line.add(turn);
  });
}
