/** Key shares as people hold them: their texts, how many there may be, and how a key is split. */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import { splitSecret } from "./shamir.ts";
import type { ShareTerms } from "./types.ts";

/** As Vault takes them: a share has one byte more than its key of at most 32. */
const MIN_BYTES = 16;
const MAX_BYTES = 33;
const MAX_SHARES = 255;

/**
 * The bytes of a share, hexadecimal or base64. Throws `invalid` with Vault's texts, which repeat
 * nothing of it.
 */
export function parseShare(text: string): Uint8Array {
  // A short text can be both; of those only the hexadecimal of a length that fits is meant as such.
  const hex = /^(?:[0-9a-fA-F]{2})*$/.test(text) ? Buffer.from(text, "hex") : undefined;
  if (hex !== undefined && hex.length >= MIN_BYTES && hex.length <= MAX_BYTES) return hex;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
    throw refused("'key' must be a valid hex or base64 string");
  const bytes = Buffer.from(text, "base64");
  if (bytes.length < MIN_BYTES) throw refused(`key is shorter than minimum ${MIN_BYTES} bytes`);
  if (bytes.length > MAX_BYTES) throw refused(`key is longer than maximum ${MAX_BYTES} bytes`);
  return bytes;
}

/** Throws `invalid` with Vault's texts for counts that cannot be. */
export function assertTerms({ shares, threshold }: ShareTerms): void {
  const wrong = (field: string, text: string): StewardError =>
    new StewardError("invalid", `invalid seal configuration: ${text}`, { field, rule: "shares" });
  if (shares < 1) throw wrong("secret_shares", "shares must be at least one");
  if (threshold < 1) throw wrong("secret_threshold", "threshold must be at least one");
  if (shares > 1 && threshold === 1)
    throw wrong("secret_threshold", "threshold must be greater than one for multiple shares");
  if (shares > MAX_SHARES) throw wrong("secret_shares", "shares must be less than 256");
  if (threshold > MAX_SHARES) throw wrong("secret_threshold", "threshold must be less than 256");
  if (threshold > shares) throw wrong("secret_threshold", "threshold cannot be larger than shares");
}

/** The shares in hexadecimal. One share alone is the key itself, as in Vault. */
export function splitKey(
  key: Uint8Array,
  { shares: count, threshold }: ShareTerms,
  ids: Ids,
): readonly Secret[] {
  const shares =
    count === 1
      ? [Uint8Array.from(key)]
      : splitSecret(key, { count, threshold }, (length) => ids.bytes(length));
  return shares.map((share) => {
    const text = Buffer.from(share).toString("hex");
    share.fill(0);
    return Secret.of(text, "key share");
  });
}

function refused(why: string): StewardError {
  return new StewardError("invalid", why, { field: "key", rule: "key share" });
}
