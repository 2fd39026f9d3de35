/**
 * Root tokens as people start with them: they may do everything, never expire, and are stored
 * nowhere in clear.
 */
import type { Ids } from "../../kernel/base/ids.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Tx } from "../../kernel/state/types.ts";
import { identityBytes, type VaultIdentity } from "./mounts/identity.ts";
import { identityRow } from "./mounts/tables.ts";
import type { CreatedToken, Tokens } from "./types.ts";

/** Where they are made, as `lookup` shows it. */
export const ROOT_PATH = "auth/token/root";
const PREFIX = "hvs.";
const LENGTH = 24;
export const ROOT_TOKEN_LENGTH: number = PREFIX.length + LENGTH;

/** A new unique id. */
export function newRootId(ids: Ids): Secret {
  return Secret.of(`${PREFIX}${ids.base62(LENGTH)}`, "root token");
}

/** Stores one inside the caller's change, and that the first one exists. */
export function putRoot(
  tx: Tx,
  {
    tokens,
    identity,
    id,
  }: { readonly tokens: Tokens; readonly identity: VaultIdentity; readonly id: Secret },
): CreatedToken {
  tx.put(identityRow, "vault", identityBytes({ ...identity, rooted: true }));
  return tokens.createIn(tx, {
    type: "service",
    id,
    policies: ["root"],
    path: ROOT_PATH,
    displayName: "root",
    numUses: 0,
    parent: undefined,
    ttlMs: 0,
    explicitMaxTtlMs: 0,
    periodMs: 0,
    renewable: false,
  });
}
