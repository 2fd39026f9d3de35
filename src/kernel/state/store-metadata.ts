/**
 * What an environment knows about itself, in rows of its own: who it is, the counts of its rows,
 * how far a migration came and whether it is open.
 */
import { StewardError } from "../base/errors.ts";
import { encodeKey } from "./key-bytes.ts";
import type { LmdbFile } from "./lmdb-file.ts";
import { METADATA_STORE } from "./table.ts";
import type { AnyTable, KeyPart } from "./types.ts";

/** How rows lie in a file: keys, check words, house rows. */
export const FORMAT = 1;
/** Who the file is. */
export const IDENTITY: Uint8Array = encodeKey(["identity"]);
/** Stands while the environment is open; still there at a start, it tells of a crash. */
export const OPEN_MARKER: Uint8Array = encodeKey(["open"]);
/** How far a migration came; gone when it is done. */
export const MIGRATION: Uint8Array = encodeKey(["migration"]);
/** The wrapped data keys. */
export const KEYRING: Uint8Array = encodeKey(["keyring"]);
/** The most that the newest data key may have encrypted. */
export const KEY_WRITES: Uint8Array = encodeKey(["key_writes"]);

/** Who a file says it is. */
export interface Identity {
  readonly format: number;
  readonly name: string;
  readonly schema: number;
  /**
   * The Steward that brought the file to this schema; files from before this was kept have none.
   */
  readonly writer?: string;
}

/** A migration in progress. */
export interface MigrationRow {
  readonly from: number;
  readonly cursor: readonly KeyPart[];
}

/** By table; each group of changes writes some of them. */
const censusKeys = new Map<string, Uint8Array>();

/** The key of a table's row count. */
export function censusKey({ name }: Pick<AnyTable, "name">): Uint8Array {
  let key = censusKeys.get(name);
  if (key === undefined) censusKeys.set(name, (key = encodeKey(["rows", name])));
  return key;
}

/** Reads the identity from its row; throws `corrupt` when there is none. */
export function readIdentity(path: string, value: Uint8Array | undefined): Identity {
  if (value === undefined)
    throw new StewardError("corrupt", `${path} does not say which store it is`, {
      remedy:
        "stop Steward and put the right file in its place, or restore a backup (docs/recovery.md)",
    });
  return decodeMetadata(value) as Identity;
}

/** The content of a house row, which its check word has vouched for. */
export function decodeMetadata(value: Uint8Array): unknown {
  return JSON.parse(Buffer.from(value).toString("utf8"));
}

/** Stores a house row; only inside a transaction of the file. A change has a way of its own. */
export function putMetadata(file: LmdbFile, key: Uint8Array, value: unknown): void {
  const { db, check } = file.store(METADATA_STORE);
  db.putSync(key, check.close(key, encodeMetadata(value)));
}

/** The content of a house row. */
export function encodeMetadata(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** Takes a house row away; where `putHouse` may be called. */
export function removeMetadata(file: LmdbFile, key: Uint8Array): void {
  file.store(METADATA_STORE).db.removeSync(key);
}
