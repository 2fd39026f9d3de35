/** Writes an audit event as a log record. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import { configAuditRecord } from "../catalogue/records.ts";
import { joinTags } from "../flows/identity.ts";
import type { AuditEvent } from "./record.ts";

/** The event without actor and target names: `UPDATE on TAILNET.ACL via ADMIN_CONSOLE`. */
export function summaryOf({
  action,
  target,
  origin,
}: Pick<AuditEvent, "action" | "target" | "origin">): string {
  const what = [target.type, target.property].filter((text) => text !== "").join(".");
  return `${action}${what === "" ? "" : ` on ${what}`}${origin === "" ? "" : ` via ${origin}`}`;
}

/**
 * The body repeats attribute values verbatim, so that the privacy filter finds and masks them
 * there.
 */
function bodyOf(event: AuditEvent): string {
  const { actor, target, error } = event;
  const which = target.name || target.id;
  const who = actor.login || actor.displayName || actor.id;
  return `${summaryOf(event)}${which === "" ? "" : ` of ${which}`}${who === "" ? "" : ` by ${who}`}${error === "" ? "" : `, which failed: ${error}`}`;
}

/** A record that carries an error has severity warning. */
export function logAuditEvent(scope: Pick<Scope, "log">, event: AuditEvent): void {
  const { actor, target } = event;
  const timeMs = (event.time ?? event.logged)?.ms;
  scope.log(
    configAuditRecord,
    bodyOf(event),
    {
      "vpn.audit.action": event.action,
      "vpn.audit.origin": event.origin,
      "vpn.audit.event_group_id": event.groupId,
      "user.id": actor.id,
      "user.name": actor.login,
      "user.full_name": actor.displayName,
      "vpn.actor.type": actor.type,
      "vpn.target.id": target.id,
      "vpn.target.name": target.name,
      "vpn.target.type": target.type,
      "vpn.target.property": target.property,
      "vpn.audit.old": event.old,
      "vpn.audit.new": event.new,
      "vpn.audit.details": event.details || undefined,
      "error.message": event.error || undefined,
      "vpn.audit.type": event.type || undefined,
      "vpn.actor.tags": joinTags(actor.tags) || undefined,
      "vpn.target.ephemeral": target.ephemeral,
      "vpn.audit.deferred_at": event.deferred?.text,
    },
    {
      severity: event.error === "" ? "info" : "warn",
      ...(timeMs === undefined ? {} : { timeMs }),
      ...(event.logged === undefined ? {} : { observedMs: event.logged.ms }),
    },
  );
}
