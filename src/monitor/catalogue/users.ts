/** Metrics of the monitor: users and invites (facts, metric catalogue). */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow, Row } from "../../kernel/telemetry/types.ts";
import { ageSeconds } from "./bounds.ts";

/** 1 when the user is connected now. */
export const userConnected: Row<"user.id" | "user.name", "gauge"> = defineMetric({ name: "vpn.user.connected", kind: "gauge", unit: "1", attributes: ["user.id", "user.name"], group: "Users", help: "1 when the user is connected now.", when: "cardinality.per_entity.user; not headscale" });
/** Devices owned by the user. */
export const userDevices: Row<"user.id" | "user.name", "gauge"> = defineMetric({ name: "vpn.user.devices", kind: "gauge", unit: "1", attributes: ["user.id", "user.name"], group: "Users", help: "Devices owned by the user.", when: "cardinality.per_entity.user; not headscale" });
/** Last time the user was seen; skipped when empty. */
export const userLastSeen: Row<"user.id" | "user.name", "gauge"> = defineMetric({ name: "vpn.user.last_seen", kind: "gauge", unit: "s", attributes: ["user.id", "user.name"], group: "Users", help: "Last time the user was seen; skipped when empty.", when: "cardinality.per_entity.user" });
/** Open user invites by role and delivery (emailed, manual_link). */
export const userInvitesCount: Row<"vpn.user_invite.role" | "vpn.user_invite.delivery", "gauge"> = defineMetric({ name: "vpn.user_invites.count", kind: "gauge", unit: "1", attributes: ["vpn.user_invite.role", "vpn.user_invite.delivery"], group: "Users", help: "Open user invites by role and delivery (emailed, manual_link)." });
/** Seconds since the invite mail was last sent; mailed invites only. */
export const userInvitesPendingAge: Row<"vpn.user_invite.role", "histogram"> = defineMetric({ name: "vpn.user_invites.pending_age", kind: "histogram", unit: "s", attributes: ["vpn.user_invite.role"], bounds: ageSeconds, group: "Users", help: "Seconds since the invite mail was last sent; mailed invites only." });
/** Age of user accounts; empty creation skipped. */
export const usersAge: Row<never, "histogram"> = defineMetric({ name: "vpn.users.age", kind: "histogram", unit: "s", bounds: ageSeconds, group: "Users", help: "Age of user accounts; empty creation skipped." });
/** Users by role, status and type. */
export const usersCount: Row<"vpn.user.role" | "vpn.user.status" | "vpn.user.type", "gauge"> = defineMetric({ name: "vpn.users.count", kind: "gauge", unit: "1", attributes: ["vpn.user.role", "vpn.user.status", "vpn.user.type"], group: "Users", help: "Users by role, status and type." });

/** All rows of this file. */
export const usersMetrics: readonly AnyRow[] = catalogue([
  userConnected, userDevices, userLastSeen, userInvitesCount, userInvitesPendingAge, usersAge, usersCount,
]);
