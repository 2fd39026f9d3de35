/**
 * Opens the seal of the tokens store: by a key file or by shares of the key. A store keeps the type
 * that it was made with.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import { openFileSeal } from "./file-seal.ts";
import { openShamirSeal } from "./shamir-seal.ts";
import { storedSeal } from "./stored-seal.ts";
import type { Seal, SealDeps, SealOptions } from "./types.ts";

/**
 * Opens the store when its key is in a file, which is made at the first start. Does not throw for a
 * missing, wrong or badly protected key: the store stays sealed and `status` has the reason. Throws
 * store errors, e.g. `disk_full`, and `invalid` for a store made with the other type of seal.
 */
export async function openSeal(deps: SealDeps, options: SealOptions): Promise<Seal> {
  const { env } = deps;
  const { keyring } = env;
  if (keyring === undefined)
    throw new StewardError("internal", `assertion failed: ${env.name} has sealed tables`);
  assertType(deps, options);
  if (options.type === "file") return await openFileSeal({ ...deps, keyring }, options);
  if (options.keyFile !== undefined)
    deps.log.warn("tokens.seal.key_file has no effect, since tokens.seal.type is shamir", {
      remedy: "remove it",
    });
  return openShamirSeal({ ...deps, keyring });
}

/** Throws `invalid` for a store that was made with the other type of seal. */
export function assertType(
  { env, directory }: Pick<SealDeps, "env" | "directory">,
  { type }: Pick<SealOptions, "type">,
): void {
  const made =
    storedSeal(env) !== undefined
      ? "shamir"
      : Object.values(env.status().rows).some((rows) => rows > 0)
        ? "file"
        : type;
  if (made === type) return;
  throw new StewardError(
    "invalid",
    `tokens.seal.type is ${type}, but the store of tokens in ${directory} was made with ${made}`,
    {
      field: "tokens.seal.type",
      rule: "seal type",
      remedy: `set tokens.seal.type to ${made}; a store cannot change the type of its seal (docs/seal.md)`,
    },
  );
}
