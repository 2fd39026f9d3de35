/**
 * How much of a record a JSON value takes, found without writing it and without looking further
 * than a bound.
 */
import { isRawNumber } from "../../logical/json.ts";
import { MAX_PLAIN_BYTES } from "./hash.ts";

/**
 * Strings, numbers, truth values and nulls; and bytes of the hashed text, about: names count as
 * they are, hashes with their quotes.
 */
export interface Size {
  readonly values: number;
  readonly bytes: number;
}

/** A hash in quotes and a comma. */
const HASH_BYTES = 79;

/** The size of a value; undefined when it is more than `most`, found after looking at that much. */
export function measure(value: unknown, most: Size): Size | undefined {
  const size = { values: 0, bytes: 0 };
  return add(value, size, most) ? size : undefined;
}

/** The bytes of a member beside its value. */
export function nameBytes(name: string): number {
  return Math.min(name.length, HASH_BYTES) + 4;
}

/** Whether a value is a string, a number, a truth value or null. */
export function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null || isRawNumber(value);
}

function add(value: unknown, size: { values: number; bytes: number }, most: Size): boolean {
  if (isScalar(value)) {
    size.values += 1;
    size.bytes += scalarBytes(value);
    return size.values <= most.values && size.bytes <= most.bytes;
  }
  size.bytes += 3;
  if (Array.isArray(value)) return value.every((item) => add(item, size, most));
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    if (members[name] === undefined) continue;
    size.bytes += nameBytes(name);
    if (!add(members[name], size, most)) return false;
  }
  return size.bytes <= most.bytes;
}

function scalarBytes(value: unknown): number {
  if (typeof value === "string") return HASH_BYTES;
  const digits = isRawNumber(value) ? value.rawJSON.length : String(value).length;
  return digits > MAX_PLAIN_BYTES ? HASH_BYTES : digits + 1;
}
