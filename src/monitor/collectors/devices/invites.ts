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
import { callEach } from "./call-each.ts";

/** Delivery of an invitation. */
function deliveryOf({
  email,
  lastEmailSentMs,
  createdMs,
}: DeviceInvite): "emailed" | "manual_link" | "unknown" {
  if (email !== "" || lastEmailSentMs !== undefined) return "emailed";
  return createdMs === undefined ? "unknown" : "manual_link";
}

/** Fetches the invitations of every device. */
export async function collectInvites(
  { provider, scope }: CollectorDeps,
  tick: Tick,
  devices: readonly Device[],
): Promise<void> {
  const tally = new Tally<{
    readonly "vpn.device_invite.accepted": boolean;
    readonly "vpn.device_invite.allow_exit_node": boolean;
    readonly "vpn.device_invite.multi_use": boolean;
    readonly "vpn.device_invite.delivery": string;
  }>();
  await callEach(tick, devices, {
    operation: listDeviceInvites,
    call: ({ id }) => provider.deviceInvites(id, tick.signal),
    learn({ hostname, id }, invites) {
      for (const invite of invites) {
        const { accepted, allowExitNode, multiUse, email, acceptedBy, createdMs } = invite;
        const delivery = deliveryOf(invite);
        tally.add({
          "vpn.device_invite.accepted": accepted,
          "vpn.device_invite.allow_exit_node": allowExitNode,
          "vpn.device_invite.multi_use": multiUse,
          "vpn.device_invite.delivery": delivery,
        });
        if (!accepted && createdMs !== undefined)
          scope.record(deviceInvitesPendingAge, secondsSince(createdMs, tick.nowMs), {});
        if (email === "" && acceptedBy === "") continue;
        const guests = `${email === "" ? "" : ` with ${email}`}: ${accepted ? "accepted" : "pending"}${acceptedBy === "" ? "" : ` by ${acceptedBy}`}`;
        scope.log(
          deviceInviteRecord,
          `invitation (${delivery}) to share device ${hostname}${guests}`,
          {
            "host.name": hostname,
            "host.id": id,
            "vpn.user": known(email),
            "user.name": known(acceptedBy),
            "vpn.device_invite.delivery": delivery,
          },
        );
      }
    },
  });
  for (const { values, count } of tally.entries())
    tick.sweep.gauge(deviceInvitesCount, count, values);
}
