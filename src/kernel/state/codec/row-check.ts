/**
 * Checksum of a stored row: CRC-32 over the name of its sub-database, the length of the key, the
 * key and the value, appended to the value. Detects a moved, truncated or changed row when it is
 * read.
 */
import { crc32 } from "node:zlib";

/** Size of the checksum. */
const CHECK_BYTES = 4;

/** Appends and verifies the checksums of one sub-database. */
export interface RowCheck {
  /** Throws `sealed` when rows can be neither read nor written. */
  assertOpen(): void;
  /** The bytes to store for a value. */
  close(key: Uint8Array, value: Uint8Array): Buffer;
  /** The value without its checksum, as a view; undefined when the row is damaged. */
  open(key: Uint8Array, stored: Uint8Array): Uint8Array | undefined;
}

export function createRowCheck(name: string): RowCheck {
  const seeds: number[] = [];
  const seedOf = (keyLength: number): number =>
    (seeds[keyLength] ??= crc32(Uint8Array.of(keyLength & 0xff, keyLength >> 8), crc32(name)));
  const check = (key: Uint8Array, value: Uint8Array): number =>
    crc32(value, crc32(key, seedOf(key.length)));
  return {
    assertOpen: () => {},
    close(key, value) {
      const stored = Buffer.allocUnsafe(value.length + CHECK_BYTES);
      stored.set(value);
      stored.writeUInt32LE(check(key, value), value.length);
      return stored;
    },
    open(key, stored) {
      const length = stored.length - CHECK_BYTES;
      if (length < 0) return undefined;
      const value = stored.subarray(0, length);
      const word = new DataView(stored.buffer, stored.byteOffset + length, CHECK_BYTES).getUint32(
        0,
        true,
      );
      return word === check(key, value) ? value : undefined;
    },
  };
}
