/** An event of the audit as a log record. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import { configAuditRecord } from "../catalogue/records.ts";
import { joinTags } from "../flows/identity.ts";
import type { AuditEvent } from "./record.ts";

/** What happened, without who and which: `UPDATE on TAILNET.ACL via ADMIN_CONSOLE`. */
export function summaryOf({
  action,
  target,
  origin,
}: Pick<AuditEvent, "action" | "target" | "origin">): string {
  const what = [target.type, target.property].filter((text) => text !== "").join(".");
  return `${action}${what === "" ? "" : ` on ${what}`}${origin === "" ? "" : ` via ${origin}`}`;
}

/**
 * The summary with which and who, and why it failed, in the very texts of the attributes, so that
 * what privacy hides there is found here.
 */
function bodyOf(event: AuditEvent): string {
  const { actor, target, error } = event;
  const which = target.name || target.id;
  const who = actor.login || actor.displayName || actor.id;
  return `${summaryOf(event)}${which === "" ? "" : ` of ${which}`}${who === "" ? "" : ` by ${who}`}${error === "" ? "" : `, which failed: ${error}`}`;
}

/** Writes the record; one that carries an error is a warning. */
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
