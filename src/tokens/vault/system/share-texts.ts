/** Key shares in requests and answers, for the paths that make or take them. */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Fields } from "../../logical/types.ts";
import type { ShareTerms } from "../seal/types.ts";

/** `keys` and `keys_base64`. */
export function shareTexts(shares: readonly Secret[]): {
  readonly keys: readonly string[];
  readonly keys_base64: readonly string[];
} {
  const keys = shares.map((share) => share.use((text) => text));
  return { keys, keys_base64: keys.map((hex) => Buffer.from(hex, "hex").toString("base64")) };
}

export function termsIn(fields: Fields): ShareTerms {
  return {
    shares: fields.integer("secret_shares") ?? 0,
    threshold: fields.integer("secret_threshold") ?? 0,
  };
}

/** Throws `invalid` for a field with which Vault would encrypt what it returns. */
export function refusePgp(field: string, given: string | readonly string[] | undefined): void {
  if (given === undefined || given.length === 0) return;
  throw new StewardError(
    "invalid",
    `${field} is not supported: Steward does not encrypt by PGP; leave it out, and encrypt what is returned for its holders yourself`,
    { field, rule: "pgp" },
  );
}

/** Throws `invalid` for a missing share. */
export function shareIn(fields: Fields): { readonly key: string; readonly nonce: string } {
  const key = fields.text("key") ?? "";
  if (key === "")
    throw new StewardError("invalid", "'key' must be specified in request body as JSON", {
      field: "key",
    });
  return { key, nonce: fields.text("nonce") ?? "" };
}
