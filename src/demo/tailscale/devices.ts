/** Devices on the vendor's wire: the list, posture attributes, invites. */
import type { Device } from "../network/devices.ts";
import { NEWEST_CLIENT, REGIONS } from "../network/names.ts";
import type { Network } from "../network/network.ts";

const DAY_MS = 86_400_000;
const INVITED_MS = Date.UTC(2026, 9, 10, 9);

/** An instant on the wire. */
export function stamp(atMs: number): string {
  return atMs % 1000 === 0
    ? `${new Date(atMs).toISOString().slice(0, 19)}Z`
    : new Date(atMs).toISOString();
}

/** A device's full name. External ones are of another network's. */
export function nameOf({ suffix }: Network, { host, machine }: Device): string {
  return `${host}.${machine.kind === "external" ? "tailpartner.ts.net" : suffix}`;
}

/** Of the default fields and of all. `full` adds those that only `fields=all` shows. */
export function deviceObject(
  network: Network,
  device: Device,
  full: boolean,
): Record<string, unknown> {
  const { machine } = device;
  const external = machine.kind === "external";
  return {
    addresses: machine.addresses,
    id: device.legacyId,
    nodeId: device.nodeId,
    user: machine.owner?.loginName ?? network.people[0]?.loginName ?? "",
    name: nameOf(network, device),
    hostname: device.host,
    clientVersion: external ? "" : machine.client,
    updateAvailable: !external && !machine.client.startsWith(`${NEWEST_CLIENT}-`),
    os: machine.platform.os,
    created: external ? "" : stamp(device.createdMs),
    connectedToControl: device.online,
    ...(device.online ? {} : { lastSeen: stamp(device.lastSeenMs) }),
    keyExpiryDisabled: device.expiresMs === undefined,
    expires: expiryOf(device),
    authorized: machine.authorized,
    isExternal: external,
    machineKey: external ? "" : device.machineKey,
    nodeKey: device.nodeKey,
    blocksIncomingConnections: machine.kind === "phone" && machine.index % 3 === 0,
    tailnetLockKey: external ? "" : `nlpub:${network.identities.hex(`lock/${machine.index}`)}`,
    tailnetLockError: "",
    isEphemeral: machine.kind === "ephemeral",
    ...(machine.tags.length === 0 ? {} : { tags: machine.tags }),
    ...(full ? fullMembers(device) : {}),
  };
}

// A key that never runs out shows the date it would have had.
function expiryOf({ expiresMs, createdMs, machine }: Device): string {
  if (machine.kind === "external") return "";
  return stamp(expiresMs ?? createdMs + 180 * DAY_MS);
}

function fullMembers({ machine, enabledRoutes }: Device): Record<string, unknown> {
  return {
    enabledRoutes,
    advertisedRoutes: machine.advertisedRoutes,
    sshEnabled: machine.ssh,
    ...(machine.kind === "external"
      ? {}
      : { clientConnectivity: connectivity(machine), postureIdentity: postureIdentity(machine) }),
    ...(machine.platform.distro === undefined ? {} : { distro: machine.platform.distro }),
  };
}

function connectivity({
  index,
  region,
  publicAddress,
  kind,
}: Device["machine"]): Record<string, unknown> {
  const latency = Object.fromEntries(
    REGIONS.map(({ id, name }) => [
      name,
      {
        ...(id === region ? { preferred: true } : {}),
        latencyMs:
          Math.round(
            (id === region ? 4 + (index % 20) : 25 + ((index * 7 + id * 13) % 160)) * 100,
          ) / 100,
      },
    ]),
  );
  return {
    endpoints: [`${publicAddress}:41641`, `192.168.${index % 250}.10:41641`],
    mappingVariesByDestIP: kind === "phone",
    latency,
    clientSupports: {
      hairPinning: null,
      ipv6: index % 3 !== 0,
      pcp: index % 5 === 0,
      pmp: false,
      udp: index % 17 !== 16,
      upnp: index % 4 === 0 ? true : null,
    },
  };
}

function postureIdentity({ index, kind }: Device["machine"]): Record<string, unknown> {
  return kind === "laptop"
    ? { serialNumbers: [`C02SIM${String(index).padStart(5, "0")}`], disabled: false }
    : { disabled: true };
}

/** Attributes with namespaces, and until when some of them hold. */
export function attributesObject(
  { machine, online }: Device,
  nowMs: number,
): Record<string, unknown> {
  const [version = ""] = machine.client.split("-");
  const managed = machine.kind === "laptop";
  return {
    attributes: {
      "node:os": machine.platform.os === "macOS" ? "macos" : machine.platform.os.toLowerCase(),
      "node:osVersion": machine.platform.osVersion,
      "node:tsVersion": version,
      "node:tsAutoUpdate": machine.index % 2 === 0,
      "node:tsStateEncrypted": machine.index % 3 === 0,
      "node:tsReleaseTrack": machine.index % 19 === 18 ? "unstable" : "stable",
      ...(managed
        ? {
            "intune:complianceState": machine.index % 5 === 1 ? "noncompliant" : "compliant",
            "custom:score": 60 + ((machine.index * 7 + (online ? 3 : 0)) % 40),
          }
        : {}),
    },
    ...(managed
      ? {
          expiries: {
            "custom:score": stamp((Math.floor(nowMs / DAY_MS) + 1 + (machine.index % 7)) * DAY_MS),
          },
        }
      : {}),
  };
}

/** Invites to use a device from another network: servers have some. */
export function deviceInvites({ machine, legacyId }: Device, tailnetNumber: number): unknown[] {
  if (machine.kind !== "server" || machine.index % 3 !== 1) return [];
  const createdMs = INVITED_MS + (machine.index % 30) * DAY_MS;
  const base = {
    created: stamp(createdMs),
    tailnetId: tailnetNumber,
    deviceId: Number(legacyId),
    sharerId: 77,
    multiUse: false,
  };
  return [
    {
      id: String(5000 + machine.index * 2),
      ...base,
      allowExitNode: true,
      email: "guest@else.test",
      lastEmailSentAt: stamp(createdMs + 1000),
      inviteUrl: `https://login.example/inv/${5000 + machine.index}`,
      accepted: false,
    },
    {
      id: String(5001 + machine.index * 2),
      ...base,
      allowExitNode: false,
      inviteUrl: `https://login.example/inv/${5001 + machine.index}`,
      accepted: true,
      acceptedBy: { id: 33_223, loginName: "guest@else.test", profilePicUrl: "" },
    },
  ];
}
