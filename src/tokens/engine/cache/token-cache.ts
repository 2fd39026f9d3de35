/**
 * The tokens of one mount and configuration that may answer further equal requests. Off unless
 * `token_cache_min_ttl` is set; see `docs/decisions/token-cache.md`. In memory: after a start, a
 * seal or a change of the configuration it is empty, and the leases end the tokens.
 */
import type { Sharing } from "../../logical/types.ts";
import type { FreshToken } from "../types.ts";
import { Flight } from "./flight.ts";

/** Tokens of a mount; the least recently used make way. */
const MAX_TOKENS = 1_000;
/** Sum of the platform's answers; some hold thousands of repositories. */
const MAX_BYTES = 8 * 1024 * 1024;

export interface TokenCacheDeps {
  readonly sharing: Sharing;
  /** The platform's clock. */
  readonly nowMs: () => number;
}

/** A token that may get a lease. */
export interface SharedToken extends FreshToken {
  /** See `Sharing`. */
  readonly share: string;
}

/** A mint. `share` is unique for ever; `path` includes the mount. */
export interface Minting {
  readonly share: string;
  readonly path: string;
  readonly permissionSet: string | undefined;
  readonly signal: AbortSignal;
  readonly mint: (signal: AbortSignal) => Promise<FreshToken>;
  /**
   * The key of the requests that a token may answer. It is not the key of this one when the
   * platform replaced the installation meanwhile.
   */
  readonly keyOf: (token: FreshToken) => string;
}

export interface Taken {
  readonly token: SharedToken;
  /** It was minted for another request. */
  readonly reused: boolean;
}

interface Held {
  readonly token: SharedToken;
  readonly permissionSet: string | undefined;
}

interface Flying {
  readonly flight: Flight<SharedToken>;
  readonly permissionSet: string | undefined;
}

export class TokenCache {
  readonly #deps: TokenCacheDeps;
  readonly #minTtlMs: number;
  /** Least recently used first. */
  readonly #held = new Map<string, Held>();
  readonly #flights = new Map<string, Flying>();
  #bytes = 0;

  constructor(deps: TokenCacheDeps, minTtlMs: number) {
    this.#deps = deps;
    this.#minTtlMs = minTtlMs;
  }

  /** Tokens that would answer a request now. */
  get size(): number {
    this.#removeWhere((held) => !this.#isGood(held));
    return this.#held.size;
  }

  /**
   * A token for the key: a held one, the one that is being minted, or a new one. Undefined when the
   * one that was being minted has another key.
   */
  async take(key: string, minting: Minting): Promise<Taken | undefined> {
    const { sharing } = this.#deps;
    for (;;) {
      // No await between the look and the start of a flight, else several would start.
      const held = this.#use(key);
      const flight = this.#flights.get(key)?.flight;
      if (held === undefined && flight === undefined) {
        sharing.seen("miss");
        return { token: await this.#fly(key, minting), reused: false };
      }
      const token = held ?? (await flight?.join(minting.signal));
      if (token === undefined) continue;
      if (minting.keyOf(token) !== key) return undefined;
      sharing.seen("hit");
      return { token, reused: true };
    }
  }

  /** Forgets the tokens of a permission set, also those being minted. Their leases stay. */
  forget(permissionSet: string): void {
    for (const [key, flying] of this.#flights)
      if (flying.permissionSet === permissionSet) this.#flights.delete(key);
    this.#removeWhere((held) => held.permissionSet === permissionSet);
  }

  /** Marks it as used. */
  #use(key: string): SharedToken | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    this.#remove(key, held);
    if (!this.#isGood(held)) return undefined;
    this.#add(key, held);
    return held.token;
  }

  async #fly(key: string, minting: Minting): Promise<SharedToken> {
    const flight = new Flight(minting.signal, (signal) => this.#mint(minting, signal));
    const flying = { flight, permissionSet: minting.permissionSet };
    this.#flights.set(key, flying);
    try {
      const minted = await flight.outcome;
      // Forgotten meanwhile: it answers those who wait, and nobody after them.
      if (this.#flights.get(key) === flying)
        this.#hold(minting.keyOf(minted), minting.permissionSet, minted);
      return minted;
    } finally {
      if (this.#flights.get(key) === flying) this.#flights.delete(key);
    }
  }

  async #mint({ share, path, mint }: Minting, signal: AbortSignal): Promise<SharedToken> {
    const token = { ...(await mint(signal)), share };
    // Before anyone gets it: leases of those who wait may be registered first.
    this.#deps.sharing.open(share, path);
    return token;
  }

  #hold(key: string, permissionSet: string | undefined, token: SharedToken): void {
    if (token.bytes > MAX_BYTES) return;
    const before = this.#held.get(key);
    if (before !== undefined) this.#remove(key, before);
    this.#add(key, { token, permissionSet });
    for (const [oldest, held] of this.#held) {
      if (this.#held.size <= MAX_TOKENS && this.#bytes <= MAX_BYTES) break;
      this.#remove(oldest, held);
    }
  }

  #isGood({ token }: Held): boolean {
    const leftMs = token.expiresAtMs - this.#deps.nowMs();
    return leftMs >= this.#minTtlMs && this.#deps.sharing.isOpen(token.share);
  }

  #add(key: string, held: Held): void {
    this.#held.set(key, held);
    this.#bytes += held.token.bytes;
  }

  #remove(key: string, held: Held): void {
    this.#held.delete(key);
    this.#bytes -= held.token.bytes;
  }

  #removeWhere(test: (held: Held) => boolean): void {
    for (const [key, held] of this.#held) if (test(held)) this.#remove(key, held);
  }
}
