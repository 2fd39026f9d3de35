/** The Vault token of commands that mint and revoke, found as Vault's own clients find it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { readToken } from "./target.ts";

/** The header with it: `VAULT_TOKEN`, else `~/.vault-token`. Throws `unauthenticated` without one. */
export function vaultHeaders(environment: Environment): Readonly<Record<string, string>> {
  const token = vaultToken(environment);
  if (token !== undefined) return { "x-vault-token": token };
  throw new StewardError("unauthenticated", "this needs a Vault token", {
    remedy: "set VAULT_TOKEN, or write the token to ~/.vault-token",
  });
}

/** The header, or none. */
export function vaultHeadersIfAny(
  environment: Environment,
): Readonly<Record<string, string>> | undefined {
  const token = vaultToken(environment);
  return token === undefined ? undefined : { "x-vault-token": token };
}

function vaultToken(environment: Environment): string | undefined {
  const given = environment["VAULT_TOKEN"]?.trim();
  if (given !== undefined && given !== "") return given;
  const home = environment["HOME"];
  const file = home === undefined || home === "" ? undefined : join(home, ".vault-token");
  if (file === undefined || !existsSync(file)) return undefined;
  return readToken(file).use((value) => value);
}
