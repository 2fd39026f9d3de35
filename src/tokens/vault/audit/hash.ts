/**
 * Keyed hashes of confidential values in the audit; equal values have equal hashes, so they can be
 * searched.
 */
import { createHmac, createSecretKey } from "node:crypto";
import { isRawNumber } from "../../logical/json.ts";

/** `hmac-sha256:` and hexadecimal. */
export type Hash = (value: string) => string;

/**
 * A hash over text that comes in pieces; the same as over the whole. No piece may end inside a
 * surrogate pair.
 */
export interface RunningHash {
  update(piece: string): void;
  end(): string;
}

/** The hash of a device. */
export interface Hasher {
  readonly hash: Hash;
  begin(): RunningHash;
}

/** Bytes of the longest name, number or time that is written as it is; longer ones are hashed. */
export const MAX_PLAIN_BYTES = 256;

const RFC_3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const MAX_TIME_LENGTH = 40;

/** Words that occur in nearly every record and are no secret: their hashes are cached. */
const USUAL_WORDS: readonly string[] = ["read", "write", "admin", "all", "selected"];

/** The hash over a device's salt. */
export function createHasher(salt: Uint8Array): Hasher {
  const key = createSecretKey(salt);
  const hash: Hash = (value) =>
    `hmac-sha256:${createHmac("sha256", key).update(value).digest("hex")}`;
  const usual = new Map(USUAL_WORDS.map((word) => [word, hash(word)]));
  return {
    hash: (value) => usual.get(value) ?? hash(value),
    begin() {
      const running = createHmac("sha256", key);
      return {
        update: (piece) => void running.update(piece),
        end: () => `hmac-sha256:${running.digest("hex")}`,
      };
    },
  };
}

/**
 * JSON text in which every string value is hashed, but for points in time; numbers and truth values
 * stay. Names and numbers of more than 256 bytes are hashed, too.
 */
export function hashedJson(value: unknown, hash: Hash): string {
  if (typeof value === "string") return isTime(value) ? JSON.stringify(value) : `"${hash(value)}"`;
  if (typeof value !== "object" || value === null || isRawNumber(value))
    return plainJson(value, hash);
  if (Array.isArray(value)) return `[${value.map((item) => hashedJson(item, hash)).join(",")}]`;
  let members = "";
  for (const [name, item] of Object.entries(value))
    if (item !== undefined)
      members += `${members === "" ? "" : ","}${hashedName(name, hash)}:${hashedJson(item, hash)}`;
  return `{${members}}`;
}

/** A member's name as JSON text. */
export function hashedName(name: string, hash: Hash): string {
  return name.length > MAX_PLAIN_BYTES ||
    (name.length * 3 > MAX_PLAIN_BYTES && Buffer.byteLength(name) > MAX_PLAIN_BYTES)
    ? `"${hash(name)}"`
    : JSON.stringify(name);
}

function plainJson(value: unknown, hash: Hash): string {
  const written = JSON.stringify(value) ?? "null";
  return written.length > MAX_PLAIN_BYTES ? `"${hash(written)}"` : written;
}

/** Whether text is a point in time as RFC 3339 writes it. */
export function isTime(text: string): boolean {
  const found = text.length <= MAX_TIME_LENGTH ? RFC_3339.exec(text) : null;
  if (found === null) return false;
  const [, year, month, day] = found.map(Number);
  return (day ?? 0) <= new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate();
}
