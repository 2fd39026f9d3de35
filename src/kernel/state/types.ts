/**
 * The shapes of durable state: environments, typed tables, transactions and snapshots (KERNEL §1.3,
 * §2). One thread writes an environment; a resolved write is a flushed one; readers see one
 * consistent snapshot.
 */

/**
 * Turns a value into the bytes that are stored and back. `read` may assume that the bytes are
 * whole.
 */
export interface ValueCodec<V> {
  write(value: V): Uint8Array;
  read(bytes: Uint8Array): V;
}

/** What a key is made of; every shape keeps its natural order on disk. */
export type KeyPart = string | number;

/** How a table's keys look to the caller. */
export interface KeyCodec<K> {
  /** Order-preserving parts: strings up to 1,500 bytes, non-negative safe integers. */
  toParts(key: K): readonly KeyPart[];
  fromParts(parts: readonly KeyPart[]): K;
}

/** A further way to find a row. Maintained inside the same transaction as the row. */
export interface Index<K, V> {
  readonly name: string;
  /** The index keys of a row; none leaves it out. */
  of(value: V, key: K): readonly (readonly KeyPart[])[];
  /** A second row with the same index key is refused with `conflict`. */
  readonly unique: boolean;
}

/** A table as declared once by `defineTable`. */
export interface Table<K, V> {
  readonly name: string;
  readonly key: KeyCodec<K>;
  readonly value: ValueCodec<V>;
  readonly indexes: readonly Index<K, V>[];
  readonly limit: { readonly rows: number };
  /**
   * Values lie encrypted on disk. Keys and index keys do not, so nothing secret may stand in them.
   */
  readonly sealed: boolean;
}

/** A table whose row type does not matter. */
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
  /** Rows in key order. A damaged row throws `corrupt`, it is never left out. */
  range<K, V>(table: Table<K, V>, bounds?: Bounds): Iterable<[K, V]>;
  /** Keys of the rows that an index holds under these parts (or this prefix of them). */
  find<K, V>(table: Table<K, V>, index: string, parts: readonly KeyPart[]): K[];
  count(table: AnyTable): number;
}

/** A write in progress. Synchronous, at most about 2 ms and 1 MiB. */
export interface Tx extends Snapshot {
  put<K, V>(table: Table<K, V>, key: K, value: V): void;
  delete<K, V>(table: Table<K, V>, key: K): boolean;
  /** Runs after the write is durable, in commit order. Not run when the write fails. */
  after(effect: () => void): void;
}

/** Leads a file from one schema to the next. */
export interface Migration {
  /** The schema it starts from; it leads to the one after. */
  readonly from: number;
  /**
   * Tables in the shape that it reads. The same names as now are fine: it deletes a row through the
   * old and puts it through the new.
   */
  readonly tables: readonly AnyTable[];
  /**
   * One chunk of the work, within the bounds of a change. Stored together with the cursor it gives,
   * so an interrupted migration goes on where it was; undefined ends it. The first call gets
   * undefined. May run twice on the same rows only when its change was not stored.
   */
  step(tx: Tx, cursor: readonly KeyPart[] | undefined): readonly KeyPart[] | undefined;
}

/** What an environment is. */
export interface EnvSpec {
  readonly name: string;
  /** Folder that holds the environment's file. */
  readonly directory: string;
  readonly tables: readonly AnyTable[];
  /** Version of the stored shapes; a newer file is refused. */
  readonly schema: number;
  /**
   * How older files come to this schema, one row for each step. A file that none leads on from is
   * refused.
   */
  readonly migrations?: readonly Migration[];
  /** Can be rebuilt from other state: a damaged or foreign one is set aside and made anew. */
  readonly derived: boolean;
  /** The most the file may grow to. */
  readonly maxBytes: number;
}

/** Figures of an environment. */
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

/** How a change is taken. */
export interface WriteOptions {
  /**
   * May use the room that is kept for the time when the disk is full, e.g. to note that something
   * was revoked. Such a change may run a second time, when the first was not stored.
   */
  readonly urgent?: boolean;
  /**
   * Runs after the change and throws when it must not be stored after all, e.g. because leadership
   * was lost: nothing of it is, and the write rejects with what was thrown. It waits for the group
   * before it; its own commit follows without giving way to other work, but takes the time of a
   * flush; who guards by a lease gives up that much before it ends.
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
  /** When the copied state was the current one, milliseconds since 1970. */
  readonly madeAtMs: number;
}

/** How the keys of an environment stand. */
export interface KeyringStatus {
  /** True until the root key was given. */
  readonly sealed: boolean;
  /** Data keys, of which the newest encrypts. */
  readonly keys: number;
  /** What that one encrypted; after a restart up to 65,536 too high. */
  readonly writes: number;
  /** Its number, which grows by one with each; 0 while sealed. */
  readonly term: number;
  /**
   * When it was made, milliseconds since 1970; undefined while sealed and for a key from before
   * this was kept.
   */
  readonly madeAtMs: number | undefined;
  /** The root key was replaced, and what was encrypted before may not all be encrypted anew yet. */
  readonly replacing: boolean;
}

/** The keys of an environment with sealed tables (docs/decisions/state-seal.md). */
export interface Keyring {
  status(): KeyringStatus;
  /**
   * Takes the root key (32 bytes, copied) and with it the data keys; the first call ever makes the
   * first data key. Throws `denied` for a wrong root key and `invalid` for one of another length.
   */
  unseal(rootKey: Uint8Array): Promise<void>;
  /**
   * Overwrites root and data keys in memory: reads and writes of sealed tables throw `sealed` from
   * then on. The crypto library's own copies of the data keys are cleared with the next garbage
   * collection.
   */
  seal(): void;
  /**
   * Makes a new data key for what is written from now on; older rows keep theirs. Throws `sealed`,
   * and `exhausted` at 100 data keys.
   */
  rotate(): Promise<void>;
  /**
   * Encrypts every row that has an older data key with the newest one, in small changes, and
   * removes the older keys. Resolves with the number of rows; `progress` gets it after each change.
   * Throws the signal's reason, `sealed`, and `corrupt` for a row that cannot be read; the older
   * keys stay then, and another call goes on.
   */
  reencrypt(signal: AbortSignal, progress?: (rows: number) => void): Promise<number>;
  /**
   * Lets a further root key (32 bytes, copied) unseal as well, until the current one is replaced,
   * or until the file is opened by the current one and its keyring changes. Unsealed by the further
   * one, the environment is `replacing`. Throws `sealed`, and `invalid` for a key of another
   * length.
   */
  offerRootKey(rootKey: Uint8Array): Promise<void>;
  /**
   * Makes a new data key, and from the moment it resolves this root key (copied) alone unseals; no
   * other one ever wrapped the new data key. Older rows keep theirs until `reencrypt`. A crash
   * leaves what was or what is. Backups keep the root key they were made under. Throws as
   * `offerRootKey` and `rotate` do.
   */
  replaceRootKey(rootKey: Uint8Array): Promise<void>;
  /** Notes that nothing is left of the root key that was replaced. */
  settleRootKey(): Promise<void>;
}

/** An open environment. */
export interface Env {
  readonly name: string;
  /** Of its sealed tables; undefined when it has none. */
  readonly keyring: Keyring | undefined;
  /**
   * Resolves when durable; rejects with the change's own error and stores nothing when it throws.
   * The change sees what all changes before it wrote, also what is not stored yet: when that cannot
   * be stored, this one is refused with it.
   */
  write<T>(change: (tx: Tx) => T, options?: WriteOptions): Promise<T>;
  /**
   * Runs the view against one snapshot. Synchronous; no reference to the snapshot may outlive it.
   */
  read<T>(view: (snapshot: Snapshot) => T): T;
  /**
   * Walks a table in key order in slices, giving way to other work between them. Each slice has its
   * own snapshot: a row that changes meanwhile is seen in one of its states, none is seen twice.
   * Throws `corrupt` when a walk over a whole table, with no change meanwhile, shows other rows
   * than were counted.
   */
  scan<K, V>(
    table: Table<K, V>,
    each: (batch: [K, V][]) => void | Promise<void>,
    options: { sliceMs: number; signal: AbortSignal; bounds?: Bounds },
  ): Promise<void>;
  status(): EnvStatus;
  /**
   * Copies one consistent state, compacted and verified, as `<name>.mdb` into an existing folder
   * that has no such file, and then writes `<name>.mdb.json`, the report: without it a copy is not
   * complete. Sealed tables stay sealed. Gives way to other work; throws the signal's reason and
   * leaves no file when that fires.
   */
  backup(directory: string, signal: AbortSignal): Promise<BackupReport>;
  close(): Promise<void>;
}

/** Opens environments below the state folder. */
export interface StateFactory {
  /** The signal ends a migration between two chunks; the next open goes on with it. */
  open(spec: Omit<EnvSpec, "directory">, signal?: AbortSignal): Promise<Env>;
}
