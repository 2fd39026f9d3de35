/** People, keys and applications of the hosted control plane. */
import { count, type Fields, flag, inner, list, text, texts } from "../decode/fields.ts";
import { timeMs } from "../decode/time.ts";
import type { Key, OAuthApp, User, UserInvite } from "../model.ts";

/** A person with a login. */
export function userOf(told: Fields): User {
  return {
    id: text(told["id"]),
    login: text(told["loginName"]),
    displayName: text(told["displayName"]),
    role: text(told["role"]) || "unknown",
    status: text(told["status"]) || "unknown",
    type: text(told["type"]) || "unknown",
    createdMs: timeMs(told["created"]),
    lastSeenMs: timeMs(told["lastSeen"]),
    deviceCount: count(told["deviceCount"]),
    connected: flag(told["currentlyConnected"]),
  };
}

/** An open invitation. Its ids are numbers or texts, and nobody needs them. */
export function userInviteOf(told: Fields): UserInvite {
  return { role: text(told["role"]), lastEmailSentMs: timeMs(told["lastEmailSentAt"]) };
}

/** A key of any kind. */
export function keyOf(told: Fields): Key {
  const kind = text(told["keyType"]);
  const type =
    kind === ""
      ? "auth"
      : kind === "auth" || kind === "client" || kind === "api"
        ? kind
        : "unknown";
  const joining = inner(inner(inner(told["capabilities"])["devices"])["create"]);
  return {
    id: text(told["id"]),
    type,
    authKind: type === "auth" ? authKindOf(joining) : "none",
    description: text(told["description"]),
    scopes: texts(told["scopes"]),
    createdMs: timeMs(told["created"]),
    expiresMs: timeMs(told["expires"]),
    revokedMs: timeMs(told["revoked"]),
    invalid: flag(told["invalid"]) ?? false,
    owner: text(told["userId"]),
    tags: texts(told["tags"]),
    deviceTags: texts(joining["tags"]),
    preauthorized: type === "auth" ? (flag(joining["preauthorized"]) ?? false) : undefined,
  };
}

/**
 * How often a device may join by it; `ephemeral` before `reusable`. Headscale names the two alike.
 */
export function authKindOf(told: Fields): Key["authKind"] {
  if (flag(told["ephemeral"]) === true) return "ephemeral";
  return flag(told["reusable"]) === true ? "reusable" : "onetime";
}

/** An OAuth application. */
export function oauthAppOf(told: Fields): OAuthApp {
  return {
    id: text(told["id"]),
    name: text(told["name"]),
    scopes: texts(told["scopes"]),
    nodeAttributes: texts(told["allowedNodeAttributes"]),
    redirectUris: list(told["redirectURIs"]).length,
    createdMs: timeMs(told["created"]),
  };
}
