/**
 * The tokens the host has minted, known by hash alone, so that nothing can print one. Bounded: the
 * dead are forgotten first.
 */
import { hash } from "node:crypto";
import type { MintedToken, TokenCounts } from "../types.ts";

/** Remembers tokens. Instants are of the host's clock. */
export interface TokenStore {
  add(token: string, facts: Omit<MintedToken, "number" | "hash" | "revokedAtMs">): void;
  /** The token with this text, if it is neither revoked nor expired nor forgotten. */
  living(token: string, nowMs: number): MintedToken | undefined;
  revoke(token: MintedToken, nowMs: number): void;
  find(tokenHash: string): MintedToken | undefined;
  all(): readonly MintedToken[];
  live(nowMs: number): readonly MintedToken[];
  counts(nowMs: number): TokenCounts;
}

interface Entry extends MintedToken {
  revokedAtMs: number | undefined;
}

/**
 * At the limit a sixteenth is evicted at once, so that finding expired tokens costs little per
 * token.
 */
const SWEEP_SHARE = 16;

/** Remembers at most `kept` tokens. */
export function createTokenStore(kept: number): TokenStore {
  const entries = new Map<string, Entry>();
  let minted = 0;
  let revoked = 0;
  let dropped = 0;
  let sweepAt = 0;

  const alive = (entry: Entry, nowMs: number): boolean =>
    entry.revokedAtMs === undefined && nowMs < entry.expiresAtMs;
  const makeRoom = (nowMs: number): void => {
    if (minted >= sweepAt) {
      sweepAt = minted + Math.max(1, Math.floor(kept / SWEEP_SHARE));
      for (const [key, entry] of entries) if (!alive(entry, nowMs)) entries.delete(key);
    }
    if (entries.size < kept) return;
    const [oldest] = entries.values();
    if (oldest === undefined) return;
    if (alive(oldest, nowMs)) dropped += 1;
    entries.delete(oldest.hash);
  };
  const live = (nowMs: number): Entry[] =>
    [...entries.values()].filter((entry) => alive(entry, nowMs));
  return {
    add(token, facts) {
      if (entries.size >= kept) makeRoom(facts.mintedAtMs);
      minted += 1;
      const key = hash("sha256", token, "base64");
      entries.set(key, { number: minted, hash: key, ...facts, revokedAtMs: undefined });
    },
    living(token, nowMs) {
      const entry = entries.get(hash("sha256", token, "base64"));
      return entry !== undefined && alive(entry, nowMs) ? entry : undefined;
    },
    revoke(token, nowMs) {
      const entry = entries.get(token.hash);
      if (entry === undefined || entry.revokedAtMs !== undefined) return;
      entry.revokedAtMs = nowMs;
      revoked += 1;
    },
    find: (tokenHash) => copyOf(entries.get(tokenHash)),
    all: () => [...entries.values()].map((entry) => ({ ...entry })),
    live: (nowMs) => live(nowMs).map((entry) => ({ ...entry })),
    counts: (nowMs) => ({ minted, revoked, live: live(nowMs).length, dropped, kept: entries.size }),
  };
}

function copyOf(entry: Entry | undefined): MintedToken | undefined {
  return entry === undefined ? undefined : { ...entry };
}
