/** Whether an event of the audit was counted before. */
import type { DedupSetStatus, IngestSource } from "../flows/types.ts";
import { SeenKeys } from "../ingest/seen-keys.ts";
import type { AuditEvent } from "./record.ts";

/** Events remembered, at the edges of polled windows and over all ways in. */
const AUDIT_SET_CAPACITY = 4_096;

/** The sets of one network. */
export class AuditDedup {
  readonly #boundary = new SeenKeys(AUDIT_SET_CAPACITY);
  readonly #seen = new SeenKeys(AUDIT_SET_CAPACITY);

  /** True for the first sighting only. */
  isNew(event: AuditEvent, source: IngestSource): boolean {
    // What a polled window reads again at its edge is no duplicate of anybody: it is left out
    // before the hits are counted.
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
 * With the exact time: two readings of one event by the same way. JSON, for the parts are free
 * text.
 */
function boundaryKey({ groupId, time, action, target }: AuditEvent): string {
  return JSON.stringify(
    groupId === ""
      ? [time?.key, action, target.id]
      : [groupId, time?.key, action, target.id, target.property],
  );
}

/**
 * Without the time where a group tells events apart: a streamed event has its time in milliseconds,
 * a polled one in nanoseconds.
 */
export function auditKey({ groupId, time, action, target }: AuditEvent): string {
  return JSON.stringify(
    groupId === "" ? [time?.key, action, target.id] : [groupId, action, target.id, target.property],
  );
}
