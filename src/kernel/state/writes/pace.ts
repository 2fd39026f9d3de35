/**
 * Throttles bulk writers: the environments of a folder share the main thread and the disk, so one
 * that stores megabytes without a pause delays the small changes of the others. While others store
 * many small changes, it pauses between its groups (docs/decisions/state-pace.md).
 */
import type { Clock } from "../../base/clock.ts";

/** A group below this size is small, otherwise bulk. */
const SMALL_BYTES = 64 * 2 ** 10;
const BULK_BYTES = 256 * 2 ** 10;
/**
 * Others are busy when within the window they stored this many small groups, and twice as many as
 * the bulk writer itself, so that a writer that stores a small change (a checkpoint) beside each
 * large one does not slow itself down.
 */
const WINDOW_MS = 100;
const BUSY_GROUPS = 8;
const BUSY_FACTOR = 2;
/** A pause lasts this many times as long as the group before it, within bounds. */
const PAUSE_FACTOR = 2;
const MAX_PAUSE_MS = 100;

/** A durable group of changes. */
export interface StoredGroup {
  readonly bytes: number;
  /** From its start to its flush. */
  readonly tookMs: number;
}

/** Shared by the environments of a folder. */
export interface Pace {
  /**
   * Records what an environment stored and returns how long it should pause: 0 unless it hinders
   * others.
   */
  restMs(name: string, group: StoredGroup): number;
}

/** Counts of one environment in the current window and the previous one. */
interface Counts {
  window: number;
  small: number;
  smallBefore: number;
  bulk: number;
  bulkBefore: number;
}

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
