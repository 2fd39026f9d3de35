import { beforeEach, describe, expect, it } from "vitest";
import type { StorageView } from "../../../../../src/tokens/logical/types.ts";
import {
  openUsedTokens,
  type IdentityToken,
  type UsedTokens,
} from "../../../../../src/tokens/vault/auth/jwt/used-tokens.ts";
import { countTurns, slowClock } from "../../../support/turns.ts";

const DAY_MS = 24 * 3_600_000;
/** What an identity token is remembered for: its five minutes and the largest leeway. */
const KEPT_MS = 600_000;
/** As many as a mount remembers. */
const MANY = 100_000;

/** The wall clock is 30 days ahead of the expiry clock: Steward was down for a month. */
const START = { wallMs: 30 * DAY_MS, expiryMs: 0 };

function token(id: number): IdentityToken {
  return { issuer: "https://ci.example.org", jti: `job-${id}`, payload: "" };
}

function memoryStorage(): StorageView {
  const rows = new Map<string, Uint8Array>();
  return {
    get: async (key) => rows.get(key),
    put: async (key, value) => void rows.set(key, value),
    delete: async (key) => void rows.delete(key),
    list: async (prefix) =>
      [...rows.keys()].flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])),
  };
}

it("gives the loop turns while many marks are read", async () => {
  const storage = memoryStorage();
  for (let at = 0; at < 100; at += 1) await storage.put(`used/${at}`, Buffer.from("1000"));
  slowClock();
  const turns = countTurns();
  await openUsedTokens(storage, { now: () => 0, latest: () => 0 });
  expect(turns()).toBeGreaterThan(10);
});

describe("identity tokens that have logged in, after a month of downtime", () => {
  let at: { wallMs: number; expiryMs: number };
  let storage: StorageView;
  let used: UsedTokens;
  const open = (): Promise<UsedTokens> =>
    openUsedTokens(storage, {
      now: () => at.expiryMs,
      latest: () => Math.max(at.expiryMs, at.wallMs),
    });
  const pass = (ms: number): void => {
    at.wallMs += ms;
    at.expiryMs += ms;
  };

  beforeEach(async () => {
    at = { ...START };
    storage = memoryStorage();
    used = await open();
    for (let id = 0; id < MANY; id += 1) await used.use(token(id), at.wallMs + KEPT_MS);
  });

  it("give way to new logins once they have expired", async () => {
    await expect(used.use(token(MANY), at.wallMs + KEPT_MS)).rejects.toMatchObject({
      code: "exhausted",
    });
    pass(KEPT_MS);
    for (let id = MANY; id < MANY + 1_000; id += 1)
      expect(await used.use(token(id), at.wallMs + KEPT_MS)).toBe(true);
  });

  it("log in no second time when the wall clock is set back, also after a restart", async () => {
    const untilMs = at.wallMs + KEPT_MS;
    at.wallMs += DAY_MS;
    expect(await used.use(token(MANY), at.wallMs + KEPT_MS)).toBe(true);
    at.wallMs -= DAY_MS;
    used = await open();
    for (const id of [0, 499, 500, MANY - 1]) {
      expect([id, used.isUsed(token(id), untilMs)]).toEqual([id, true]);
      expect(await used.use(token(id), untilMs)).toBe(false);
    }
    expect(await used.use(token(MANY + 1), untilMs + 1)).toBe(true);
  });
});
