/**
 * Request slots of one share: a fixed number of concurrent requests, a limit per address, and a
 * short bounded queue. A request that waits for its own client loses its slot to one that has
 * waited the whole admission time.
 */
import type { Clock } from "../../base/clock.ts";

/** A request that holds a slot. */
export interface HeldRequest {
  /** The key of the per-address limit; undefined where many clients share the address. */
  readonly address: string | undefined;
  /** Whether the rest of its body is missing, or its response waits to be read. */
  waitsForClient(): boolean;
  /** Ends the request: its slot was given to another one. */
  evict(): void;
}

export interface RequestSlots {
  /** Whether the holder got a slot: at once, or within the admission time. `leave` returns it. */
  enter(holder: HeldRequest): Promise<boolean>;
  /** A no-op for a holder without a slot. */
  leave(holder: HeldRequest): void;
  inUse(): number;
}

export interface RequestSlotsOptions {
  readonly slots: number;
  readonly perAddress: number;
  readonly waitMs: number;
  /**
   * Which slot a request takes when none is free: that of the oldest holder that waits for its
   * client, after `waitMs`; that of the oldest holder, at once; or none.
   */
  readonly evicts: "slowest" | "oldest" | "nobody";
}

interface Waiter {
  readonly holder: HeldRequest;
  readonly settle: (admitted: boolean) => void;
}

/** All slots are free. */
export function createRequestSlots(options: RequestSlotsOptions, clock: Clock): RequestSlots {
  const { slots, perAddress, waitMs, evicts } = options;
  /** In the order of admission. */
  const holders = new Set<HeldRequest>();
  const waiting = new Set<Waiter>();
  const counts = createCounts();

  const hasSlot = ({ address }: HeldRequest): boolean =>
    holders.size < slots && counts.of(address) < perAddress;
  const admit = (holder: HeldRequest): void => {
    holders.add(holder);
    counts.add(holder.address, 1);
  };
  const remove = (holder: HeldRequest): boolean => {
    if (!holders.delete(holder)) return false;
    counts.add(holder.address, -1);
    return true;
  };
  /** Whether evicting one holder makes a slot available for this one. */
  const evictFor = (newcomer: HeldRequest): boolean => {
    const ownAddressIsFull = counts.of(newcomer.address) >= perAddress;
    for (const holder of holders) {
      if (ownAddressIsFull && holder.address !== newcomer.address) continue;
      if (evicts === "slowest" && !holder.waitsForClient()) continue;
      remove(holder);
      holder.evict();
      return true;
    }
    return false;
  };
  const wait = (holder: HeldRequest): Promise<boolean> =>
    new Promise((resolve) => {
      const settle = (admitted: boolean): void => {
        timer[Symbol.dispose]();
        waiting.delete(waiter);
        if (admitted) admit(holder);
        resolve(admitted);
      };
      const waiter = { holder, settle };
      const timer = clock.timer(clock.monotonic() + waitMs, () =>
        settle(evicts !== "nobody" && evictFor(holder)),
      );
      waiting.add(waiter);
    });
  return {
    enter(holder) {
      if (hasSlot(holder) || (evicts === "oldest" && evictFor(holder))) {
        admit(holder);
        return Promise.resolve(true);
      }
      return waiting.size < slots ? wait(holder) : Promise.resolve(false);
    },
    leave(holder) {
      if (!remove(holder)) return;
      for (const waiter of waiting) if (hasSlot(waiter.holder)) return waiter.settle(true);
    },
    inUse: () => holders.size,
  };
}

/** Counters per address; undefined is not counted. */
export interface Counts {
  of(address: string | undefined): number;
  add(address: string | undefined, by: 1 | -1): void;
}

/** Keeps no entry for a count of 0. */
export function createCounts(): Counts {
  const counts = new Map<string, number>();
  const of = (address: string | undefined): number =>
    address === undefined ? 0 : (counts.get(address) ?? 0);
  return {
    of,
    add(address, by) {
      if (address === undefined) return;
      const count = of(address) + by;
      if (count <= 0) counts.delete(address);
      else counts.set(address, count);
    },
  };
}
