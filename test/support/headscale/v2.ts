/**
 * The part of the vendor's v2 that the development flavour has, with its own habits: no domain in
 * names, nothing for what is empty.
 */
import { createHash } from "node:crypto";
import type { Person } from "../../../src/demo/network/users.ts";
import { keyIdOf, membersOf, userId, type PreAuthKey, type Wire } from "./people.ts";
import type { Node } from "./state.ts";
import { ZERO_TIME } from "./times.ts";

const NO_SETTINGS = {
  aclsExternalLink: "",
  devicesApprovalOn: false,
  devicesAutoUpdatesOn: false,
  devicesKeyDurationDays: 180,
  usersApprovalOn: false,
  usersRoleAllowedToJoinExternalTailnets: "none",
  networkFlowLoggingOn: false,
  regionalRoutingOn: false,
  postureIdentityCollectionOn: false,
  httpsEnabled: false,
};

/** A node as a device. Routes only with `full`, and only when there are any. */
export function v2Device(
  wire: Wire,
  node: Node,
  { keys, full }: { readonly keys: ReadonlyMap<number, PreAuthKey>; readonly full: boolean },
): object {
  const { times } = wire;
  const {
    device: { machine, machineKey, nodeKey, createdMs },
  } = node;
  return {
    addresses: machine.addresses,
    name: node.givenName,
    id: node.id,
    nodeId: node.id,
    authorized: true,
    user:
      node.tags.length > 0 || machine.owner === undefined
        ? "tagged-devices"
        : loginOf(machine.owner),
    tags: node.tags,
    keyExpiryDisabled: node.expiryMs === undefined,
    created: times.utc(createdMs, `node/${node.id}`),
    ...(node.expiryMs === undefined
      ? {}
      : { expires: times.local(node.expiryMs, `expiry/${node.id}`) }),
    hostname: node.name.toLowerCase(),
    isEphemeral: keys.get(keyIdOf(machine) ?? 0)?.ephemeral ?? false,
    ...(node.online ? {} : { lastSeen: times.local(node.lastSeenMs, `seen/${node.id}`) }),
    machineKey,
    nodeKey,
    os: machine.platform.os,
    clientVersion: machine.client,
    updateAvailable: false,
    ...(full && node.available.length > 0 ? { advertisedRoutes: node.available } : {}),
    ...(full && node.approved.length > 0 ? { enabledRoutes: node.approved } : {}),
  };
}

/** A device's routes. */
export function v2Routes({ available, approved }: Node): object {
  return { advertisedRoutes: available, enabledRoutes: approved };
}

/** People with what they have connected; tagged nodes are nobody's. */
export function v2Users(wire: Wire, nodes: readonly Node[]): readonly object[] {
  return membersOf(wire.network).map((person) => {
    const own = nodes.filter(
      ({ tags, device }) => tags.length === 0 && device.machine.owner === person,
    );
    const seenMs = Math.max(...own.map(({ lastSeenMs }) => lastSeenMs));
    return {
      id: userId(person),
      displayName: person.index % 2 === 0 ? person.displayName : loginOf(person),
      loginName: loginOf(person),
      profilePicUrl: "",
      tailnetId: "1",
      created: wire.times.local(person.createdMs + person.index, `user/${person.index}`),
      type: "member",
      role: "member",
      status: "active",
      deviceCount: own.length,
      lastSeen:
        own.length === 0 ? ZERO_TIME : wire.times.local(seenMs, `user-seen/${person.index}`),
      currentlyConnected: own.some(({ online }) => online),
    };
  });
}

/** The keys that nodes join with, and one OAuth client; API keys are not shown. */
export function v2Keys(
  { times }: Wire,
  keys: readonly PreAuthKey[],
  nowMs: number,
): readonly object[] {
  const auth = keys.map((key) => {
    const expiresMs = typeof key.expiresMs === "number" ? key.expiresMs : undefined;
    const seconds = expiresMs === undefined ? 0 : Math.floor((expiresMs - key.createdMs) / 1000);
    return {
      id: String(key.id),
      keyType: "auth",
      ...(seconds > 0 ? { expirySeconds: seconds } : {}),
      created: times.utc(key.createdMs, `preauth/${key.id}`),
      expires: expiresMs === undefined ? ZERO_TIME : times.utc(Math.floor(expiresMs / 1000) * 1000),
      invalid:
        (key.used && !key.reusable) || key.expiresMs === "zero" || (expiresMs ?? Infinity) <= nowMs,
      capabilities: {
        devices: {
          create: {
            reusable: key.reusable,
            ephemeral: key.ephemeral,
            preauthorized: true,
            tags: key.tags,
          },
        },
      },
      ...(key.tags.length === 0 ? {} : { tags: key.tags }),
      ...(key.owner === undefined ? {} : { userId: userId(key.owner) }),
    };
  });
  const client = {
    id: "3616b8fb319a",
    keyType: "client",
    description: "mon",
    created: times.utc(Date.UTC(2026, 5, 1), "client"),
    invalid: false,
    capabilities: {
      devices: { create: { reusable: false, ephemeral: false, preauthorized: false, tags: null } },
    },
    scopes: ["all:read"],
  };
  return [...auth, client];
}

/** All eleven settings; only two of them mean something here. */
export function v2Settings(fileMode: boolean): object {
  return { aclsExternallyManagedOn: fileMode, ...NO_SETTINGS };
}

/** The validator of a policy text. */
export function v2Etag(text: string): string {
  return `"${createHash("sha256").update(text).digest("hex")}"`;
}

/** What is answered when no policy is set. */
export const ALLOW_ALL = `{\n\t"acls": [\n\t\t{"action": "accept", "src": ["*"], "dst": ["*:*"]},\n\t],\n}\n`;

function loginOf(person: Person): string {
  const hasEmail = person.index % 2 === 0 || person.index % 3 === 2;
  return hasEmail ? person.loginName : (person.loginName.split("@")[0] ?? "");
}
