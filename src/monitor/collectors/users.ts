/** Collector of users: counts by kind and status, per-user gauges and open invitations. */
import { defineOperation } from "../capability/operation.ts";
import {
  userConnected,
  userDevices,
  userInvitesCount,
  userInvitesPendingAge,
  userLastSeen,
  usersAge,
  usersCount,
  usersMetrics,
} from "../catalogue/users.ts";
import type { User } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { defineSection } from "./section.ts";
import { forEachYielding } from "./yielding.ts";
import { Tally } from "./tally.ts";
import { secondsSince, unixSeconds } from "./units.ts";

const listUsers = defineOperation("listUsers");
const listInvites = defineOperation("user_invites");

const section = defineSection("users", {
  collects: "users",
  intervalSeconds: 300,
});

export const users = defineCollector({
  section,
  description: "Users by role, status and type, their activity, and open invitations.",
  needs: "users",
  scopes: [["users:read"]],
  operations: [listUsers, listInvites],
  subrequests: [
    { capability: "user_invites", needs: "userInvites", operation: listInvites, scopes: undefined },
  ],
  emits: usersMetrics,
  open: (deps) => async (tick) => {
    await collectUsers(deps, tick);
    if (deps.provider.supports("userInvites")) await collectInvites(deps, tick);
  },
});

async function collectUsers(
  { provider, options, scope }: CollectorDeps,
  tick: Tick,
): Promise<void> {
  const list = await tick.call(listUsers, () => provider.users(tick.signal));
  const tally = new Tally<{
    readonly "vpn.user.role": string;
    readonly "vpn.user.status": string;
    readonly "vpn.user.type": string;
  }>();
  await forEachYielding(list, tick.signal, (user) => {
    tally.add({
      "vpn.user.role": user.role,
      "vpn.user.status": user.status,
      "vpn.user.type": user.type,
    });
    if (user.createdMs !== undefined)
      scope.record(usersAge, secondsSince(user.createdMs, tick.nowMs), {});
    if (options.cardinality.perEntity.user) recordUser(tick, user);
  });
  for (const { values, count } of tally.entries()) tick.sweep.gauge(usersCount, count, values);
}

function recordUser(
  { sweep }: Tick,
  { id, login, deviceCount, connected, lastSeenMs }: User,
): void {
  const identity = { "user.id": id, "user.name": login };
  if (deviceCount !== undefined) sweep.gauge(userDevices, deviceCount, identity);
  if (connected !== undefined) sweep.gauge(userConnected, Number(connected), identity);
  if (lastSeenMs !== undefined) sweep.gauge(userLastSeen, unixSeconds(lastSeenMs), identity);
}

async function collectInvites({ provider, scope }: CollectorDeps, tick: Tick): Promise<void> {
  const invites = await tick.call(listInvites, () => provider.userInvites(tick.signal));
  const tally = new Tally<{
    readonly "vpn.user_invite.role": string;
    readonly "vpn.user_invite.delivery": string;
  }>();
  for (const { role, lastEmailSentMs } of invites) {
    tally.add({
      "vpn.user_invite.role": role,
      "vpn.user_invite.delivery": lastEmailSentMs === undefined ? "manual_link" : "emailed",
    });
    if (lastEmailSentMs !== undefined)
      scope.record(userInvitesPendingAge, secondsSince(lastEmailSentMs, tick.nowMs), {
        "vpn.user_invite.role": role,
      });
  }
  for (const { values, count } of tally.entries())
    tick.sweep.gauge(userInvitesCount, count, values);
}
