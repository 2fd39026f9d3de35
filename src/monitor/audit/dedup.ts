/** Deduplicates audit events. */
import type { DedupSetStatus, IngestSource } from "../flows/types.ts";
import { SeenKeys } from "../ingest/seen-keys.ts";
import type { AuditEvent } from "./record.ts";

/** Events remembered, for window edges and across sources. */
const AUDIT_SET_CAPACITY = 4_096;

export class AuditDedup {
  readonly #boundary = new SeenKeys(AUDIT_SET_CAPACITY);
  readonly #seen = new SeenKeys(AUDIT_SET_CAPACITY);

  /** True for the first sighting only. */
  isNew(event: AuditEvent, source: IngestSource): boolean {
    // Re-reading the edge of a polled window is expected, so it does not count as a duplicate.
    if (source === "poll" && !admit(this.#boundary, boundaryKey(event))) return false;
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
