/** Random identifiers from one source of bytes. */
import { randomBytes, randomFillSync, randomUUID } from "node:crypto";
import { customRandom, urlAlphabet } from "nanoid";

export interface Ids {
  /** 21 characters of the nanoid alphabet, fit to be an argument of a command. */
  nanoid(): string;
  /** `length` characters of 0-9A-Za-z. */
  base62(length: number): string;
  /** A version 4 UUID. */
  uuid(): string;
  bytes(length: number): Uint8Array;
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * The last `length` base-62 digits of a non-negative integer, zero-padded: 0-9A-Za-z, so equal
 * lengths sort like the numbers.
 */
export function base62Digits(value: number, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest = Math.floor(rest / BASE62.length))
    digits = `${BASE62[rest % BASE62.length]}${digits}`;
  return digits;
}

/**
 * An id without a dash at its begin: on a command line it would be an option, and in a spreadsheet
 * a formula.
 */
export function asArgument(id: string): string {
  return id.replace(/^-/, "_");
}

/** Identifiers from any source of bytes; a seeded source gives repeatable ids. */
export function createIds(bytes: (length: number) => Uint8Array): Ids {
  const nano = customRandom(urlAlphabet, 21, bytes);
  return {
    nanoid: () => asArgument(nano()),
    base62: (length) => customRandom(BASE62, length, bytes)(),
    uuid: () => formatUuid(bytes(16)),
    bytes,
  };
}

const POOL_BYTES = 4_096;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/**
 * From the system's cryptographic source. Each request has a UUID; Node's own generator draws in
 * batches.
 */
export const systemIds: Ids = { ...createIds(pooledBytes), uuid: () => randomUUID() };

/** Draws in batches; consumed bytes are overwritten. */
function pooledBytes(length: number): Uint8Array {
  if (length > POOL_BYTES) return new Uint8Array(randomBytes(length));
  if (used + length > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.slice(used, used + length);
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
}

function formatUuid(bytes: Uint8Array): string {
  const raw = Buffer.from(bytes);
  raw[6] = ((raw[6] ?? 0) & 0x0f) | 0x40;
  raw[8] = ((raw[8] ?? 0) & 0x3f) | 0x80;
  const hex = raw.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
