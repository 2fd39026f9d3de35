/**
 * Identity tokens that have logged in, until they expire: each logs in once (RFC 7519, section
 * 4.1.7). Stored before the login succeeds, so that neither a crash nor a restart forgets one.
 */
import { createHash } from "node:crypto";
import { Turns } from "../../../../kernel/async/turns.ts";
import { StewardError } from "../../../../kernel/base/errors.ts";
import type { StorageView } from "../../../logical/types.ts";
import type { ExpiryClock } from "../../expiry/expiry-clock.ts";

/** Identity tokens of CI live for minutes; these are logins of one lifetime. */
const MAX_USED = 100_000;
const SWEEP_EVERY_MS = 60_000;
/** Deleted in one sweep. */
const SWEEP_ROWS = 500;
const PREFIX = "used/";
const FORGOTTEN = "used-forgotten";

export interface UsedTokens {
  /**
   * Marks a token as used until `untilMs`, from when on no role accepts it. False when it was
   * before. Throws `exhausted` when too many are marked.
   */
  use(token: IdentityToken, untilMs: number): Promise<boolean>;
  isUsed(token: IdentityToken, untilMs: number): boolean;
}

/** The expiry clock: `now` is never set back, `latest` follows the wall clock where it is ahead. */
export type UsedTokensClock = Pick<ExpiryClock, "now" | "latest">;

/** What makes an identity token the same one: its issuer and its id, or what it says. */
export interface IdentityToken {
  readonly issuer: string;
  /** Undefined where the issuer gives none. */
  readonly jti: string | undefined;
  /** The claims as they were encoded. */
  readonly payload: string;
}

/** Reads what is stored; yields to the event loop. */
export async function openUsedTokens(
  storage: StorageView,
  clock: UsedTokensClock,
): Promise<UsedTokens> {
  /** Ends by digest, in order of arrival. */
  const used = new Map<string, number>();
  const turns = new Turns();
  for (const digest of await storage.list(PREFIX)) {
    if (turns.over) await turns.give();
    const bytes = await storage.get(`${PREFIX}${digest}`);
    if (bytes !== undefined) used.set(digest, Number(Buffer.from(bytes).toString()));
  }
  /**
   * Tokens that end by then count as used: the marks of some were deleted while the wall clock was
   * ahead of the expiry clock, and it may be set back.
   */
  let forgottenMs = Number(Buffer.from((await storage.get(FORGOTTEN)) ?? []).toString());
  let sweepAtMs = 0;

  /** Deletes some of the marks that end by `byMs`; their number. */
  async function sweep(byMs: number): Promise<number> {
    const ended = [...used].filter(([, endMs]) => endMs <= byMs).slice(0, SWEEP_ROWS);
    const lastMs = Math.max(0, ...ended.map(([, endMs]) => endMs));
    if (lastMs > clock.now() && lastMs > forgottenMs) {
      forgottenMs = lastMs;
      await storage.put(FORGOTTEN, Buffer.from(String(lastMs)));
    }
    for (const [digest] of ended) {
      await storage.delete(`${PREFIX}${digest}`);
      used.delete(digest);
    }
    return ended.length;
  }

  async function makeRoom(): Promise<void> {
    const nowMs = clock.now();
    if (nowMs >= sweepAtMs) {
      sweepAtMs = nowMs + SWEEP_EVERY_MS;
      // The rest is removed with the next login.
      if ((await sweep(nowMs)) === SWEEP_ROWS) sweepAtMs = 0;
    }
    // After a long downtime the expiry clock is behind for good, and marks live longer by that.
    if (used.size > MAX_USED) await sweep(clock.latest());
    if (used.size > MAX_USED)
      throw new StewardError("exhausted", "too many logins with identity tokens", {
        rule: "used tokens",
        remedy: "try again once those of the last minutes have expired",
      });
  }

  const isUsed = (digest: string, untilMs: number): boolean =>
    untilMs <= forgottenMs || used.has(digest);

  return {
    isUsed: (token, untilMs) => isUsed(digestOf(token), untilMs),
    async use(token, untilMs) {
      const digest = digestOf(token);
      if (isUsed(digest, untilMs)) return false;
      // In memory first: of two logins at a time one is refused.
      used.set(digest, untilMs);
      try {
        await makeRoom();
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
