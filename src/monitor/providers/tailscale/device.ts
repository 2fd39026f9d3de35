/** Devices of the hosted control plane and what hangs on each of them. */
import { count, type Fields, fields, flag, inner, members, text, texts } from "../decode/fields.ts";
import { timeMs } from "../decode/time.ts";
import type { Connectivity, Device, DeviceInvite, PostureAttributes } from "../model.ts";

/** A device as told with `fields=all`. */
export function deviceOf(told: Fields): Device {
  const posture = fields(told["postureIdentity"]);
  const connectivity = fields(told["clientConnectivity"]);
  return {
    id: text(told["id"]),
    nodeId: text(told["nodeId"]),
    name: text(told["name"]),
    hostname: text(told["hostname"]),
    os: text(told["os"]),
    user: text(told["user"]),
    clientVersion: text(told["clientVersion"]),
    addresses: texts(told["addresses"]),
    tags: texts(told["tags"]),
    external: flag(told["isExternal"]) ?? false,
    authorized: flag(told["authorized"]) ?? false,
    online: flag(told["connectedToControl"]) ?? false,
    createdMs: timeMs(told["created"]),
    lastSeenMs: timeMs(told["lastSeen"]),
    expiresMs: timeMs(told["expires"]),
    keyExpiryDisabled: flag(told["keyExpiryDisabled"]),
    updateAvailable: flag(told["updateAvailable"]),
    multipleConnections: flag(told["multipleConnections"]),
    blocksIncomingConnections: flag(told["blocksIncomingConnections"]),
    sshEnabled: flag(told["sshEnabled"]),
    ephemeral: flag(told["isEphemeral"]),
    distro: distroOf(told["distro"]),
    postureIdentityDisabled: posture && (flag(posture["disabled"]) ?? false),
    connectivity: connectivity && connectivityOf(connectivity),
    advertisedRoutes: texts(told["advertisedRoutes"]),
    enabledRoutes: texts(told["enabledRoutes"]),
    lockError: text(told["tailnetLockError"]),
  };
}

function distroOf(value: unknown): Device["distro"] {
  const told = fields(value);
  return (
    told && {
      name: text(told["name"]),
      codeName: text(told["codeName"]),
      version: text(told["version"]),
    }
  );
}

function connectivityOf(told: Fields): Connectivity {
  const supports = inner(told["clientSupports"]);
  const latency = members(told["latency"]).flatMap(([region, value]) => {
    const ms = count(inner(value)["latencyMs"]);
    return ms === undefined
      ? []
      : [{ region, preferred: flag(inner(value)["preferred"]) ?? false, seconds: ms / 1_000 }];
  });
  return {
    latency,
    hardNat: flag(told["mappingVariesByDestIP"]) ?? false,
    endpoints: texts(told["endpoints"]),
    supports: {
      udp: flag(supports["udp"]),
      ipv6: flag(supports["ipv6"]),
      pcp: flag(supports["pcp"]),
      pmp: flag(supports["pmp"]),
      upnp: flag(supports["upnp"]),
    },
  };
}

/** Attributes that are texts, numbers or flags; others are left out. */
export function postureOf(told: Fields): PostureAttributes {
  const attributes = new Map<string, string | number | boolean>();
  for (const [name, value] of members(told["attributes"])) {
    if (typeof value === "string") attributes.set(name, text(value));
    else if (typeof value === "number" || typeof value === "boolean") attributes.set(name, value);
  }
  const expiresMs = new Map<string, number>();
  for (const [name, value] of members(told["expiries"])) {
    const ms = timeMs(value);
    if (ms !== undefined) expiresMs.set(name, ms);
  }
  return { attributes, expiresMs };
}

/** An invitation to share. */
export function deviceInviteOf(told: Fields): DeviceInvite {
  return {
    accepted: flag(told["accepted"]) ?? false,
    multiUse: flag(told["multiUse"]) ?? false,
    allowExitNode: flag(told["allowExitNode"]) ?? false,
    email: text(told["email"]),
    acceptedBy: text(inner(told["acceptedBy"])["loginName"]),
    createdMs: timeMs(told["created"]),
    lastEmailSentMs: timeMs(told["lastEmailSentAt"]),
  };
}
