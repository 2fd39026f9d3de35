/** Metrics of the monitor: users and invites. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";
import { ageSeconds } from "./bounds.ts";

export const userConnected = defineMetric({
  name: "vpn.user.connected",
  kind: "gauge",
  unit: "1",
  attributes: ["user.id", "user.name"],
  group: "Users",
  help: "1 when the user is connected now.",
  when: "cardinality.per_entity.user; not headscale",
});
export const userDevices = defineMetric({
  name: "vpn.user.devices",
  kind: "gauge",
  unit: "1",
  attributes: ["user.id", "user.name"],
  group: "Users",
  help: "Devices owned by the user.",
  when: "cardinality.per_entity.user; not headscale",
});
export const userLastSeen = defineMetric({
  name: "vpn.user.last_seen",
  kind: "gauge",
  unit: "s",
  attributes: ["user.id", "user.name"],
  group: "Users",
  help: "Last time the user was seen; skipped when empty.",
  when: "cardinality.per_entity.user",
});
export const userInvitesCount = defineMetric({
  name: "vpn.user_invites.count",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.user_invite.role", "vpn.user_invite.delivery"],
  group: "Users",
  help: "Open user invites by role and delivery (emailed, manual_link).",
});
export const userInvitesPendingAge = defineMetric({
  name: "vpn.user_invites.pending_age",
  kind: "histogram",
  unit: "s",
  attributes: ["vpn.user_invite.role"],
  bounds: ageSeconds,
  group: "Users",
  help: "Seconds since the invite mail was last sent; mailed invites only.",
});
export const usersAge = defineMetric({
  name: "vpn.users.age",
  kind: "histogram",
  unit: "s",
  bounds: ageSeconds,
  group: "Users",
  help: "Age of user accounts; empty creation skipped.",
});
export const usersCount = defineMetric({
  name: "vpn.users.count",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.user.role", "vpn.user.status", "vpn.user.type"],
  group: "Users",
  help: "Users by role, status and type.",
});

export const usersMetrics: readonly AnyRow[] = catalogue([
  userConnected,
  userDevices,
  userLastSeen,
  userInvitesCount,
  userInvitesPendingAge,
  usersAge,
  usersCount,
]);
