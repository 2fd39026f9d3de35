/**
 * Listeners that the host announces on the broker's stream. An announcement may come before or
 * after the call that names it.
 */
import { late, waitFor } from "../../kernel/async/wait.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";

/** As long as go-plugin waits on its side. */
const ANNOUNCED_WITHIN_MS = 5_000;

/** Announcements not used yet; a host makes one for each mount that it sets up. */
const MAX_UNUSED = 1_024;

/** Calls that wait for an announcement. */
const MAX_WAITING = 1_024;

/** A listener of the host. */
export interface ListenerAddress {
  /** `unix` or `tcp`. */
  readonly network: string;
  readonly address: string;
}

export interface Broker {
  /** Each announcement is for one `find`. The oldest unused one is dropped at the limit. */
  announce(id: number, listener: ListenerAddress): void;
  /**
   * Waits up to 5 s. Throws `deadline` when nothing is announced, `conflict` when another call
   * waits for it, `exhausted` at the limit of waiting calls.
   */
  find(id: number): Promise<ListenerAddress>;
}

export function createBroker(clock: Clock): Broker {
  const unused = new Map<number, ListenerAddress>();
  const waiting = new Map<number, (listener: ListenerAddress) => void>();
  return {
    announce(id, listener) {
      const waiter = waiting.get(id);
      if (waiter !== undefined) return waiter(listener);
      unused.delete(id);
      if (unused.size >= MAX_UNUSED)
        for (const oldest of unused.keys()) {
          unused.delete(oldest);
          break;
        }
      unused.set(id, listener);
    },
    async find(id) {
      const early = unused.get(id);
      if (early !== undefined) {
        unused.delete(id);
        return early;
      }
      if (waiting.has(id))
        throw new StewardError("conflict", `two calls name the host's listener ${id}`, {
          rule: "broker",
        });
      if (waiting.size >= MAX_WAITING)
        throw new StewardError("exhausted", `${MAX_WAITING} calls wait for listeners of the host`, {
          rule: "broker",
        });
      const { promise, resolve } = Promise.withResolvers<ListenerAddress>();
      waiting.set(id, resolve);
      try {
        const found = await waitFor(promise, { clock, timeoutMs: ANNOUNCED_WITHIN_MS });
        if (found !== late) return found;
      } finally {
        waiting.delete(id);
      }
      throw new StewardError(
        "deadline",
        `the host did not announce its listener ${id} within ${ANNOUNCED_WITHIN_MS / 1_000} s`,
        { rule: "broker" },
      );
    },
  };
}
