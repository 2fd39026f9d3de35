/**
 * Identity tokens that have logged in, until they expire: each logs in once (RFC 7519, section
 * 4.1.7). Stored before the login succeeds, so that neither a crash nor a restart forgets one.
 */
import { createHash } from "node:crypto";
import { StewardError } from "../../../../kernel/base/errors.ts";
import type { StorageView } from "../../../logical/types.ts";

/** Identity tokens of CI live for minutes; these are logins of one lifetime. */
const MAX_USED = 100_000;
const SWEEP_EVERY_MS = 60_000;
/** Deleted in one sweep. */
const SWEEP_ROWS = 500;
const PREFIX = "used/";

export interface UsedTokens {
  /**
   * Marks a token as used until `untilMs`. False when it was before. Throws `exhausted` when too
   * many are marked.
   */
  use(token: IdentityToken, untilMs: number): Promise<boolean>;
  isUsed(token: IdentityToken): boolean;
}

/** What makes an identity token the same one: its issuer and its id, or what it says. */
export interface IdentityToken {
  readonly issuer: string;
  /** Undefined where the issuer gives none. */
  readonly jti: string | undefined;
  /** The claims as they were encoded. */
  readonly payload: string;
}

/** Reads what is stored. `now` is the clock that they expire by. */
export async function openUsedTokens(storage: StorageView, now: () => number): Promise<UsedTokens> {
  /** Ends by digest, in order of arrival. */
  const used = new Map<string, number>();
  for (const digest of await storage.list(PREFIX)) {
    const bytes = await storage.get(`${PREFIX}${digest}`);
    if (bytes !== undefined) used.set(digest, Number(Buffer.from(bytes).toString()));
  }
  let sweepAtMs = 0;

  async function sweep(): Promise<void> {
    const nowMs = now();
    if (nowMs < sweepAtMs) return;
    sweepAtMs = nowMs + SWEEP_EVERY_MS;
    const ended = [...used].filter(([, endMs]) => endMs <= nowMs).slice(0, SWEEP_ROWS);
    for (const [digest] of ended) {
      await storage.delete(`${PREFIX}${digest}`);
      used.delete(digest);
    }
    // The rest is removed with the next login.
    if (ended.length === SWEEP_ROWS) sweepAtMs = 0;
  }

  return {
    isUsed: (token) => used.has(digestOf(token)),
    async use(token, untilMs) {
      const digest = digestOf(token);
      if (used.has(digest)) return false;
      // In memory first: of two logins at a time one is refused.
      used.set(digest, untilMs);
      try {
        await sweep();
        if (used.size > MAX_USED)
          throw new StewardError("exhausted", "too many logins with identity tokens", {
            rule: "used tokens",
            remedy: "try again once those of the last minutes have expired",
          });
        await storage.put(`${PREFIX}${digest}`, Buffer.from(String(untilMs)));
      } catch (error) {
        used.delete(digest);
        throw error;
      }
      return true;
    },
  };
}

function digestOf({ issuer, jti, payload }: IdentityToken): string {
  const what = jti === undefined ? `payload\0${payload}` : `jti\0${jti}`;
  return createHash("sha256").update(`${issuer}\0${what}`).digest("base64url");
}
