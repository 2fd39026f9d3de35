/**
 * Device share invitations, counted by permissions and delivery. Invitation links are never read.
 */
import { deviceInvitesCount, deviceInvitesPendingAge } from "../../catalogue/devices.ts";
import { deviceInviteRecord } from "../../catalogue/records.ts";
import type { Device, DeviceInvite } from "../../providers/model.ts";
import type { CollectorDeps, Tick } from "../collector.ts";
import { listDeviceInvites } from "./section.ts";
import { Tally } from "../tally.ts";
import { known, secondsSince } from "../units.ts";
import { forEachYielding } from "../yielding.ts";
import { CallRounds } from "./call-rounds.ts";

/** Delivery of an invitation. */
function deliveryOf({
  email,
  lastEmailSentMs,
  createdMs,
}: DeviceInvite): "emailed" | "manual_link" | "unknown" {
  if (email !== "" || lastEmailSentMs !== undefined) return "emailed";
  return createdMs === undefined ? "unknown" : "manual_link";
}

type Invites = (tick: Tick, devices: readonly Device[]) => Promise<void>;

/** Fetches invitations per device. Keeps the last ones of each. */
export function createInvites(deps: CollectorDeps, shareMs: number): Invites {
  const rounds = new CallRounds<readonly DeviceInvite[]>({ ...deps, shareMs });
  return async (tick, devices) => {
    await rounds.call(tick, devices, {
      operation: listDeviceInvites,
      call: ({ id }) => deps.provider.deviceInvites(id, tick.signal),
      learn: (device, invites) => logInvites(deps, tick, device, invites),
    });
    const tally = new Tally<ReturnType<typeof kindOf>>();
    await forEachYielding(devices, tick.signal, (device) => {
      for (const invite of rounds.answerOf(device) ?? []) tally.add(kindOf(invite));
    });
    for (const { values, count } of tally.entries())
      tick.sweep.gauge(deviceInvitesCount, count, values);
  };
}

function kindOf(invite: DeviceInvite) {
  return {
    "vpn.device_invite.accepted": invite.accepted,
    "vpn.device_invite.allow_exit_node": invite.allowExitNode,
    "vpn.device_invite.multi_use": invite.multiUse,
    "vpn.device_invite.delivery": deliveryOf(invite),
  };
}

function logInvites(
  { scope }: CollectorDeps,
  tick: Tick,
  { hostname, id }: Device,
  invites: readonly DeviceInvite[],
): void {
  for (const invite of invites) {
    const { accepted, email, acceptedBy, createdMs } = invite;
    const delivery = deliveryOf(invite);
    if (!accepted && createdMs !== undefined)
      scope.record(deviceInvitesPendingAge, secondsSince(createdMs, tick.nowMs), {});
    if (email === "" && acceptedBy === "") continue;
    const guests = `${email === "" ? "" : ` with ${email}`}: ${accepted ? "accepted" : "pending"}${acceptedBy === "" ? "" : ` by ${acceptedBy}`}`;
    scope.log(deviceInviteRecord, `invitation (${delivery}) to share device ${hostname}${guests}`, {
      "host.name": hostname,
      "host.id": id,
      "vpn.user": known(email),
      "user.name": known(acceptedBy),
      "vpn.device_invite.delivery": delivery,
    });
  }
}
