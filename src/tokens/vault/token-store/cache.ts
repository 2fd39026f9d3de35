/** Recently used tokens, so that a busy token costs no decryption. Holds no ids. */
import type { TokenRow } from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import type { TokenEntry } from "../types.ts";

/** Tokens held. */
const MAX_HELD = 10_000;

/** A stored token in both its forms. */
export interface KnownToken {
  readonly row: TokenRow;
  readonly entry: TokenEntry;
}

/** A bounded map from keys to tokens. */
export interface TokenCache<T> {
  get(key: string): T | undefined;
  set(key: string, token: T): void;
  forget(key: string): void;
}

/** The oldest goes first. */
export function createTokenCache<T>(most: number = MAX_HELD): TokenCache<T> {
  const held = new Map<string, T>();
  return {
    get: (key) => held.get(key),
    set(key, token) {
      held.set(key, token);
      if (held.size <= most) return;
      const [oldest] = held.keys();
      if (oldest !== undefined) held.delete(oldest);
    },
    forget: (key) => void held.delete(key),
  };
}
