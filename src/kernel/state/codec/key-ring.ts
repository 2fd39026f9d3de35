/**
 * The data keys of one environment in memory, and encryption with them. AES-256-GCM; each value has
 * a random 96-bit nonce; the associated data is the environment's name, the sub-database and the
 * key, so that one row cannot replace another. Data keys are stored wrapped by the root key in the
 * same way.
 */
import { createCipheriv, createDecipheriv, createSecretKey, randomFillSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { StewardError } from "../../base/errors.ts";
import { encodeKey } from "./key-bytes.ts";

/**
 * A data key is rotated after this many writes (NIST SP 800-38D allows 2^32 with random nonces).
 */
export const RETIRE_WRITES = 2 ** 30;
/** The count of writes on disk is advanced in steps of this size. */
const WRITES_STEP = 2 ** 16;
/** A key that could not be rotated is refused from here on. */
const MAX_WRITES = 2 ** 31;

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 4;
/** Nonces are drawn in batches; each is used once. */
const NONCES = 256;

/** Maximum number of data keys in a keyring; re-encryption removes those no row needs. */
const MAX_DATA_KEYS = 100;

/** A data key as stored. */
interface StoredKey {
  readonly id: number;
  /** Base64 of nonce, encrypted key and tag. */
  readonly wrapped: string;
  /** Milliseconds since 1970; missing in files from before it was stored. */
  readonly madeAtMs?: number;
}

export interface KeyringRow {
  readonly keys: readonly StoredKey[];
  /** The same keys wrapped by the root key that is about to replace the current one. */
  readonly next?: readonly StoredKey[];
  /**
   * The root key was replaced, and rows may still be encrypted by data keys that the previous one
   * wrapped.
   */
  readonly replacing?: true;
}

/** A changed keyring, in use only after `adopt`. */
export interface FreshRow {
  readonly row: KeyringRow;
  /** Activates it; call after the row is stored. A no-op when the ring was sealed meanwhile. */
  adopt(): void;
}

export interface KeyRing {
  readonly sealed: boolean;
  /** Throws `sealed` while sealed. */
  assertOpen(): void;
  readonly keys: number;
  /** Number of the newest data key, which encrypts; 0 while sealed or without a key. */
  readonly term: number;
  /** When that key was made; undefined when not recorded. */
  readonly madeAtMs: number | undefined;
  /** See `KeyringRow.replacing`. */
  readonly replacing: boolean;
  /** Upper bound on values encrypted by the newest data key. */
  readonly writes: number;
  /**
   * Loads the keys of a row; throws `denied` when the root key does not unwrap them. Without a row
   * there is no data key yet. A root key that unwraps `next` becomes the current one, and the ring
   * is `replacing`.
   */
  open(rootKey: Uint8Array, row: KeyringRow | undefined, writes: number): void;
  /** Overwrites all keys in memory. */
  seal(): void;
  /** Makes a data key; throws `sealed`, and `exhausted` when there are too many. */
  fresh(nowMs: number): FreshRow;
  /**
   * Also wraps the data keys by a further root key (copied); throws `sealed`, and `invalid` for a
   * wrong length.
   */
  offered(rootKey: Uint8Array): FreshRow;
  /**
   * Makes a data key and wraps all of them by this root key (copied) only, so that the previous
   * root key never wrapped the new one. Throws as `offered` and `fresh` do.
   */
  replaced(rootKey: Uint8Array, nowMs: number): FreshRow;
  /** Removes the data keys before this one; throws `sealed`. */
  without(olderThan: number): FreshRow;
  /** Ends `replacing`; throws `sealed`. */
  settled(): FreshRow;
  encrypt(store: string, key: Uint8Array, value: Uint8Array): Uint8Array;
  /** Undefined when the value was not encrypted at this store and key, or was changed. */
  decrypt(store: string, key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
  /** The write count to store with the running change; undefined while the stored one suffices. */
  due(): number | undefined;
  /** Notes that this count is stored. */
  counted(writes: number): void;
}

/** An empty, sealed ring of the environment with this name. */
export function createKeyRing(name: string): KeyRing {
  return new Ring(name);
}

/** Number of the data key that encrypted a value; -1 when the value is too short. */
export function dataKeyOf(sealed: Uint8Array): number {
  return sealed.length < ID_BYTES
    ? -1
    : new DataView(sealed.buffer, sealed.byteOffset, ID_BYTES).getUint32(0, true);
}

/**
 * A data key: its bytes for wrapping, and a prepared KeyObject, which saves a third of the time of
 * a row's encryption.
 */
interface DataKey {
  readonly bytes: Uint8Array;
  readonly ready: KeyObject;
  readonly madeAtMs: number | undefined;
}

/** Contents of an unsealed ring; immutable. */
interface Content {
  readonly root: Uint8Array;
  /** A further root key that unwraps the stored keyring. */
  readonly next: Uint8Array | undefined;
  readonly replacing: boolean;
  /** By number, ascending. */
  readonly keys: ReadonlyMap<number, DataKey>;
}

class Ring implements KeyRing {
  readonly #name: string;
  /** By sub-database: the prefix of the associated data. */
  readonly #prefixes = new Map<string, Uint8Array>();
  #content: Content | undefined;
  #current = 0;
  #counted = 0;
  keys = 0;
  writes = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get sealed(): boolean {
    return this.#content === undefined;
  }

  get term(): number {
    return this.#content === undefined ? 0 : this.#current;
  }

  get madeAtMs(): number | undefined {
    return this.#content?.keys.get(this.#current)?.madeAtMs;
  }

  get replacing(): boolean {
    return this.#content?.replacing === true;
  }

  assertOpen(): void {
    if (this.sealed) throw this.#isSealed();
  }

  open(rootKey: Uint8Array, row: KeyringRow = { keys: [] }, writes = 0): void {
    checkLength(rootKey);
    const current = this.#unwrap(rootKey, row.keys);
    const keys = current ?? (row.next === undefined ? undefined : this.#unwrap(rootKey, row.next));
    if (keys === undefined)
      throw new StewardError("denied", `this is not the root key of the store ${this.#name}`, {
        rule: "root key",
        remedy: "give the root key that the store was sealed with",
      });
    this.seal();
    this.#use({
      root: Uint8Array.from(rootKey),
      next: undefined,
      replacing: current === undefined || row.replacing === true,
      keys,
    });
    this.writes = writes;
    this.#counted = writes;
  }

  seal(): void {
    if (this.#content !== undefined) wipe(this.#content);
    this.#content = undefined;
  }

  fresh(nowMs: number): FreshRow {
    return this.#change((now) => ({ ...now, keys: this.#withNewKey(now, nowMs) }));
  }

  offered(rootKey: Uint8Array): FreshRow {
    checkLength(rootKey);
    return this.#change((now) => ({ ...now, next: Uint8Array.from(rootKey) }));
  }

  replaced(rootKey: Uint8Array, nowMs: number): FreshRow {
    checkLength(rootKey);
    return this.#change((now) => ({
      root: Uint8Array.from(rootKey),
      next: undefined,
      replacing: true,
      keys: this.#withNewKey(now, nowMs),
    }));
  }

  without(olderThan: number): FreshRow {
    return this.#change((now) => ({
      ...now,
      keys: new Map([...now.keys].filter(([id]) => id >= olderThan)),
    }));
  }

  settled(): FreshRow {
    return this.#change((now) => ({ ...now, replacing: false }));
  }

  encrypt(store: string, key: Uint8Array, value: Uint8Array): Uint8Array {
    const dataKey = this.#content?.keys.get(this.#current);
    if (dataKey === undefined) throw this.#isSealed();
    if (this.writes >= MAX_WRITES)
      throw new StewardError(
        "exhausted",
        `the data key of the store ${this.#name} has reached its limit of encryptions`,
        { rule: "data key", remedy: "rotate its data key" },
      );
    this.writes += 1;
    const id = Buffer.allocUnsafe(ID_BYTES);
    id.writeUInt32LE(this.#current);
    return encrypt(dataKey.ready, this.#associated(store, key), value, id);
  }

  decrypt(store: string, key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    if (this.#content === undefined) throw this.#isSealed();
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
    const dataKey = this.#content.keys.get(dataKeyOf(bytes));
    return dataKey === undefined
      ? undefined
      : decrypt(dataKey.ready, this.#associated(store, key), bytes.subarray(ID_BYTES));
  }

  due(): number | undefined {
    return this.writes > this.#counted ? this.writes + WRITES_STEP : undefined;
  }

  counted(writes: number): void {
    this.#counted = Math.max(this.#counted, writes);
  }

  #change(make: (now: Content) => Content): FreshRow {
    const now = this.#content;
    if (now === undefined) throw this.#isSealed();
    const then = make(now);
    return {
      row: this.#rowOf(then),
      adopt: () => {
        if (this.#content === now) this.#use(then);
        wipe(this.#content === then ? now : then, this.#content);
      },
    };
  }

  #use(content: Content): void {
    this.#content = content;
    this.keys = content.keys.size;
    const newest = Math.max(0, ...content.keys.keys());
    if (newest !== this.#current) {
      this.writes = 0;
      this.#counted = 0;
    }
    this.#current = newest;
  }

  #withNewKey({ keys }: Content, nowMs: number): ReadonlyMap<number, DataKey> {
    if (keys.size >= MAX_DATA_KEYS) {
      throw new StewardError(
        "exhausted",
        `the store ${this.#name} holds ${keys.size} data keys, the maximum`,
        { rule: "data keys", remedy: "wait until the rows of the older ones are re-encrypted" },
      );
    }
    return new Map(keys).set(
      this.#current + 1,
      ready(randomFillSync(new Uint8Array(KEY_BYTES)), nowMs),
    );
  }

  #rowOf({ root, next, replacing, keys }: Content): KeyringRow {
    return {
      keys: this.#wrap(root, keys),
      ...(next === undefined ? {} : { next: this.#wrap(next, keys) }),
      ...(replacing ? { replacing } : {}),
    };
  }

  #wrap(root: Uint8Array, keys: Content["keys"]): readonly StoredKey[] {
    return Array.from(keys, ([id, { bytes, madeAtMs }]) => {
      const wrapped = encrypt(root, this.#wrapping(id), bytes).toString("base64");
      return { id, wrapped, ...(madeAtMs === undefined ? {} : { madeAtMs }) };
    });
  }

  /** Undefined when the root key does not unwrap all of them. */
  #unwrap(
    root: Uint8Array,
    stored: readonly StoredKey[],
  ): ReadonlyMap<number, DataKey> | undefined {
    const keys = new Map<number, DataKey>();
    for (const { id, wrapped, madeAtMs } of stored) {
      const bytes = decrypt(root, this.#wrapping(id), Buffer.from(wrapped, "base64"));
      if (bytes === undefined) return undefined;
      keys.set(id, ready(bytes, madeAtMs));
    }
    return keys;
  }

  #isSealed(): StewardError {
    return new StewardError("sealed", `the store ${this.#name} is sealed`, {
      remedy: "unseal it with its root key",
    });
  }

  #associated(store: string, key: Uint8Array): Uint8Array {
    let prefix = this.#prefixes.get(store);
    if (prefix === undefined)
      this.#prefixes.set(store, (prefix = encodeKey(["row", this.#name, store])));
    return Buffer.concat([prefix, key]);
  }

  #wrapping(id: number): Uint8Array {
    return encodeKey(["data key", this.#name, id]);
  }
}

function checkLength(rootKey: Uint8Array): void {
  if (rootKey.length !== KEY_BYTES)
    throw new StewardError(
      "invalid",
      `a root key has ${KEY_BYTES} bytes, this one ${rootKey.length}`,
      { rule: "root key" },
    );
}

function ready(bytes: Uint8Array, madeAtMs: number | undefined): DataKey {
  return { bytes, ready: createSecretKey(bytes), madeAtMs };
}

/** Overwrites the keys of a content, except those shared with another one that stays in use. */
function wipe(content: Content, used?: Content): void {
  for (const root of [content.root, content.next])
    if (root !== used?.root && root !== used?.next) root?.fill(0);
  for (const [id, { bytes }] of content.keys)
    if (used?.keys.get(id)?.bytes !== bytes) bytes.fill(0);
}

const NOTHING = new Uint8Array(0);
const nonces = new Uint8Array(NONCES * NONCE_BYTES);
let noncesUsed = NONCES;

function nextNonce(): Uint8Array {
  if (noncesUsed === NONCES) {
    randomFillSync(nonces);
    noncesUsed = 0;
  }
  const at = noncesUsed * NONCE_BYTES;
  noncesUsed += 1;
  return nonces.subarray(at, at + NONCE_BYTES);
}

/** `head` is written unencrypted before the nonce. */
function encrypt(
  key: Uint8Array | KeyObject,
  associated: Uint8Array,
  plain: Uint8Array,
  head: Uint8Array = NOTHING,
): Buffer {
  const nonce = nextNonce();
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associated);
  const body = cipher.update(plain);
  cipher.final(); // of this mode nothing is left, but the tag is made here
  return Buffer.concat([head, nonce, body, cipher.getAuthTag()]);
}

function decrypt(
  key: Uint8Array | KeyObject,
  associated: Uint8Array,
  sealed: Buffer,
): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(associated)
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return undefined; // the tag does not fit
  }
}
