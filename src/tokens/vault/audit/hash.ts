/** How the audit writes what nobody may read from it: by a keyed hash that still lets equal values be found (facts §2.7). */
import { createHmac, createSecretKey } from "node:crypto";
import { isRawNumber } from "../../logical/json.ts";

/** `hmac-sha256:` and hexadecimal. */
export type Hash = (value: string) => string;

/** Values of one record beyond which its data is written as one hash: what is hashed one by one must not hold up everybody else. */
export const MOST_VALUES = 10_000;

const RFC_3339 = /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const LONGEST_TIME = 40;

/** Words that stand in nearly every record and are no secret: what they become is kept. */
const USUAL_WORDS: readonly string[] = ["read", "write", "admin", "all", "selected"];

/** The hash of a device. */
export function createHash(salt: Uint8Array): Hash {
  const key = createSecretKey(salt);
  const hash: Hash = (value) => `hmac-sha256:${createHmac("sha256", key).update(value).digest("hex")}`;
  const usual = new Map(USUAL_WORDS.map((word) => [word, hash(word)]));
  return (value) => usual.get(value) ?? hash(value);
}

/** JSON text in which every string value is hashed, but for points in time; names, numbers and truth values stay. */
export function hashedJson(value: unknown, hash: Hash): string {
  if (hasMoreThan(value, MOST_VALUES)) return `{"too_many_values":"${hash(JSON.stringify(value))}"}`;
  return write(value, hash);
}

/** Whether text is a point in time as RFC 3339 writes it. */
export function isTime(text: string): boolean {
  const found = text.length <= LONGEST_TIME ? RFC_3339.exec(text) : null;
  if (found === null) return false;
  const [, year, month, day] = found.map(Number);
  return (day ?? 0) <= new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate();
}

function write(value: unknown, hash: Hash): string {
  if (typeof value === "string") return isTime(value) ? JSON.stringify(value) : `"${hash(value)}"`;
  if (typeof value !== "object" || value === null || isRawNumber(value)) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map((item) => write(item, hash)).join(",")}]`;
  let members = "";
  for (const [name, item] of Object.entries(value)) if (item !== undefined) members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${write(item, hash)}`;
  return `{${members}}`;
}

function hasMoreThan(value: unknown, most: number): boolean {
  let left = most;
  const count = (item: unknown): void => {
    left -= 1;
    if (left < 0 || typeof item !== "object" || item === null) return;
    for (const inner of Array.isArray(item) ? item as unknown[] : Object.values(item)) {
      count(inner);
      if (left < 0) return;
    }
  };
  count(value);
  return left < 0;
}
