/**
 * Revokes tokens with their children and leases, in changes of bounded size. A token with children
 * is marked first: from then on it cannot be used, gets no more children and has a timer, so that
 * the rest is revoked after a crash, too. Its row is deleted after its last child.
 */
import type { TokenRow } from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import type { Due } from "../../../kernel/state/due.ts";
import type { Env, Tx } from "../../../kernel/state/types.ts";
import { isSpent, rowBytes } from "./rows.ts";
import { tokenChildren, tokenRows } from "./tables.ts";

/** Tokens revoked in one transaction. */
const CHUNK = 32;
/** Bytes of rows after which one writes no further row; the last may have nearly a mebibyte. */
const CHUNK_BYTES = 2 ** 16;
/** Delay of a marked token's timer, which resumes revoking the children, e.g. after a crash. */
const RESUME_AFTER_MS = 30_000;

/** Called for each revoked token. */
export type EndHook = (tx: Tx, entry: { readonly key: string; readonly accessor: string }) => void;

export interface TokenRevocation {
  /**
   * Resolves when the token and its descendants are revoked; when the signal fires it returns
   * early, and the timers continue. With `orphanChildren` the children stay.
   */
  end(
    key: string,
    options: { readonly orphanChildren: boolean; readonly signal?: AbortSignal },
  ): Promise<void>;
  /** Revokes those of the ids that are due. */
  due(ids: readonly string[], signal: AbortSignal): Promise<void>;
}

/** `forget` is called for every changed row, once durable. */
export interface TokenRevocationDeps {
  readonly env: Env;
  readonly timers: Due;
  readonly clock: Clock;
  readonly hooks: readonly EndHook[];
  readonly forget: (key: string) => void;
}

export function createTokenRevocation(deps: TokenRevocationDeps): TokenRevocation {
  return new TokenRevoker(deps);
}

/** Of one transaction. */
interface Written {
  bytes: number;
}

class TokenRevoker implements TokenRevocation {
  readonly #deps: TokenRevocationDeps;

  constructor(deps: TokenRevocationDeps) {
    this.#deps = deps;
  }

  async end(
    key: string,
    { orphanChildren, signal }: { readonly orphanChildren: boolean; readonly signal?: AbortSignal },
  ): Promise<void> {
    const first = await this.#deps.env.write(
      (tx) => (this.#retire(tx, key, { orphanChildren }) ? [key] : []),
      { urgent: true },
    );
    await this.#endAll(first, signal);
  }

  async due(ids: readonly string[], signal: AbortSignal): Promise<void> {
    for (let from = 0; from < ids.length && !signal.aborted; from += CHUNK) {
      const left = await this.#deps.env.write(
        (tx) => ids.slice(from, from + CHUNK).filter((id) => this.#expire(tx, id)),
        { urgent: true },
      );
      await this.#endAll(left, signal);
    }
  }

  // True when children are left.
  #expire(tx: Tx, key: string): boolean {
    const { timers, clock } = this.#deps;
    if (!timers.take(tx, key)) return false;
    const row = tx.get(tokenRows, key);
    if (row === undefined) return false;
    if (isSpent(row, clock.now())) return this.#retire(tx, key);
    if (row.expiresAtMs !== undefined) timers.set(tx, key, row.expiresAtMs);
    return false;
  }

  async #endAll(keys: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    let left = keys;
    while (left.length > 0) {
      if (signal?.aborted === true) return;
      const stack = left;
      // A change may run twice, so it gives what is left and changes nothing outside itself.
      left = await this.#deps.env.write((tx) => this.#chunk(tx, stack), { urgent: true });
    }
  }

  #chunk(tx: Tx, keys: readonly string[]): readonly string[] {
    const stack = [...keys];
    const written = { bytes: 0 };
    for (let budget = CHUNK; budget > 0 && written.bytes < CHUNK_BYTES;) {
      const key = stack.at(-1);
      if (key === undefined) break;
      budget -= 1;
      if (!this.#retire(tx, key, { written })) {
        stack.pop();
        continue;
      }
      const freed = tx.get(tokenRows, key)?.orphanChildren === true;
      for (const [[, child]] of tx.range(tokenChildren, {
        prefix: [key],
        limit: Math.max(1, budget),
      })) {
        if (written.bytes >= CHUNK_BYTES) break;
        budget -= 1;
        if (freed) this.#free(tx, { parent: key, child }, written);
        else if (this.#retire(tx, child, { written })) stack.push(child);
      }
    }
    return stack;
  }

  // Ends a token's use. True when it has children, and its row stays until they are gone.
  #retire(
    tx: Tx,
    key: string,
    {
      written = { bytes: 0 },
      orphanChildren = false,
    }: { readonly written?: Written; readonly orphanChildren?: boolean } = {},
  ): boolean {
    const { clock, hooks, timers } = this.#deps;
    const row = tx.get(tokenRows, key);
    if (row === undefined) return false;
    if (!row.ending) for (const hook of hooks) hook(tx, { key, accessor: row.accessor });
    if (isEmpty(tx.range(tokenChildren, { prefix: [key], limit: 1 }))) {
      this.#remove(tx, key, row);
      return false;
    }
    if (!row.ending) {
      const ending = { ending: true, ...(orphanChildren ? { orphanChildren } : {}) };
      this.#put(tx, { key, row: Object.assign(row, ending) }, written);
    }
    const latestMs = clock.now() + RESUME_AFTER_MS;
    if ((timers.at(tx, key) ?? Number.POSITIVE_INFINITY) > latestMs) timers.set(tx, key, latestMs);
    return true;
  }

  #remove(tx: Tx, key: string, row: TokenRow): void {
    tx.delete(tokenRows, key);
    if (row.parent !== undefined) tx.delete(tokenChildren, [row.parent, key]);
    this.#deps.timers.clear(tx, key);
    tx.after(() => this.#deps.forget(key));
  }

  #free(
    tx: Tx,
    { parent, child }: { readonly parent: string; readonly child: string },
    written: Written,
  ): void {
    tx.delete(tokenChildren, [parent, child]);
    const row = tx.get(tokenRows, child);
    if (row === undefined) return;
    delete row.parent;
    this.#put(tx, { key: child, row }, written);
  }

  #put(
    tx: Tx,
    { key, row }: { readonly key: string; readonly row: TokenRow },
    written: Written,
  ): void {
    tx.put(tokenRows, key, row);
    written.bytes += rowBytes(row);
    tx.after(() => this.#deps.forget(key));
  }
}

function isEmpty(rows: Iterable<unknown>): boolean {
  for (const _row of rows) return false;
  return true;
}
