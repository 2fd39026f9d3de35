/** Headscale's answers, those of the release and of the coming version alike. */
import { boundName } from "../../../kernel/base/bounded-name.ts";
import { type Fields, fields, flag, inner, text, texts } from "../decode/fields.ts";
import { isZeroTime, timeMs } from "../decode/time.ts";
import type { Device, Key, User } from "../model.ts";
import { authKindOf } from "../tailscale/people.ts";

/** Who owns tagged devices; no user of the list of users has this name. */
const TAGGED = "tagged-devices";

function loginOf(user: Fields): string {
  return text(user["email"]) || text(user["name"]);
}

/** A node. `nowMs` is when it was read: an online node's own time is that of its last connect. */
export function deviceOf(told: Fields, nowMs: number): Device {
  const id = text(told["id"]);
  const tags = texts(told["tags"]);
  const online = flag(told["online"]) ?? false;
  const joinedBy = fields(told["preAuthKey"]);
  const expiresMs = timeMs(told["expiry"]);
  const available = texts(told["availableRoutes"]);
  const approved = new Set(texts(told["approvedRoutes"]));
  return {
    id,
    nodeId: id,
    name: text(told["givenName"]),
    hostname: text(told["name"]),
    os: "",
    user: tags.length > 0 ? TAGGED : loginOf(inner(told["user"])),
    clientVersion: "",
    addresses: texts(told["ipAddresses"]),
    tags,
    external: false,
    authorized: true,
    online,
    createdMs: timeMs(told["createdAt"]),
    lastSeenMs: online ? nowMs : timeMs(told["lastSeen"]),
    expiresMs,
    keyExpiryDisabled: neverExpires(told["expiry"]),
    updateAvailable: undefined,
    multipleConnections: undefined,
    blocksIncomingConnections: undefined,
    sshEnabled: undefined,
    ephemeral: joinedBy && flag(joinedBy["ephemeral"]),
    distro: undefined,
    postureIdentityDisabled: undefined,
    connectivity: undefined,
    advertisedRoutes: available,
    enabledRoutes: available.filter((route) => approved.has(route)),
    lockError: "",
  };
}

// Of a node's expiry, null and the zero time say the same; a text that is no time says nothing.
function neverExpires(expiry: unknown): boolean | undefined {
  if (expiry === null || expiry === undefined || isZeroTime(expiry)) return true;
  return timeMs(expiry) === undefined ? undefined : false;
}

/** A user. There are no roles, and nothing is known of activity. */
export function userOf(told: Fields): User {
  return {
    id: text(told["id"]),
    login: loginOf(told),
    displayName: text(told["displayName"]),
    role: "unknown",
    status: "unknown",
    type: "unknown",
    createdMs: timeMs(told["createdAt"]),
    lastSeenMs: undefined,
    deviceCount: undefined,
    connected: undefined,
  };
}

// Headscale refuses a key whose expiration is the zero time; null is a key that never ends.
function ended(expiration: unknown, nowMs: number): boolean {
  const atMs = timeMs(expiration);
  return isZeroTime(expiration) || (atMs !== undefined && atMs <= nowMs);
}

/** A key to join by. */
export function preAuthKeyOf(told: Fields, nowMs: number): Key {
  const user = inner(told["user"]);
  const deviceTags = texts(told["aclTags"]);
  const spent = flag(told["used"]) === true && flag(told["reusable"]) !== true;
  return {
    id: text(told["id"]),
    type: "auth",
    authKind: authKindOf(told),
    description: boundName(
      `preauthkey for ${text(user["name"]) || deviceTags.join(",") || "nobody"}`,
    ),
    scopes: [],
    createdMs: timeMs(told["createdAt"]),
    expiresMs: timeMs(told["expiration"]),
    revokedMs: undefined,
    invalid: spent || ended(told["expiration"], nowMs),
    owner: text(user["name"]) || text(user["email"]) || text(user["id"]),
    tags: [],
    deviceTags,
    preauthorized: undefined,
  };
}

/** A key of the API; its prefix is masked by the server. */
export function apiKeyOf(told: Fields, nowMs: number): Key {
  return {
    id: text(told["id"]),
    type: "api",
    authKind: "none",
    description: text(told["prefix"]),
    scopes: [],
    createdMs: timeMs(told["createdAt"]),
    expiresMs: timeMs(told["expiration"]),
    revokedMs: undefined,
    invalid: ended(told["expiration"], nowMs),
    owner: "",
    tags: [],
    deviceTags: [],
    preauthorized: undefined,
  };
}
