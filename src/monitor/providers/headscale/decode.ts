/** Decodes Headscale's responses, of the current release and the next one. */
import { boundName } from "../../../kernel/base/text/bounded-name.ts";
import { type Fields, fields, flag, inner, text, texts } from "../decode/fields.ts";
import { isZeroTime, timeMs } from "../decode/time.ts";
import type { Device, Key, User } from "../model.ts";
import { authKindOf } from "../tailscale/people.ts";

/** Headscale's owner of tagged devices; not in the list of users. */
const TAGGED = "tagged-devices";

function loginOf(user: Fields): string {
  return text(user["email"]) || text(user["name"]);
}

/** `nowMs` is the time of reading: an online node's `lastSeen` is the time of its last connect. */
export function deviceOf(json: Fields, nowMs: number): Device {
  const id = text(json["id"]);
  const tags = texts(json["tags"]);
  const online = flag(json["online"]) ?? false;
  const joinedBy = fields(json["preAuthKey"]);
  const expiresMs = timeMs(json["expiry"]);
  const available = texts(json["availableRoutes"]);
  const approved = new Set(texts(json["approvedRoutes"]));
  return {
    id,
    nodeId: id,
    name: text(json["givenName"]),
    hostname: text(json["name"]),
    os: "",
    user: tags.length > 0 ? TAGGED : loginOf(inner(json["user"])),
    clientVersion: "",
    addresses: texts(json["ipAddresses"]),
    tags,
    external: false,
    authorized: true,
    online,
    createdMs: timeMs(json["createdAt"]),
    lastSeenMs: online ? nowMs : timeMs(json["lastSeen"]),
    expiresMs,
    keyExpiryDisabled: neverExpires(json["expiry"]),
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

// `null` and the zero time both mean no expiry; an invalid text means unknown.
function neverExpires(expiry: unknown): boolean | undefined {
  if (expiry === null || expiry === undefined || isZeroTime(expiry)) return true;
  return timeMs(expiry) === undefined ? undefined : false;
}

/** Headscale has no roles and reports no activity. */
export function userOf(json: Fields): User {
  return {
    id: text(json["id"]),
    login: loginOf(json),
    displayName: text(json["displayName"]),
    role: "unknown",
    status: "unknown",
    type: "unknown",
    createdMs: timeMs(json["createdAt"]),
    lastSeenMs: undefined,
    deviceCount: undefined,
    connected: undefined,
  };
}

// Headscale rejects a key whose expiration is the zero time; `null` never expires.
function ended(expiration: unknown, nowMs: number): boolean {
  const atMs = timeMs(expiration);
  return isZeroTime(expiration) || (atMs !== undefined && atMs <= nowMs);
}

export function preAuthKeyOf(json: Fields, nowMs: number): Key {
  const user = inner(json["user"]);
  const deviceTags = texts(json["aclTags"]);
  const spent = flag(json["used"]) === true && flag(json["reusable"]) !== true;
  return {
    id: text(json["id"]),
    type: "auth",
    authKind: authKindOf(json),
    description: boundName(
      `preauthkey for ${text(user["name"]) || deviceTags.join(",") || "nobody"}`,
    ),
    scopes: [],
    createdMs: timeMs(json["createdAt"]),
    expiresMs: timeMs(json["expiration"]),
    revokedMs: undefined,
    invalid: spent || ended(json["expiration"], nowMs),
    owner: text(user["name"]) || text(user["email"]) || text(user["id"]),
    tags: [],
    deviceTags,
    preauthorized: undefined,
  };
}

/** The server masks the key's prefix. */
export function apiKeyOf(json: Fields, nowMs: number): Key {
  return {
    id: text(json["id"]),
    type: "api",
    authKind: "none",
    description: text(json["prefix"]),
    scopes: [],
    createdMs: timeMs(json["createdAt"]),
    expiresMs: timeMs(json["expiration"]),
    revokedMs: undefined,
    invalid: ended(json["expiration"], nowMs),
    owner: "",
    tags: [],
    deviceTags: [],
    preauthorized: undefined,
  };
}
