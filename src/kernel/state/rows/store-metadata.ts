/**
 * An environment's metadata rows: identity, row counts, migration progress, keyring, and whether it
 * is open.
 */
import { StewardError } from "../../base/errors.ts";
import { encodeKey } from "../codec/key-bytes.ts";
import type { LmdbFile } from "../file/lmdb-file.ts";
import { METADATA_STORE } from "../table.ts";
import type { AnyTable, KeyPart } from "../types.ts";

/** Version of the file layout: keys, checksums, metadata rows. */
export const FORMAT = 1;
/** Key of the identity. */
export const IDENTITY: Uint8Array = encodeKey(["identity"]);
/** Present while the environment is open; present at a start, it indicates a crash. */
export const OPEN_MARKER: Uint8Array = encodeKey(["open"]);
/** Migration progress; removed when done. */
export const MIGRATION: Uint8Array = encodeKey(["migration"]);
/** The wrapped data keys. */
export const KEYRING: Uint8Array = encodeKey(["keyring"]);
/** Upper bound on values encrypted by the newest data key. */
export const KEY_WRITES: Uint8Array = encodeKey(["key_writes"]);

export interface Identity {
  readonly format: number;
  readonly name: string;
  readonly schema: number;
  /** Version of the Steward that migrated the file to this schema; missing in older files. */
  readonly writer?: string;
}

/** A migration in progress. */
export interface MigrationRow {
  readonly from: number;
  readonly cursor: readonly KeyPart[];
}

/** By table; each group of changes writes some of them. */
const rowCountKeys = new Map<string, Uint8Array>();

/** The key of a table's row count. */
export function rowCountKey({ name }: Pick<AnyTable, "name">): Uint8Array {
  let key = rowCountKeys.get(name);
  if (key === undefined) rowCountKeys.set(name, (key = encodeKey(["rows", name])));
  return key;
}

/** Decodes the identity; throws `corrupt` when it is missing. */
export function readIdentity(path: string, value: Uint8Array | undefined): Identity {
  if (value === undefined)
    throw new StewardError("corrupt", `${path} does not say which store it is`, {
      remedy:
        "stop Steward and put the right file in its place, or restore a backup (docs/recovery.md)",
    });
  return decodeMetadata(value) as Identity;
}

/** Decodes a metadata row whose checksum was verified. */
export function decodeMetadata(value: Uint8Array): unknown {
  return JSON.parse(Buffer.from(value).toString("utf8"));
}

/** Stores a metadata row; only inside a transaction of the file. Changes use `FileTx` instead. */
export function putMetadata(file: LmdbFile, key: Uint8Array, value: unknown): void {
  const { db, check } = file.store(METADATA_STORE);
  db.putSync(key, check.close(key, encodeMetadata(value)));
}

/** Encodes a metadata row. */
export function encodeMetadata(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** Removes a metadata row; under the same condition as `putMetadata`. */
export function removeMetadata(file: LmdbFile, key: Uint8Array): void {
  file.store(METADATA_STORE).db.removeSync(key);
}
