/**
 * The data keys of one environment in memory, and what they do. AES-256-GCM; each value has a nonce of 96 random bits; the
 * associated data is the environment's name, the sub-database and the key, so that no row stands in for another. Data keys are
 * stored wrapped by the root key in the same way.
 */
import { createCipheriv, createDecipheriv, createSecretKey, randomFillSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { StewardError } from "../base/errors.ts";
import { encodeKey } from "./key-bytes.ts";

/** A data key retires after so many writes (NIST SP 800-38D allows 2^32 with random nonces). */
export const RETIRE_WRITES: number = 2 ** 30;
/** Writes are counted on disk in advance, in steps of this. */
const WRITES_STEP = 2 ** 16;
/** When a key could not be replaced, it is refused from here on. */
const MOST_WRITES = 2 ** 31;

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 4;
/** Nonces are drawn so many at once; each is used once. */
const NONCES = 256;

/** The stored keyring. */
export interface KeyringRow {
  readonly keys: readonly { readonly id: number; /** Base64 of nonce, encrypted key and tag. */ readonly wrapped: string }[];
}

/** A changed keyring that is not in use before it is stored. */
export interface FreshRow {
  readonly row: KeyringRow;
  /** Takes it into use; the caller has stored the row. */
  adopt(): void;
}

/** The keys in memory. */
export interface KeyRing {
  readonly sealed: boolean;
  /** Throws `sealed` while it is. */
  assertOpen(): void;
  readonly keys: number;
  /** What the newest data key may have encrypted. */
  readonly writes: number;
  /** Takes the keys of a row; throws `denied` when the root key does not open them. Without a row it holds no data key yet. */
  open(rootKey: Uint8Array, row: KeyringRow | undefined, writes: number): void;
  /** Overwrites all keys. */
  seal(): void;
  /** Makes a data key; throws `sealed`. */
  fresh(): FreshRow;
  /** Wraps the data keys by another root key (copied); throws `sealed`, and `invalid` for one of another length. */
  rewrapped(rootKey: Uint8Array): FreshRow;
  encrypt(store: string, key: Uint8Array, value: Uint8Array): Uint8Array;
  /** Undefined when the value is not what was encrypted there. */
  decrypt(store: string, key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
  /** The count of writes to store with the change that runs, undefined while the stored one holds. */
  due(): number | undefined;
  /** That count is stored. */
  counted(writes: number): void;
}

/** An empty, sealed ring of the environment with this name. */
export function createKeyRing(name: string): KeyRing {
  return new Ring(name);
}

/** A data key: the bytes to wrap it, and the same made ready, which takes a third of the time of a row's encryption. */
interface DataKey {
  readonly bytes: Uint8Array;
  readonly ready: KeyObject;
}

class Ring implements KeyRing {
  readonly #name: string;
  readonly #keys = new Map<number, DataKey>();
  /** By sub-database: what stands before the row's key in the associated data. */
  readonly #prefixes = new Map<string, Uint8Array>();
  #root: Uint8Array | undefined;
  #row: KeyringRow = { keys: [] };
  #current = 0;
  #counted = 0;
  writes = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get sealed(): boolean {
    return this.#root === undefined;
  }

  get keys(): number {
    return this.#row.keys.length;
  }

  assertOpen(): void {
    if (this.sealed) throw this.#isSealed();
  }

  open(rootKey: Uint8Array, row: KeyringRow | undefined, writes: number): void {
    checkLength(rootKey);
    const opened = (row?.keys ?? []).map(({ id, wrapped }) => {
      const key = decrypt(rootKey, this.#wrapping(id), Buffer.from(wrapped, "base64"));
      if (key === undefined) throw new StewardError("denied", `this is not the root key of the store ${this.#name}`, { rule: "root key", remedy: "give the root key that it was sealed with" });
      return [id, ready(key)] as const;
    });
    this.seal();
    this.#root = Uint8Array.from(rootKey);
    for (const [id, key] of opened) this.#keys.set(id, key);
    this.#row = row ?? { keys: [] };
    this.#current = Math.max(0, ...this.#keys.keys());
    this.writes = writes;
    this.#counted = writes;
  }

  seal(): void {
    this.#root?.fill(0);
    for (const { bytes } of this.#keys.values()) bytes.fill(0);
    this.#root = undefined;
    this.#keys.clear();
  }

  fresh(): FreshRow {
    const root = this.#root;
    if (root === undefined) throw this.#isSealed();
    const id = this.#current + 1;
    const key = randomFillSync(new Uint8Array(KEY_BYTES));
    const row = { keys: [...this.#row.keys, { id, wrapped: encrypt(root, this.#wrapping(id), key).toString("base64") }] };
    return {
      row,
      adopt: () => {
        this.#row = row;
        if (this.#root !== undefined) this.#keys.set(id, ready(key));
        this.#current = id;
        this.writes = 0;
        this.#counted = 0;
      },
    };
  }

  rewrapped(rootKey: Uint8Array): FreshRow {
    checkLength(rootKey);
    if (this.#root === undefined) throw this.#isSealed();
    const root = Uint8Array.from(rootKey);
    const row = { keys: Array.from(this.#keys, ([id, { bytes }]) => ({ id, wrapped: encrypt(root, this.#wrapping(id), bytes).toString("base64") })) };
    return {
      row,
      adopt: () => {
        this.#row = row;
        if (this.#root === undefined) root.fill(0);
        else {
          this.#root.fill(0);
          this.#root = root;
        }
      },
    };
  }

  encrypt(store: string, key: Uint8Array, value: Uint8Array): Uint8Array {
    const dataKey = this.#keys.get(this.#current);
    if (dataKey === undefined) throw this.#isSealed();
    if (this.writes >= MOST_WRITES) throw new StewardError("exhausted", `the data key of the store ${this.#name} has encrypted all it may`, { rule: "data key", remedy: "rotate its data key" });
    this.writes += 1;
    const id = Buffer.allocUnsafe(ID_BYTES);
    id.writeUInt32LE(this.#current);
    return encrypt(dataKey.ready, this.#associated(store, key), value, id);
  }

  decrypt(store: string, key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    if (this.sealed) throw this.#isSealed();
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
    const dataKey = bytes.length < ID_BYTES ? undefined : this.#keys.get(bytes.readUInt32LE());
    return dataKey === undefined ? undefined : decrypt(dataKey.ready, this.#associated(store, key), bytes.subarray(ID_BYTES));
  }

  due(): number | undefined {
    return this.writes > this.#counted ? this.writes + WRITES_STEP : undefined;
  }

  counted(writes: number): void {
    this.#counted = Math.max(this.#counted, writes);
  }

  #isSealed(): StewardError {
    return new StewardError("sealed", `the store ${this.#name} is sealed`, { remedy: "unseal it with its root key" });
  }

  #associated(store: string, key: Uint8Array): Uint8Array {
    let prefix = this.#prefixes.get(store);
    if (prefix === undefined) this.#prefixes.set(store, (prefix = encodeKey(["row", this.#name, store])));
    return Buffer.concat([prefix, key]);
  }

  #wrapping(id: number): Uint8Array {
    return encodeKey(["data key", this.#name, id]);
  }
}

function checkLength(rootKey: Uint8Array): void {
  if (rootKey.length !== KEY_BYTES) throw new StewardError("invalid", `a root key has ${KEY_BYTES} bytes, this one ${rootKey.length}`, { rule: "root key" });
}

function ready(bytes: Uint8Array): DataKey {
  return { bytes, ready: createSecretKey(bytes) };
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

/** `head` stands before the nonce, as it is. */
function encrypt(key: Uint8Array | KeyObject, associated: Uint8Array, plain: Uint8Array, head: Uint8Array = NOTHING): Buffer {
  const nonce = nextNonce();
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associated);
  const body = cipher.update(plain);
  cipher.final(); // of this mode nothing is left, but the tag is made here
  return Buffer.concat([head, nonce, body, cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array | KeyObject, associated: Uint8Array, sealed: Buffer): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES }).setAAD(associated).setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return undefined; // the tag does not fit
  }
}
