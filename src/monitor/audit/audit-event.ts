/** Converts an audit event to an event of the explorer. */
import type { EventRecord } from "../events/types.ts";
import { summaryOf } from "./audit-log.ts";
import type { AuditEvent } from "./record.ts";

export function explorerEvent(
  event: AuditEvent,
  { network, nowMs }: { readonly network: string; readonly nowMs: number },
): EventRecord {
  const { actor, target } = event;
  return {
    timeMs: (event.time ?? event.logged)?.ms ?? nowMs,
    source: "audit",
    network,
    action: event.action,
    type: event.type,
    origin: event.origin,
    actor: { id: actor.id, name: actor.login || actor.displayName, type: actor.type },
    target: { id: target.id, name: target.name, type: target.type, property: target.property },
    severity: event.error === "" ? "info" : "warn",
    error: event.error,
    summary: summaryOf(event),
    details: detailsOf(event),
  };
}

/** Both values as far as they are given, else what the event says in words. */
function detailsOf({ old, new: now, details }: AuditEvent): string {
  const values = [
    ...(old === undefined ? [] : [`old: ${old}`]),
    ...(now === undefined ? [] : [`new: ${now}`]),
  ];
  return values.length === 0 ? details : values.join("\n");
}
