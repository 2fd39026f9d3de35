/**
 * Types of durable state: environments, typed tables, transactions and snapshots. One thread writes
 * an environment; a resolved write is durable; readers see one consistent snapshot.
 */

/**
 * Converts a value to the stored bytes and back. `read` may assume that the bytes passed their
 * checksum.
 */
export interface ValueCodec<V> {
  write(value: V): Uint8Array;
  read(bytes: Uint8Array): V;
}

/** Part of a key; every key sorts by its parts in their natural order. */
export type KeyPart = string | number;

/** Converts a table's keys to key parts and back. */
export interface KeyCodec<K> {
  /** Order-preserving parts: strings up to 1,500 bytes, non-negative safe integers. */
  toParts(key: K): readonly KeyPart[];
  fromParts(parts: readonly KeyPart[]): K;
}

/** A secondary index, maintained in the row's transaction. */
export interface Index<K, V> {
  readonly name: string;
  /** The index keys of a row, all of one length; an empty list omits it. */
  of(value: V, key: K): readonly (readonly KeyPart[])[];
  /** A second row with the same index key is refused with `conflict`. */
  readonly unique: boolean;
}

/** Limits of a table. */
export interface TableLimit {
  /** Above it, adding a row is refused with `disk_full`. */
  readonly rows: number;
  /**
   * Bytes of its pages above which a put is refused with `disk_full`; none unless declared. For a
   * table that could fill the store alone.
   */
  readonly bytes?: number;
  /**
   * Maximum size of a change that writes the table; 1 MiB unless declared. Only for a table of which
   * one row with its index entries may be larger, since nothing smaller than a row can be written.
   * Changes of several rows still stay below 1 MiB: the callers bound them.
   */
  readonly changeBytes?: number;
}

/** A table declared with `defineTable`. */
export interface Table<K, V> {
  readonly name: string;
  readonly key: KeyCodec<K>;
  readonly value: ValueCodec<V>;
  readonly indexes: readonly Index<K, V>[];
  readonly limit: TableLimit;
  /**
   * Values are encrypted on disk. Keys and index keys are not, so they must not contain secrets.
   */
  readonly sealed: boolean;
}

/** A table of any row type. */
export type AnyTable = Table<unknown, unknown>;

/**
 * Bounds of a range in key parts; a prefix of a key is allowed. `start` is inclusive, `end`
 * exclusive.
 */
export interface Bounds {
  readonly start?: readonly KeyPart[];
  readonly end?: readonly KeyPart[];
  readonly prefix?: readonly KeyPart[];
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** One consistent view of an environment. */
export interface Snapshot {
  get<K, V>(table: Table<K, V>, key: K): V | undefined;
  /** Rows in key order. A damaged row throws `corrupt`; it is never skipped. */
  range<K, V>(table: Table<K, V>, bounds?: Bounds): Iterable<[K, V]>;
  /**
   * Keys of the rows in key order. Values are neither read nor decrypted, so that damage to them is
   * not noticed. Throws `sealed` as `range` does.
   */
  keys<K, V>(table: Table<K, V>, bounds?: Bounds): Iterable<K>;
  /** Keys of the rows that an index has under these parts, or this prefix of them. */
  find<K, V>(table: Table<K, V>, index: string, parts: readonly KeyPart[]): K[];
  count(table: AnyTable): number;
}

/** A running write. Synchronous, at most about 2 ms and 1 MiB; see `TableLimit.changeBytes`. */
export interface Tx extends Snapshot {
  put<K, V>(table: Table<K, V>, key: K, value: V): void;
  delete<K, V>(table: Table<K, V>, key: K): boolean;
  /** Runs after the write is durable, in commit order. Not run when the write fails. */
  after(effect: () => void): void;
}

/** Migrates a file from one schema to the next. */
export interface Migration {
  /** The schema it starts from; the result is the next one. */
  readonly from: number;
  /**
   * Tables in the old shape. They may have the current names: the migration deletes a row through
   * the old table and puts it through the new one.
   */
  readonly tables: readonly AnyTable[];
  /**
   * One chunk of the migration, within the bounds of a change. Stored together with the returned
   * cursor, so that an interrupted migration continues there; undefined ends it. The first call
   * gets undefined. Runs twice on the same rows only when its change was not stored.
   */
  step(tx: Tx, cursor: readonly KeyPart[] | undefined): readonly KeyPart[] | undefined;
}

export interface EnvSpec {
  readonly name: string;
  /** Folder of the environment's file. */
  readonly directory: string;
  readonly tables: readonly AnyTable[];
  /** Version of the stored rows; a newer file is refused. */
  readonly schema: number;
  /**
   * Migrations from older schemas, one per step. A file without a path to this schema is refused.
   */
  readonly migrations?: readonly Migration[];
  /** Can be rebuilt from other state: a damaged or foreign file is moved aside and replaced. */
  readonly derived: boolean;
  /** Maximum size of the file. */
  readonly maxBytes: number;
}

export interface EnvStatus {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly maxBytes: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly queuedWrites: number;
  readonly lastCommitAtMs: number | undefined;
  readonly healthy: boolean;
  readonly reason: string | undefined;
}

/** Options of a change. */
export interface WriteOptions {
  /**
   * May use the disk space reserved for a full disk, e.g. to record a revocation. Such a change may
   * run a second time when the first run was not stored.
   */
  readonly urgent?: boolean;
  /**
   * Runs after the change; throws when the change must not be stored after all, e.g. because
   * leadership was lost. Nothing of it is then stored, and the write rejects with what was thrown.
   * It waits for the group before it; its own commit follows synchronously but takes the time of a
   * flush, so a guard based on a lease must end that much earlier.
   */
  readonly guard?: () => void;
}

/** A finished copy of an environment. */
export interface BackupReport {
  readonly name: string;
  /** Name of the file in the folder. */
  readonly file: string;
  readonly schema: number;
  /** Bytes of the file. */
  readonly bytes: number;
  /** Lower-case hexadecimal SHA-256 of the file. */
  readonly sha256: string;
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** When the copied state was current, milliseconds since 1970. */
  readonly madeAtMs: number;
}

export interface KeyringStatus {
  /** True until the root key was provided. */
  readonly sealed: boolean;
  /** Number of data keys; the newest encrypts. */
  readonly keys: number;
  /** Values encrypted by the newest data key; after a restart up to 65,536 too high. */
  readonly writes: number;
  /** Number of the newest data key, incremented by each rotation; 0 while sealed. */
  readonly term: number;
  /** When it was made, milliseconds since 1970; undefined while sealed and when not recorded. */
  readonly madeAtMs: number | undefined;
  /** The root key was replaced, and older rows may not all be re-encrypted yet. */
  readonly replacing: boolean;
}

/** The keys of an environment with sealed tables (docs/decisions/state-seal.md). */
export interface Keyring {
  status(): KeyringStatus;
  /**
   * Loads the root key (32 bytes, copied) and with it the data keys; the first call ever makes the
   * first data key. Throws `denied` for a wrong root key and `invalid` for a wrong length.
   */
  unseal(rootKey: Uint8Array): Promise<void>;
  /**
   * Overwrites root and data keys in memory: from then on reads and writes of sealed tables throw
   * `sealed`. The crypto library's own copies of the data keys are freed by the next garbage
   * collection.
   */
  seal(): void;
  /**
   * Makes a new data key for future writes; older rows keep theirs. Throws `sealed`, and
   * `exhausted` at 100 data keys.
   */
  rotate(): Promise<void>;
  /**
   * Re-encrypts every row that has an older data key with the newest one, in small changes, and
   * removes the older keys. Resolves with the number of rows; `progress` gets it after each change.
   * Throws the signal's reason, `sealed`, and `corrupt` for a row that cannot be read; the older
   * keys remain then, and another call continues.
   */
  reencrypt(signal: AbortSignal, progress?: (rows: number) => void): Promise<number>;
  /**
   * Lets a further root key (32 bytes, copied) unseal as well, until the current one is replaced,
   * or until the file is opened by the current one and its keyring changes. Unsealed by the further
   * one, the environment is `replacing`. Throws `sealed`, and `invalid` for a wrong length.
   */
  offerRootKey(rootKey: Uint8Array): Promise<void>;
  /**
   * Makes a new data key; once it resolves only this root key (copied) unseals, and no other one
   * ever wrapped the new data key. Older rows keep theirs until `reencrypt`. A crash leaves either
   * the old or the new state. Backups keep the root key they were made under. Throws as
   * `offerRootKey` and `rotate` do.
   */
  replaceRootKey(rootKey: Uint8Array): Promise<void>;
  /** Records that nothing depends on the replaced root key any more. */
  settleRootKey(): Promise<void>;
}

export interface Env {
  readonly name: string;
  /** Of its sealed tables; undefined without any. */
  readonly keyring: Keyring | undefined;
  /**
   * Resolves when durable; rejects with the change's own error and stores nothing when it throws.
   * The change sees the writes of all earlier changes, also unstored ones: when those cannot be
   * stored, this one is refused with them.
   */
  write<T>(change: (tx: Tx) => T, options?: WriteOptions): Promise<T>;
  /**
   * Runs the view against one snapshot. Synchronous; no reference to the snapshot may outlive it.
   */
  read<T>(view: (snapshot: Snapshot) => T): T;
  /**
   * Iterates a table in key order in slices, yielding to other work in between. Each slice has its
   * own snapshot: a row that changes meanwhile is seen in one of its states, none is seen twice.
   * Throws `corrupt` when a scan of a whole unchanged table yields another number of rows than was
   * counted.
   */
  scan<K, V>(
    table: Table<K, V>,
    each: (batch: [K, V][]) => void | Promise<void>,
    options: { sliceMs: number; signal: AbortSignal; bounds?: Bounds },
  ): Promise<void>;
  status(): EnvStatus;
  /**
   * Copies one consistent state, compacted and verified, as `<name>.mdb` into an existing folder
   * without such a file, and then writes the report `<name>.mdb.json`: without it a copy is
   * incomplete. Sealed tables stay sealed. Yields to other work; throws the signal's reason and
   * leaves no file when that fires.
   */
  backup(directory: string, signal: AbortSignal): Promise<BackupReport>;
  close(): Promise<void>;
}

/** Opens environments in the state folder. */
export interface StateFactory {
  /** The signal ends a migration between two chunks; the next open continues it. */
  open(spec: Omit<EnvSpec, "directory">, signal?: AbortSignal): Promise<Env>;
}
