/**
 * The tokens: who a secret is, until when, how often, and what came of it. A service token is a row
 * under the HMAC of its id; a batch token is its own record. Stored times are those of the expiry
 * clock; what is shown is wall time.
 */
import type { TokenRow } from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { assert, StewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import { createDue, type Due } from "../../../kernel/state/due.ts";
import type { Env, Snapshot, Tx } from "../../../kernel/state/types.ts";
import type { Component } from "../../../kernel/supervisor/component.ts";
import type { ListPage } from "../../logical/types.ts";
import type { StoredClock } from "../expiry/stored-clock.ts";
import type { CreatedToken, TokenEntry, Tokens, TokenSpec } from "../types.ts";
import { createBatchTokens, type BatchTokens } from "./batch.ts";
import { createTokenCache, type KnownToken, type TokenCache } from "./cache.ts";
import { createTokenRevocation, type EndHook, type TokenRevocation } from "./revocation.ts";
import { entryOf, isLive, rowBytes, rowOf } from "./rows.ts";
import { SortedTexts } from "./sorted-texts.ts";
import { openTokenSecrets, type TokenSecrets } from "./secrets.ts";
import { TOKEN_TIMERS, tokenChildren, tokenRows } from "./tables.ts";
import { effectiveTtl, type TtlLimits } from "./ttl.ts";

/** How the id of a service token begins. */
const SERVICE_PREFIX = "hvs.";
const RANDOM_LENGTH = 24;
/** Clients send it in a header of at most 16 KiB. */
const MAX_ID_LENGTH = 4 * 1024;
/** 256 policies with long names and 16 KiB of metadata; a change that ends a token writes it again. */
const MAX_ROW_BYTES = 128 * 1024;
/** A token whose last use was consumed ends by then, even if the request never completed. */
const LAST_USE_MS = 120_000;
const SLICE_MS = 2;
/** Timers handed over at once. */
const BATCH = 256;
/** Tokens that end side by side, so that they share the disk's flushes. */
const TOGETHER = 32;

/** `env` holds `tokenTables` and is unsealed; `limits` are those of the mount `auth/token/`. */
export interface TokensDeps {
  readonly env: Env;
  readonly clock: StoredClock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: () => TtlLimits;
}

/** Terms that a role and its mount set anew at a renewal. */
export interface RenewTerms {
  readonly usualMs: number;
  readonly maxTtlMs: number;
  readonly periodMs: number;
  /** Of the mount that issued the token; undefined for those of the store. */
  readonly limits?: TtlLimits;
}

/** The tokens with a life of their own. */
export interface TokenStore extends Tokens {
  renew(
    entry: TokenEntry,
    incrementMs: number | undefined,
    terms?: RenewTerms,
  ): Promise<{ readonly entry: TokenEntry; readonly warnings: readonly string[] }>;
  /**
   * Registers who sets the renewal terms of tokens with this issuer; without it they cannot be
   * renewed. `terms` may throw `invalid`.
   */
  issuer(name: string, terms: (entry: TokenEntry) => Promise<RenewTerms>): void;
  /**
   * Revokes every service token issued at or below a path, which ends in a slash, and its children,
   * e.g. when the auth mount there is disabled. Tokens that never expire have no lease to revoke
   * and stay; batch tokens are on no list and expire on their own. Tokens that are created later
   * stay: unmounting first waits for the requests of its mount. Yields to other work.
   */
  revokePrefix(prefix: string, signal: AbortSignal): Promise<void>;
  /** Ends tokens at their times while it runs. */
  readonly component: Component;
}

/** Create it anew after each unseal. Throws `sealed`. */
export async function createTokens(deps: TokensDeps): Promise<TokenStore> {
  const secrets = await openTokenSecrets(deps.env, deps.ids);
  return new EnvTokens(deps, secrets);
}

class EnvTokens implements TokenStore {
  readonly component: Component;
  readonly #deps: TokensDeps;
  readonly #secrets: TokenSecrets;
  readonly #clock: StoredClock;
  readonly #timers: Due;
  readonly #batch: BatchTokens;
  readonly #cache: TokenCache<KnownToken> = createTokenCache();
  /** Decrypted rows never change. */
  readonly #opened: TokenCache<TokenEntry> = createTokenCache();
  readonly #hooks: EndHook[] = [];
  readonly #issuers = new Map<string, (entry: TokenEntry) => Promise<RenewTerms>>();
  readonly #revocation: TokenRevocation;

  constructor(deps: TokensDeps, secrets: TokenSecrets) {
    const { clock } = deps;
    this.#deps = deps;
    this.#secrets = secrets;
    this.#clock = clock;
    this.#timers = createDue(
      { env: deps.env, clock, log: deps.log },
      TOKEN_TIMERS.name,
      TOKEN_TIMERS.rows,
    );
    this.#batch = createBatchTokens(secrets.batchKey, deps.ids);
    this.#revocation = createTokenRevocation({
      env: deps.env,
      timers: this.#timers,
      clock,
      hooks: this.#hooks,
      forget: (key) => this.#cache.forget(key),
    });
    this.component = this.#timers.run((ids, signal) => this.#revocation.due(ids, signal), {
      batch: BATCH,
      parallel: 1,
    });
  }

  lookup(id: Secret): TokenEntry | undefined {
    const key = this.#secrets.keyOf(id);
    const batch = this.#open(id, key);
    if (batch === undefined) return this.byKey(key);
    if (this.#clock.isOver(batch.expiresAtMs ?? 0, batch.createdAtMs)) return undefined;
    // What a batch token may do ends with the token it came from.
    return batch.parent !== undefined && this.byKey(batch.parent) === undefined
      ? undefined
      : this.#shown(batch);
  }

  byAccessor(accessor: string): TokenEntry | undefined {
    const [key] =
      accessor === ""
        ? []
        : this.#deps.env.read((snapshot) =>
            snapshot.find(tokenRows, "accessor", [this.#secrets.accessorKey(accessor)]),
          );
    return key === undefined ? undefined : this.byKey(key);
  }

  byKey(key: string): TokenEntry | undefined {
    const known = this.#find(key);
    return known === undefined ? undefined : this.#live(known);
  }

  hasEnded(key: string): boolean {
    const row = this.#find(key)?.row;
    return row === undefined || !isLive({ ...row, numUses: 0 }, this.#clock);
  }

  isGoneIn(snapshot: Snapshot, key: string): boolean {
    return snapshot.get(tokenRows, key)?.ending !== false;
  }

  async create(spec: TokenSpec): Promise<CreatedToken> {
    if (spec.id !== undefined) await this.#endFormer(spec.id);
    return await this.#deps.env.write((tx) => this.createIn(tx, spec));
  }

  createIn(tx: Tx, spec: TokenSpec): CreatedToken {
    const nowMs = this.#clock.now();
    assert(spec.ttlMs > 0 || spec.type === "service", "a batch token has an end");
    if (spec.parent !== undefined) this.#assertParent(tx, spec.parent);
    this.#clock.markIn(tx);
    if (spec.type === "batch") return this.#createBatch(spec, nowMs);
    const id =
      spec.id ?? Secret.of(SERVICE_PREFIX + this.#deps.ids.base62(RANDOM_LENGTH), "token store");
    if (id.use((value) => value.length === 0 || value.length > MAX_ID_LENGTH))
      throw new StewardError("invalid", `a token's id has 1 to ${MAX_ID_LENGTH} characters`, {
        field: "id",
        rule: "length",
      });
    const key = this.#secrets.keyOf(id);
    if (tx.get(tokenRows, key) !== undefined)
      throw new StewardError("invalid", "cannot create a token with a duplicate ID", {
        field: "id",
        rule: "unique",
      });
    const accessor = this.#deps.ids.base62(RANDOM_LENGTH);
    const row = rowOf(spec, { accessor, accessorKey: this.#secrets.accessorKey(accessor), nowMs });
    if (rowBytes(row) > MAX_ROW_BYTES)
      throw new StewardError(
        "too_large",
        `the policies, metadata and networks of a token have at most ${MAX_ROW_BYTES} bytes together`,
        { rule: "token size" },
      );
    tx.put(tokenRows, key, row);
    if (row.parent !== undefined) tx.put(tokenChildren, [row.parent, key], true);
    if (row.expiresAtMs !== undefined) this.#timers.set(tx, key, row.expiresAtMs);
    return { id, entry: this.#shown(entryOf(key, row)) };
  }

  async use(entry: TokenEntry): Promise<TokenEntry | undefined> {
    if (entry.numUses === 0) return entry;
    return await this.#deps.env.write((tx) => {
      const nowMs = this.#clock.now();
      const row = tx.get(tokenRows, entry.key);
      if (row === undefined || !isLive(row, this.#clock)) return undefined;
      if (row.numUses > 0) row.numUses = row.numUses === 1 ? -1 : row.numUses - 1;
      if (row.numUses === -1)
        this.#timers.set(
          tx,
          entry.key,
          Math.min(row.expiresAtMs ?? Number.POSITIVE_INFINITY, nowMs + LAST_USE_MS),
        );
      this.#put(tx, entry.key, row);
      return this.#shown(entryOf(entry.key, row));
    });
  }

  issuer(name: string, terms: (entry: TokenEntry) => Promise<RenewTerms>): void {
    this.#issuers.set(name, terms);
  }

  async renew(
    entry: TokenEntry,
    incrementMs: number | undefined,
    given?: RenewTerms,
  ): Promise<{ readonly entry: TokenEntry; readonly warnings: readonly string[] }> {
    if (entry.type === "batch")
      throw new StewardError("invalid", "batch tokens cannot be renewed", { rule: "type" });
    const terms = given ?? (await this.#termsOf(entry));
    return await this.#deps.env.write((tx) => {
      const nowMs = this.#clock.now();
      const row = tx.get(tokenRows, entry.key);
      // A token's last use may be its own renewal; that is harmless.
      if (row === undefined || !isLive({ ...row, numUses: 0 }, this.#clock))
        throw new StewardError("invalid", "token not found", { rule: "live" });
      if (!row.renewable || row.expiresAtMs === undefined)
        throw new StewardError("invalid", "lease is not renewable", { rule: "renewable" });
      const { usualMs, maxTtlMs, periodMs, limits }: RenewTerms = terms ?? {
        usualMs: row.creationTtlMs,
        maxTtlMs: row.maxTtlMs,
        periodMs: row.periodMs,
      };
      const { ttlMs, warnings } = effectiveTtl({
        incrementMs: incrementMs ?? 0,
        usualMs,
        periodMs,
        maxTtlMs,
        explicitMaxTtlMs: row.explicitMaxTtlMs,
        startedAtMs: nowMs - this.#clock.ageMs(row.createdAtMs),
        nowMs,
        limits: limits ?? this.#deps.limits(),
      });
      row.expiresAtMs = nowMs + ttlMs;
      row.lastRenewalAtMs = nowMs;
      if (row.numUses !== -1) this.#timers.set(tx, entry.key, row.expiresAtMs);
      this.#clock.markIn(tx);
      this.#put(tx, entry.key, row);
      return { entry: this.#shown(entryOf(entry.key, row)), warnings };
    });
  }

  async revoke(
    key: string,
    { orphanChildren = false }: { readonly orphanChildren?: boolean } = {},
  ): Promise<void> {
    await this.#revocation.end(key, { orphanChildren });
  }

  async accessors(
    signal: AbortSignal,
    { after, limit }: ListPage = { after: "", limit: 0 },
  ): Promise<readonly string[]> {
    const found = new SortedTexts();
    await this.#deps.env.scan(
      tokenRows,
      (batch) => {
        for (const [, row] of batch)
          if (row.accessor > after && isLive(row, this.#clock)) found.add(row.accessor);
      },
      { sliceMs: SLICE_MS, signal },
    );
    return await found.take(limit > 0 ? limit : Number.POSITIVE_INFINITY, signal);
  }

  async revokePrefix(prefix: string, signal: AbortSignal): Promise<void> {
    // New tokens may still be in the write queue, and scans do not see them. This write comes after
    // theirs.
    await this.#deps.env.write(() => undefined, { urgent: true });
    await this.#deps.env.scan(
      tokenRows,
      async (batch) => {
        const keys: string[] = [];
        for (const [key, row] of batch)
          if (row.expiresAtMs !== undefined && `${row.path}/`.startsWith(prefix)) keys.push(key);
        for (let from = 0; from < keys.length; from += TOGETHER)
          await Promise.all(
            keys
              .slice(from, from + TOGETHER)
              .map((key) => this.#revocation.end(key, { orphanChildren: false, signal })),
          );
      },
      { sliceMs: SLICE_MS, signal },
    );
  }

  onEnd(seen: EndHook): void {
    this.#hooks.push(seen);
  }

  /** An ended token of this id may still have its row, e.g. one that is over by the wall clock alone. */
  async #endFormer(id: Secret): Promise<void> {
    const key = this.#secrets.keyOf(id);
    if (this.#find(key) !== undefined && this.hasEnded(key))
      await this.#revocation.end(key, { orphanChildren: false });
  }

  async #termsOf(entry: TokenEntry): Promise<RenewTerms | undefined> {
    const issuer = this.#find(entry.key)?.row.issuer ?? "";
    if (issuer === "") return undefined;
    const terms = this.#issuers.get(issuer);
    if (terms === undefined)
      throw new StewardError(
        "invalid",
        "the auth mount that made this token is gone, not renewing",
        { rule: "issuer" },
      );
    return await terms(entry);
  }

  #createBatch(spec: TokenSpec, nowMs: number): CreatedToken {
    const {
      policies,
      path,
      displayName,
      meta,
      parent,
      ttlMs,
      explicitMaxTtlMs,
      role,
      boundCidrs = [],
    } = spec;
    const entry: Omit<TokenEntry, "key"> = {
      type: "batch",
      accessor: "",
      policies,
      path,
      displayName,
      meta,
      entityId: "",
      numUses: 0,
      parent,
      createdAtMs: nowMs,
      creationTtlMs: ttlMs,
      expiresAtMs: nowMs + ttlMs,
      explicitMaxTtlMs,
      periodMs: 0,
      renewable: false,
      lastRenewalAtMs: undefined,
      role,
      boundCidrs,
    };
    const id = this.#batch.seal(entry);
    return { id, entry: this.#shown({ ...entry, key: this.#secrets.keyOf(id) }) };
  }

  #assertParent(tx: Tx, key: string): void {
    const parent = tx.get(tokenRows, key);
    if (parent === undefined || !isLive({ ...parent, numUses: 0 }, this.#clock))
      throw new StewardError("denied", "parent token lookup failed: no parent found", {
        rule: "parent",
      });
  }

  #open(id: Secret, key: string): TokenEntry | undefined {
    const opened = this.#opened.get(key);
    if (opened !== undefined) return opened;
    const entry = this.#batch.open(id, key);
    if (entry !== undefined) this.#opened.set(key, entry);
    return entry;
  }

  #find(key: string): KnownToken | undefined {
    const held = this.#cache.get(key);
    if (held !== undefined) return held;
    const row = this.#deps.env.read((snapshot) => snapshot.get(tokenRows, key));
    if (row === undefined) return undefined;
    const known = { row, entry: entryOf(key, row) };
    this.#cache.set(key, known);
    return known;
  }

  #live({ row, entry }: KnownToken): TokenEntry | undefined {
    return isLive(row, this.#clock) ? this.#shown(entry) : undefined;
  }

  #put(tx: Tx, key: string, row: TokenRow): void {
    tx.put(tokenRows, key, row);
    tx.after(() => this.#cache.forget(key));
  }

  /** An entry in wall times. */
  #shown(entry: TokenEntry): TokenEntry {
    const { createdAtMs, expiresAtMs, lastRenewalAtMs } = entry;
    const shiftMs = this.#clock.toWall(createdAtMs, lastRenewalAtMs ?? createdAtMs) - createdAtMs;
    if (Math.abs(shiftMs) < 1_000) return entry;
    return {
      ...entry,
      createdAtMs: createdAtMs + shiftMs,
      expiresAtMs: expiresAtMs === undefined ? undefined : expiresAtMs + shiftMs,
      lastRenewalAtMs: lastRenewalAtMs === undefined ? undefined : lastRenewalAtMs + shiftMs,
    };
  }
}
