/**
 * Lets bulk writers give way: environments of a folder share the main thread and the disk, so one
 * that stores megabytes without a pause makes the small changes of the others wait. While others
 * store many small changes, it rests between its groups (docs/decisions/state-pace.md).
 */
import type { Clock } from "../base/clock.ts";

/** A group of changes up to this is small, one from the other on is bulk. */
const SMALL_BYTES = 64 * 2 ** 10;
const BULK_BYTES = 256 * 2 ** 10;
/**
 * Others are busy when they stored so many small groups within the window, and twice as many as the
 * bulk writer itself: one that stores a small change beside each large one, e.g. a mark of how far
 * it came, does not slow itself down.
 */
const WINDOW_MS = 100;
const BUSY_GROUPS = 8;
const BUSY_FACTOR = 2;
/** A rest is as many times as long as the group before it took, within bounds. */
const PAUSE_FACTOR = 2;
const MAX_PAUSE_MS = 100;

/** A group of changes that is on the disk. */
export interface StoredGroup {
  readonly bytes: number;
  /** From its begin to its flush. */
  readonly tookMs: number;
}

/** The pace of the environments that share a folder. */
export interface Pace {
  /**
   * Notes what an environment stored and gives how long it should rest before it stores more: 0
   * unless it hinders others.
   */
  restMs(name: string, group: StoredGroup): number;
}

/** Counts of one environment: of the window that runs and of the one before. */
interface Counts {
  window: number;
  small: number;
  smallBefore: number;
  bulk: number;
  bulkBefore: number;
}

/** A pace at which nothing was stored yet. */
export function createPace(clock: Clock): Pace {
  const counts = new Map<string, Counts>();
  const current = (name: string): Counts => {
    const window = Math.floor(clock.monotonic() / WINDOW_MS);
    const before = counts.get(name);
    if (before?.window === window) return before;
    const follows = before?.window === window - 1;
    const fresh = {
      window,
      small: 0,
      smallBefore: follows ? before.small : 0,
      bulk: 0,
      bulkBefore: follows ? before.bulk : 0,
    };
    counts.set(name, fresh);
    return fresh;
  };
  return {
    restMs(name, { bytes, tookMs }) {
      const own = current(name);
      if (bytes < SMALL_BYTES) own.small += 1;
      if (bytes < BULK_BYTES) return 0;
      own.bulk += 1;
      let small = 0;
      for (const other of counts.keys()) {
        if (other === name) continue;
        const theirs = current(other);
        small += Math.max(theirs.small, theirs.smallBefore);
      }
      const isBusy =
        small >= BUSY_GROUPS && small >= BUSY_FACTOR * Math.max(own.bulk, own.bulkBefore);
      return isBusy ? Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * tookMs) : 0;
    },
  };
}
