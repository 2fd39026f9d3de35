/**
 * The seal of a store whose key is split into shares (Shamir): sealed at every start, until enough
 * people have given theirs. Every step is durable before the next; after each of them the store
 * opens by the old or by the new shares, never by neither (docs/decisions/tokens-shares.md).
 */
import { createSerial } from "../../../kernel/async/serial.ts";
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Keyring } from "../../../kernel/state/types.ts";
import { newRootId } from "../root.ts";
import { assertTerms, parseShare, splitKey } from "./key-shares.ts";
import { newKey } from "./root-key.ts";
import { createShareProgress, type ShareProgress } from "./share-progress.ts";
import {
  decryptToken,
  encryptToken,
  isKnownKey,
  knownKey,
  storedSeal,
  storeSeal,
  type KnownKey,
  type StoredSeal,
} from "./stored-seal.ts";
import type { Initialized, Seal, SealDeps, SealStatus, SharedKey, ShareTerms } from "./types.ts";

export type ShamirSealDeps = Pick<SealDeps, "env" | "ids" | "log"> & { readonly keyring: Keyring };

/** Sealed. */
export function openShamirSeal(deps: ShamirSealDeps): Seal {
  const seal = new ShamirSeal(deps);
  deps.log.warn("the store of tokens is closed until people open it", {
    reason: seal.status().reason ?? "",
  });
  return seal;
}

class ShamirSeal implements Seal, SharedKey {
  readonly #deps: ShamirSealDeps;
  readonly #progress: ShareProgress;
  /** One change of the key at a time, and one share. */
  readonly #inTurn = createSerial();
  #stored: StoredSeal | undefined;
  #initialRoot: Secret | undefined;
  #why = "sealed";

  constructor(deps: ShamirSealDeps) {
    this.#deps = deps;
    this.#progress = createShareProgress(deps.ids);
    this.#stored = storedSeal(deps.env);
  }

  get shared(): SharedKey {
    return this;
  }

  status(): SealStatus {
    const { sealed } = this.#deps.keyring.status();
    const { shares = 0, threshold = 0 } = this.terms() ?? {};
    return {
      initialized: this.#stored !== undefined,
      sealed,
      type: "shamir",
      shares,
      threshold,
      progress: this.#progress.count,
      nonce: this.#progress.nonce,
      reason: sealed ? this.#reason() : undefined,
      advisory: undefined,
    };
  }

  terms(): ShareTerms | undefined {
    return this.#stored?.current;
  }

  initialize(terms: ShareTerms): Promise<Initialized> {
    return this.#inTurn(async () => {
      if (this.#stored !== undefined && !this.#isUndelivered(this.#stored))
        throw new StewardError("invalid", "Vault is already initialized", { rule: "initialized" });
      assertTerms(terms);
      const { ids, log } = this.#deps;
      const [key, rootToken] = [newKey(ids), newRootId(ids)];
      const current = knownKey(key, terms);
      // The data key and the token are made at the first unsealing, so that this is one change.
      await this.#store({
        current,
        rootToken: encryptToken(rootToken, key, ids),
        delivered: false,
      });
      this.#progress.reset();
      const shares = splitKey(key, terms, ids);
      key.fill(0);
      log.info("the store of tokens is initialised; its key is split into shares", {
        shares: terms.shares,
        threshold: terms.threshold,
      });
      return { shares, rootToken, sent: () => this.#delivered(current) };
    });
  }

  unseal(text: string): Promise<boolean> {
    const share = parseShare(text);
    return this.#inTurn(() => this.#take(share));
  }

  reset(): void {
    this.#progress.reset();
  }

  seal(why = "sealed"): void {
    this.#deps.keyring.seal();
    this.#why = why;
    this.#progress.reset();
    this.#initialRoot = undefined;
    this.#deps.log.warn("the store of tokens is sealed until enough key shares are given");
  }

  opens(key: Uint8Array): boolean {
    return (
      !this.#deps.keyring.status().sealed &&
      this.#known().filter((known) => isKnownKey(key, known)).length > 0
    );
  }

  offer(key: Uint8Array, terms: ShareTerms): Promise<void> {
    return this.#inTurn(async () => {
      await this.#store({ ...this.#present(), next: knownKey(key, terms) });
      await this.#deps.keyring.offerRootKey(key);
    });
  }

  adopt(key: Uint8Array, terms: ShareTerms): Promise<void> {
    return this.#inTurn(async () => {
      const { next } = this.#present();
      if (next === undefined || !isKnownKey(key, next)) return;
      await this.#replace(key, knownKey(key, terms));
      this.#deps.log.info("the key of the tokens store was replaced; only its new shares unseal", {
        shares: terms.shares,
        threshold: terms.threshold,
      });
    });
  }

  initialRoot(): Secret | undefined {
    return this.#initialRoot;
  }

  async rootStored(): Promise<void> {
    await this.#inTurn(async () => {
      this.#initialRoot = undefined;
      const { rootToken: _, ...rest } = this.#present();
      await this.#store({ ...rest, delivered: true });
    });
  }

  async #take(share: Uint8Array): Promise<boolean> {
    if (this.#stored === undefined)
      throw new StewardError("invalid", "Vault is not initialized", {
        rule: "initialized",
        remedy: "initialise it with sys/init",
      });
    if (!this.#deps.keyring.status().sealed) return true;
    if (!this.#progress.add(share)) return false;
    const known = this.#known();
    for (const one of known.filter(({ threshold }) => threshold === this.#progress.count)) {
      const key = this.#progress.combined();
      if (key === undefined || !isKnownKey(key, one)) continue;
      this.#progress.reset();
      await this.#open(key, one);
      return true;
    }
    if (this.#progress.count < Math.max(...known.map(({ threshold }) => threshold))) return false;
    this.#progress.reset();
    throw wrongShares();
  }

  async #open(key: Uint8Array, known: KnownKey): Promise<void> {
    const { keyring, log } = this.#deps;
    try {
      // Before anything is made that depends on the shares: `sys/init` must not replace them then.
      await this.#storeDelivered();
      await keyring.unseal(key);
      const stored = this.#present();
      // One of two keys has opened the store: from now on it is the only one.
      if (stored.next !== undefined) await this.#replace(key, known);
      if (stored.rootToken !== undefined) this.#initialRoot = decryptToken(stored.rootToken, key);
      log.info("the store of tokens is unsealed");
    } catch (thrown) {
      keyring.seal();
      // The key was replaced right before a crash.
      throw toStewardError(thrown).code === "denied" ? wrongShares(thrown) : thrown;
    } finally {
      key.fill(0);
    }
  }

  async #replace(key: Uint8Array, known: KnownKey): Promise<void> {
    await this.#deps.keyring.replaceRootKey(key);
    const { next: _, ...rest } = this.#present();
    await this.#store({ ...rest, current: known });
  }

  async #store(seal: StoredSeal): Promise<void> {
    await storeSeal(this.#deps.env, seal);
    this.#stored = seal;
  }

  #delivered({ check }: KnownKey): void {
    this.#inTurn(async () => {
      if (this.#present().current.check === check) await this.#storeDelivered();
    }).catch((thrown: unknown) =>
      this.#deps.log.warn("storing that the key shares were sent failed", {
        error: toStewardError(thrown),
        remedy: "unseal the store; until then sys/init makes new shares",
      }),
    );
  }

  async #storeDelivered(): Promise<void> {
    const stored = this.#present();
    if (!stored.delivered) await this.#store({ ...stored, delivered: true });
  }

  /** Its shares were lost on their way, and nothing depends on them. */
  #isUndelivered({ delivered, rootToken }: StoredSeal): boolean {
    return !delivered && rootToken !== undefined && this.#deps.keyring.status().sealed;
  }

  #known(): readonly KnownKey[] {
    const { current, next } = this.#present();
    return next === undefined ? [current] : [current, next];
  }

  #present(): StoredSeal {
    if (this.#stored === undefined)
      throw new StewardError("internal", "assertion failed: the store is initialised");
    return this.#stored;
  }

  #reason(): string {
    const terms = this.terms();
    if (terms === undefined) return "not initialised: make the key shares with sys/init";
    const { shares, threshold } = terms;
    return `${this.#why}: give ${threshold} of ${shares} key shares to sys/unseal (${this.#progress.count} given)`;
  }
}

function wrongShares(cause?: unknown): StewardError {
  return new StewardError(
    "invalid",
    "invalid key: these shares do not make the key of this store; they were discarded, give all of them again",
    { field: "key", rule: "key shares", ...(cause === undefined ? {} : { cause }) },
  );
}
