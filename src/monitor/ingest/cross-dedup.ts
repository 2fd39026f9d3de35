/**
 * Recognises the audit event and the webhook event of one change, so that the second to come does
 * not count.
 */
import type { DedupSetStatus } from "../flows/types.ts";
import { SeenKeys } from "./seen-keys.ts";

/** Of each source. */
const CAPACITY = 2_048;
const SECOND_MS = 1_000;

/** What both events say of a change; without all of it they are never equal. */
export interface ChangeFacts {
  /** E.g. `create`. */
  readonly verb: string;
  /** E.g. `node`. */
  readonly subject: string;
  readonly id: string;
  readonly timeMs: number | undefined;
}

export class CrossDedup {
  readonly #audit = new SeenKeys(CAPACITY);
  readonly #webhook = new SeenKeys(CAPACITY);

  /** False when the other source reported the change before. */
  isNew(source: "audit" | "webhook", { verb, subject, id, timeMs }: ChangeFacts): boolean {
    if (verb === "" || subject === "" || id === "" || timeMs === undefined) return true;
    const key = JSON.stringify([verb, subject, id, Math.floor(timeMs / SECOND_MS)]);
    const [own, other] =
      source === "audit" ? [this.#audit, this.#webhook] : [this.#webhook, this.#audit];
    if (other.find(key) !== undefined) {
      other.hit();
      return false;
    }
    if (own.find(key) === undefined) own.add(key);
    return true;
  }

  status(): DedupSetStatus {
    return {
      name: "webhook_cross",
      size: this.#audit.size + this.#webhook.size,
      capacity: this.#audit.capacity + this.#webhook.capacity,
      hits: this.#audit.counts.hits + this.#webhook.counts.hits,
      evictions: this.#audit.counts.evictions + this.#webhook.counts.evictions,
    };
  }
}
