/** Deduplicates audit events. */
import { hash } from "node:crypto";
import type { AuditBatch, DedupSetStatus } from "../flows/types.ts";
import { SeenKeys } from "../ingest/seen-keys.ts";
import type { AuditEvent } from "./record.ts";

/** Events remembered, for window edges and across sources. */
const AUDIT_SET_CAPACITY = 4_096;

export class AuditDedup {
  readonly #boundary = new SeenKeys(AUDIT_SET_CAPACITY);
  readonly #seen = new SeenKeys(AUDIT_SET_CAPACITY);

  /** True for the first sighting only. */
  isNew(event: AuditEvent, { source, unfinished }: Omit<AuditBatch, "records">): boolean {
    // Re-reading a polled window or its edge is expected, so it does not count as a duplicate.
    if (source === "poll" && !this.#isFirstPoll(boundaryKey(event), unfinished)) return false;
    if (admit(this.#seen, auditKey(event))) return true;
    this.#seen.hit();
    return false;
  }

  status(): DedupSetStatus {
    return {
      name: "audit",
      size: this.#seen.size,
      capacity: this.#seen.capacity,
      ...this.#seen.counts,
    };
  }

  #isFirstPoll(key: string, unfinished: AuditBatch["unfinished"]): boolean {
    if (!admit(this.#boundary, key)) return false;
    if (unfinished === undefined) return true;
    const digest = hash("sha256", key, "hex");
    if (unfinished.take(digest)) return false;
    unfinished.add(digest);
    return true;
  }
}

function admit(keys: SeenKeys, key: string): boolean {
  if (keys.find(key) !== undefined) return false;
  keys.add(key);
  return true;
}

/**
 * Includes the exact time: matches two reads of one event from the same source. Encoded as JSON,
 * since the parts are free text.
 */
function boundaryKey({ groupId, time, action, target }: AuditEvent): string {
  return JSON.stringify(
    groupId === ""
      ? [time?.key, action, target.id]
      : [groupId, time?.key, action, target.id, target.property],
  );
}

/**
 * Leaves out the time where a group id identifies the event: streamed events have milliseconds,
 * polled ones nanoseconds.
 */
export function auditKey({ groupId, time, action, target }: AuditEvent): string {
  return JSON.stringify(
    groupId === "" ? [time?.key, action, target.id] : [groupId, action, target.id, target.property],
  );
}
