/** What seals have in common, and what a key that is split into shares adds. */
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Env } from "../../../kernel/state/types.ts";

/** The environment has sealed tables. */
export interface SealDeps {
  readonly env: Env;
  /** The state folder. */
  readonly directory: string;
  readonly ids: Ids;
  readonly log: Log;
}

export interface SealOptions {
  /** `file`: a key file opens the store at every start; `shamir`: people with shares of its key. */
  readonly type: "file" | "shamir";
  /** Absolute; replaces the key in the state folder. */
  readonly keyFile: string | undefined;
  /**
   * `$CREDENTIALS_DIRECTORY`, where systemd puts credentials: one named `tokens.key` replaces the
   * key in the state folder.
   */
  readonly credentials: string | undefined;
  /** The store holds nothing of value, as in the demo: no advice about protecting the key. */
  readonly invented?: boolean;
}

/** State of the seal. */
export interface SealStatus {
  /** There is a store that some key opens. */
  readonly initialized: boolean;
  readonly sealed: boolean;
  /** As seal-status calls it. */
  readonly type: "static" | "shamir";
  /** Shares that there are, and that unseal; 0 before the initialisation. */
  readonly shares: number;
  readonly threshold: number;
  /** Shares given so far. */
  readonly progress: number;
  /** Of the unsealing that is in progress, else empty. */
  readonly nonce: string;
  /** Why it is sealed, and what to do. */
  readonly reason: string | undefined;
  /** A recommendation about a seal that works, with the remedy. */
  readonly advisory: string | undefined;
}

export interface Seal {
  status(): SealStatus;
  /**
   * Takes the key or a share of it as hexadecimal or base64 text; resolves whether the store is
   * unsealed. Throws `invalid` for what is no key, for shares that do not make the key and when
   * there is nothing to open, `denied` for another key.
   */
  unseal(key: string): Promise<boolean>;
  /** Discards the shares given so far. */
  reset(): void;
  /**
   * The keys leave the memory; until they are given again every sealed value is out of reach.
   * `why` stands in the status's reason, if it was not sealed by `sys/seal`.
   */
  seal(why?: string): void;
  /** Present when the key is split into shares. */
  readonly shared: SharedKey | undefined;
}

/** Into how many shares a key is split, and how many of them make it. */
export interface ShareTerms {
  readonly shares: number;
  readonly threshold: number;
}

/** A new store. */
export interface Initialized {
  /** Hexadecimal; known to nobody else. */
  readonly shares: readonly Secret[];
  /** Valid from the first unsealing on. */
  readonly rootToken: Secret;
  /** To be called when shares and token were handed over: until then it can be made again. */
  readonly sent: () => void;
}

/** The key of a store that is split into shares. */
export interface SharedKey {
  /** Of the present key; undefined before the initialisation. */
  terms(): ShareTerms | undefined;
  /** Throws `invalid` when the store is initialised. */
  initialize(terms: ShareTerms): Promise<Initialized>;
  /** Whether this key opens the unsealed store. Constant time. */
  opens(key: Uint8Array): boolean;
  /** Durable when it resolves: this key (copied) opens the store as well as the present one. */
  offer(key: Uint8Array, terms: ShareTerms): Promise<void>;
  /**
   * Durable when it resolves: only this key (copied) opens the store. A crash leaves either state,
   * or that after `offer`. Does nothing when another key was offered meanwhile.
   */
  adopt(key: Uint8Array, terms: ShareTerms): Promise<void>;
  /** The root token of the initialisation, until `rootStored`. */
  initialRoot(): Secret | undefined;
  /** Removes it where the initialisation kept it. */
  rootStored(): Promise<void>;
}
