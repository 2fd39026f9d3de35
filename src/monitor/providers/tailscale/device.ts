/** Calls for devices of the hosted control plane, their posture and invitations, and the decoders. */
import { count, type Fields, fields, flag, inner, members, text, texts } from "../decode/fields.ts";
import { pathOf } from "../../../kernel/client/http/url.ts";
import { timeMs } from "../decode/time.ts";
import type { Connectivity, Device, DeviceInvite, PostureAttributes } from "../model.ts";
import { readList, readObject } from "../read.ts";
import { networkList, type ControlPlane } from "./control-plane.ts";

export const deviceCalls = {
  devices: (plane: ControlPlane, signal: AbortSignal) => {
    const nowMs = plane.clock.now();
    return networkList(
      plane,
      { operation: "devices", at: ["devices"], query: { fields: "all" } },
      (json) => deviceOf(json, nowMs),
      signal,
    );
  },
  devicePosture: async (plane: ControlPlane, id: string, signal: AbortSignal) =>
    postureOf(
      await readObject(
        plane,
        { operation: "device/attributes", path: pathOf`/api/v2/device/${id}/attributes` },
        signal,
      ),
    ),
  deviceInvites: (plane: ControlPlane, id: string, signal: AbortSignal) =>
    readList(
      plane,
      {
        operation: "device/device-invites",
        path: pathOf`/api/v2/device/${id}/device-invites`,
        at: [],
      },
      deviceInviteOf,
      signal,
    ),
};

/** A device requested with `fields=all`; the API omits `lastSeen` while it is connected. */
function deviceOf(json: Fields, nowMs: number): Device {
  const online = flag(json["connectedToControl"]) ?? false;
  const posture = fields(json["postureIdentity"]);
  const connectivity = fields(json["clientConnectivity"]);
  return {
    id: text(json["id"]),
    nodeId: text(json["nodeId"]),
    name: text(json["name"]),
    hostname: text(json["hostname"]),
    os: text(json["os"]),
    user: text(json["user"]),
    clientVersion: text(json["clientVersion"]),
    addresses: texts(json["addresses"]),
    tags: texts(json["tags"]),
    external: flag(json["isExternal"]) ?? false,
    authorized: flag(json["authorized"]) ?? false,
    online,
    createdMs: timeMs(json["created"]),
    lastSeenMs: timeMs(json["lastSeen"]) ?? (online ? nowMs : undefined),
    expiresMs: timeMs(json["expires"]),
    keyExpiryDisabled: flag(json["keyExpiryDisabled"]),
    updateAvailable: flag(json["updateAvailable"]),
    // The API omits it while it is false.
    multipleConnections: flag(json["multipleConnections"]) ?? false,
    blocksIncomingConnections: flag(json["blocksIncomingConnections"]),
    sshEnabled: flag(json["sshEnabled"]),
    ephemeral: flag(json["isEphemeral"]),
    distro: distroOf(json["distro"]),
    postureIdentityDisabled: posture && (flag(posture["disabled"]) ?? false),
    connectivity: connectivity && connectivityOf(connectivity),
    advertisedRoutes: texts(json["advertisedRoutes"]),
    enabledRoutes: texts(json["enabledRoutes"]),
    lockError: text(json["tailnetLockError"]),
  };
}

function distroOf(value: unknown): Device["distro"] {
  const json = fields(value);
  return (
    json && {
      name: text(json["name"]),
      codeName: text(json["codeName"]),
      version: text(json["version"]),
    }
  );
}

function connectivityOf(json: Fields): Connectivity {
  const supports = inner(json["clientSupports"]);
  const latency = members(json["latency"]).flatMap(([region, value]) => {
    const ms = count(inner(value)["latencyMs"]);
    return ms === undefined
      ? []
      : [{ region, preferred: flag(inner(value)["preferred"]) ?? false, seconds: ms / 1_000 }];
  });
  return {
    latency,
    hardNat: flag(json["mappingVariesByDestIP"]) ?? false,
    endpoints: texts(json["endpoints"]),
    supports: {
      udp: flag(supports["udp"]),
      ipv6: flag(supports["ipv6"]),
      pcp: flag(supports["pcp"]),
      pmp: flag(supports["pmp"]),
      upnp: flag(supports["upnp"]),
    },
  };
}

/** Keeps attributes that are texts, numbers or booleans. */
function postureOf(json: Fields): PostureAttributes {
  const attributes = new Map<string, string | number | boolean>();
  for (const [name, value] of members(json["attributes"])) {
    if (typeof value === "string") attributes.set(name, text(value));
    else if (typeof value === "number" || typeof value === "boolean") attributes.set(name, value);
  }
  const expiresMs = new Map<string, number>();
  for (const [name, value] of members(json["expiries"])) {
    const ms = timeMs(value);
    if (ms !== undefined) expiresMs.set(name, ms);
  }
  return { attributes, expiresMs };
}

function deviceInviteOf(json: Fields): DeviceInvite {
  return {
    accepted: flag(json["accepted"]) ?? false,
    multiUse: flag(json["multiUse"]) ?? false,
    allowExitNode: flag(json["allowExitNode"]) ?? false,
    email: text(json["email"]),
    acceptedBy: text(inner(json["acceptedBy"])["loginName"]),
    createdMs: timeMs(json["created"]),
    lastEmailSentMs: timeMs(json["lastEmailSentAt"]),
  };
}
