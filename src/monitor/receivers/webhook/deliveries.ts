/** Remembers the events that were delivered: the control plane repeats a delivery for a day. */
import type { Clock } from "../../../kernel/base/clock.ts";

const CAPACITY = 65_536;
const TTL_MS = 25 * 3_600_000;

export interface Deliveries {
  /** True for the first delivery of an event in 25 h, among the last 65,536 events. */
  isNew(digest: string): boolean;
}

export function createDeliveries(clock: Pick<Clock, "monotonic">): Deliveries {
  /** Oldest first. */
  const expiries = new Map<string, number>();
  return {
    isNew(digest) {
      const nowMs = clock.monotonic();
      if ((expiries.get(digest) ?? -1) > nowMs) return false;
      expiries.delete(digest);
      if (expiries.size === CAPACITY)
        for (const oldest of expiries.keys()) {
          expiries.delete(oldest);
          break;
        }
      expiries.set(digest, nowMs + TTL_MS);
      return true;
    },
  };
}
