/** Calls for users, keys and OAuth applications of the hosted control plane, and their decoders. */
import { count, type Fields, flag, inner, list, text, texts } from "../decode/fields.ts";
import { timeMs } from "../decode/time.ts";
import type { Key, OAuthApp, User, UserInvite } from "../model.ts";
import { networkList, type ControlPlane } from "./control-plane.ts";

export const peopleCalls = {
  users: (plane: ControlPlane, signal: AbortSignal) =>
    networkList(plane, { operation: "users", at: ["users"] }, userOf, signal),
  userInvites: (plane: ControlPlane, signal: AbortSignal) =>
    networkList(plane, { operation: "user-invites", at: [] }, userInviteOf, signal),
  keys: (plane: ControlPlane, signal: AbortSignal) =>
    networkList(plane, { operation: "keys", at: ["keys"], query: { all: true } }, keyOf, signal),
  oauthApps: (plane: ControlPlane, signal: AbortSignal) =>
    networkList(plane, { operation: "oauth-apps", at: ["oauthApps"] }, oauthAppOf, signal),
};

function userOf(json: Fields): User {
  return {
    id: text(json["id"]),
    login: text(json["loginName"]),
    displayName: text(json["displayName"]),
    role: text(json["role"]) || "unknown",
    status: text(json["status"]) || "unknown",
    type: text(json["type"]) || "unknown",
    createdMs: timeMs(json["created"]),
    lastSeenMs: timeMs(json["lastSeen"]),
    deviceCount: count(json["deviceCount"]),
    connected: flag(json["currentlyConnected"]),
  };
}

/** Ids are numbers or texts and not needed. */
function userInviteOf(json: Fields): UserInvite {
  return { role: text(json["role"]), lastEmailSentMs: timeMs(json["lastEmailSentAt"]) };
}

function keyOf(json: Fields): Key {
  const kind = text(json["keyType"]);
  const type =
    kind === ""
      ? "auth"
      : kind === "auth" || kind === "client" || kind === "api"
        ? kind
        : "unknown";
  const joining = inner(inner(inner(json["capabilities"])["devices"])["create"]);
  return {
    id: text(json["id"]),
    type,
    authKind: type === "auth" ? authKindOf(joining) : "none",
    description: text(json["description"]),
    scopes: texts(json["scopes"]),
    createdMs: timeMs(json["created"]),
    expiresMs: timeMs(json["expires"]),
    revokedMs: timeMs(json["revoked"]),
    invalid: flag(json["invalid"]) ?? false,
    owner: text(json["userId"]),
    tags: texts(json["tags"]),
    deviceTags: texts(joining["tags"]),
    preauthorized: type === "auth" ? (flag(joining["preauthorized"]) ?? false) : undefined,
  };
}

/** `ephemeral` before `reusable`; Headscale uses the same names. */
export function authKindOf(json: Fields): Key["authKind"] {
  if (flag(json["ephemeral"]) === true) return "ephemeral";
  return flag(json["reusable"]) === true ? "reusable" : "onetime";
}

function oauthAppOf(json: Fields): OAuthApp {
  return {
    id: text(json["id"]),
    name: text(json["name"]),
    scopes: texts(json["scopes"]),
    nodeAttributes: texts(json["allowedNodeAttributes"]),
    redirectUris: list(json["redirectURIs"]).length,
    createdMs: timeMs(json["created"]),
  };
}
