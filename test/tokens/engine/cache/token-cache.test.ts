import { describe, expect, it } from "vitest";
import type { Operation } from "../../../../src/demo/code-host/routes.ts";
import { TokenCache, type Minting } from "../../../../src/tokens/engine/cache/token-cache.ts";
import type { FreshToken } from "../../../../src/tokens/engine/types.ts";
import type { Data } from "../../../../src/tokens/logical/types.ts";
import { startEngineRoom, type RoomOptions } from "../../support/engine.ts";
import { createSkippingClock } from "../skipping-clock.ts";

const HOUR = 3_600_000;

function bench(minTtlMs = HOUR / 2) {
  const open = new Set<string>();
  const seen: string[] = [];
  const state = { nowMs: 0 };
  const cache = new TokenCache(
    {
      nowMs: () => state.nowMs,
      sharing: {
        open: (share) => void open.add(share),
        isOpen: (share) => open.has(share),
        seen: (outcome) => void seen.push(outcome),
      },
    },
    minTtlMs,
  );
  let made = 0;
  const fresh = (bytes: number): FreshToken => {
    made += 1;
    return {
      installationId: 1,
      minted: { token: `ghs_${made}`, data: {} },
      mintedAtMs: state.nowMs,
      expiresAtMs: state.nowMs + HOUR,
      bytes,
    };
  };
  const take = async (key: string, more: Partial<Minting> & { bytes?: number } = {}) => {
    const taken = await cache.take(key, {
      share: `share-${made}-${key}`,
      path: "github/token",
      permissionSet: undefined,
      signal: new AbortController().signal,
      mint: () => Promise.resolve(fresh(more.bytes ?? 100)),
      keyOf: () => key,
      ...more,
    });
    if (taken === undefined) throw new Error("the token has another key");
    const { token, reused } = taken;
    return { token: token.minted.token, share: token.share, reused };
  };
  return { cache, take, open, seen, state, fresh };
}

/** A mint that the test ends, and the signal that it got. */
function pending() {
  const { promise, resolve, reject } = Promise.withResolvers<FreshToken>();
  const signals: AbortSignal[] = [];
  const mint = (signal: AbortSignal): Promise<FreshToken> => {
    signals.push(signal);
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    return promise;
  };
  return { mint, resolve, reject, signals };
}

describe("a token cache", () => {
  it("gives a held token while it lives long enough and may be shared", async () => {
    const { take, open, state, cache, seen } = bench();
    const first = await take("a");
    expect(await take("a")).toEqual({ ...first, reused: true });
    state.nowMs = HOUR / 2;
    expect(await take("a")).toMatchObject({ token: first.token });
    state.nowMs += 1;
    const second = await take("a");
    expect(second).toMatchObject({ token: "ghs_2", reused: false });
    open.delete(second.share);
    expect(cache.size).toBe(0);
    expect(await take("a")).toMatchObject({ token: "ghs_3", reused: false });
    expect(seen).toEqual(["miss", "hit", "hit", "miss", "miss"]);
  });

  it("holds 1,000 tokens, the least recently used make way", async () => {
    const { take, cache } = bench();
    for (let at = 0; at < 1_000; at += 1) await take(`k${at}`);
    await take("k0");
    await take("one more");
    expect(cache.size).toBe(1_000);
    expect(await take("k0")).toMatchObject({ reused: true });
    expect(await take("k1")).toMatchObject({ reused: false });
  });

  it("holds 8 MiB of answers, and none that is larger", async () => {
    const { take, cache } = bench();
    const MIB = 2 ** 20;
    await take("huge", { bytes: 8 * MIB + 1 });
    expect(cache.size).toBe(0);
    for (const key of ["a", "b", "c"]) await take(key, { bytes: 3 * MIB });
    expect(cache.size).toBe(2);
    expect(await take("a", { bytes: 3 * MIB })).toMatchObject({ reused: false });
    expect(await take("c", { bytes: 3 * MIB })).toMatchObject({ reused: true });
  });

  it("forgets the tokens of one permission set, also one that is being minted", async () => {
    const { take, fresh } = bench();
    await take("a", { permissionSet: "ci" });
    await take("b", { permissionSet: "deploy" });
    const { mint, resolve } = pending();
    const under = bench();
    const flying = under.take("c", { permissionSet: "ci", mint });
    under.cache.forget("ci");
    resolve(fresh(1));
    expect(await flying).toMatchObject({ reused: false });
    expect(await under.take("c", { permissionSet: "ci" })).toMatchObject({ reused: false });
  });
});

describe("equal requests at once", () => {
  it("are one mint, however many they are", async () => {
    const { take, fresh } = bench();
    const { mint, resolve, signals } = pending();
    const all = Array.from({ length: 50 }, () => take("a", { mint }));
    resolve(fresh(1));
    const taken = await Promise.all(all);
    expect(signals).toHaveLength(1);
    expect(taken.filter(({ reused }) => !reused)).toHaveLength(1);
    expect(new Set(taken.map(({ token }) => token)).size).toBe(1);
  });

  it("fail together, and the next one tries again", async () => {
    const { take, cache } = bench();
    const { mint, reject } = pending();
    const all = Array.from({ length: 3 }, () => take("a", { mint }));
    reject(new Error("refused"));
    for (const one of await Promise.allSettled(all))
      expect(one).toMatchObject({ status: "rejected", reason: { message: "refused" } });
    expect(cache.size).toBe(0);
    expect(await take("a")).toMatchObject({ reused: false });
  });

  it("go on when the first requester goes away, and when another one does", async () => {
    const { take, fresh } = bench();
    const { mint, resolve, signals } = pending();
    const [first, second] = [new AbortController(), new AbortController()];
    const one = take("a", { mint, signal: first.signal });
    const two = take("a", { mint, signal: second.signal });
    const three = take("a", { mint });
    first.abort();
    second.abort(new Error("gone"));
    await expect(two).rejects.toThrow("gone");
    expect(signals[0]?.aborted).toBe(false);
    resolve(fresh(1));
    expect([(await one).token, (await three).token]).toEqual(["ghs_1", "ghs_1"]);
  });

  it("end with the last requester, and one who comes then mints anew", async () => {
    const { take } = bench();
    const { mint, signals } = pending();
    const [first, second] = [new AbortController(), new AbortController()];
    const gone = [
      take("a", { mint, signal: first.signal }),
      take("a", { mint, signal: second.signal }),
    ];
    first.abort(new Error("gone"));
    second.abort(new Error("gone"));
    const late = take("a");
    for (const one of await Promise.allSettled(gone))
      expect(one).toMatchObject({ status: "rejected", reason: { message: "gone" } });
    expect(signals[0]?.aborted).toBe(true);
    expect(await late).toMatchObject({ token: "ghs_1", reused: false });
  });

  it("are not joined by one who has gone already", async () => {
    const { take, fresh } = bench();
    const { mint, resolve } = pending();
    const first = take("a", { mint });
    const gone = take("a", { mint, signal: AbortSignal.abort(new Error("gone")) });
    await expect(gone).rejects.toThrow("gone");
    resolve(fresh(1));
    expect(await first).toMatchObject({ reused: false });
  });
});

const REQUESTER = {
  displayName: "ci",
  accessor: "a",
  entityId: "",
  policies: ["ci"],
  principal: "ci",
};

describe("an organisation that was installed anew under another id", () => {
  /** `reinstall` moves example-org from installation 1001 to 1002, which only minting notices. */
  async function reinstalled() {
    const open = new Set<string>();
    const missed = Promise.withResolvers<void>();
    const room = await startEngineRoom({
      sharing: {
        open: (share) => void open.add(share),
        isOpen: (share) => open.has(share),
        seen: (outcome) => {
          if (outcome === "miss") missed.resolve();
        },
      },
      config: { token_cache_min_ttl: "1m" },
    });
    await room.mint({ org_name: "example-org", repositories: "web" });
    room.codeHost.estate.uninstall(1001);
    room.codeHost.estate.install(room.demo.appId, {
      id: 1002,
      account: { login: "example-org", type: "Organization" },
      permissions: { contents: "read", metadata: "read" },
      repositories: [],
    });
    let requests = 0;
    const mint = async (scope: Data): Promise<Data> => {
      requests += 1;
      const data = { ...scope, permissions: "contents=read" };
      const more = { requester: REQUESTER, id: `request-${requests}` };
      return (await room.ask("create", "token", data, more))?.data ?? {};
    };
    return { room, mint, missed: missed.promise };
  }

  it("gets a token for its new id only, which answers no request for the old one", async () => {
    const { room, mint } = await reinstalled();
    await using _room = room;
    const made = await mint({ org_name: "example-org" });
    expect(made).toMatchObject({ installation_id: 1002, reused: false });
    await expect(mint({ installation_id: 1001 })).rejects.toThrow("installation 1001");
    const { token } = made;
    expect(await mint({ org_name: "example-org" })).toMatchObject({ token, reused: true });
    expect(await mint({ installation_id: 1002 })).toMatchObject({ token, reused: true });
  });

  it("gets one for all who wait by its name, and none for those who wait by the old id", async () => {
    const { room, mint, missed } = await reinstalled();
    await using _room = room;
    const minting = mint({ org_name: "example-org" });
    await missed;
    const waiting = ["example-org", "Example-Org"].map((name) => mint({ org_name: name }));
    const old = [1, 2].map(() => mint({ installation_id: 1001 }));
    const { token } = await minting;
    for (const waiter of waiting)
      expect(await waiter).toMatchObject({ token, installation_id: 1002, reused: true });
    for (const outcome of await Promise.allSettled(old))
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { message: expect.stringContaining("installation 1001") },
      });
  });
});

describe("a lease of a token that another request minted", () => {
  it("says when the token was minted, which decides whether it can be unknown yet", async () => {
    const clock = createSkippingClock();
    const sharing = { open: () => undefined, isOpen: () => true, seen: () => undefined };
    await using room = await startEngineRoom({
      clock,
      sharing,
      config: { token_cache_min_ttl: "1m" },
    });
    const mint = async () => {
      const data = { installation_id: 1001 };
      const { secret } = (await room.ask("create", "token", data, { requester: REQUESTER })) ?? {};
      return { reused: secret?.share?.reused, mintedAtMs: secret?.internalData["minted_at_ms"] };
    };
    const { reused, mintedAtMs } = await mint();
    expect([reused, typeof mintedAtMs]).toEqual([false, "number"]);
    clock.skip(60_000);
    expect(await mint()).toEqual({ reused: true, mintedAtMs });
  });
});

describe("an organisation that cannot be looked up", () => {
  const sharing = { open: () => undefined, isOpen: () => true, seen: () => undefined };
  const withCache = { sharing, config: { token_cache_min_ttl: "1m" } };

  /** What a mint by the name comes to: its error, the platform's requests, the mount's metrics. */
  async function outcomeOf(options: RoomOptions, orgName: string, faults: readonly Operation[]) {
    await using room = await startEngineRoom(options);
    for (const operation of faults)
      room.codeHost.faults.next(
        operation,
        { kind: "status", status: 429, headers: { "retry-after": "7" } },
        Infinity,
      );
    const data = { org_name: orgName };
    const more = { requester: REQUESTER };
    const { code, message, rule, retryAfterMs } = await room.refusal("create", "token", data, more);
    const { raw } = (await room.ask("read", "metrics")) ?? {};
    return {
      refusal: { code, message, rule, retryAfterMs },
      requests: room.codeHost.requests(),
      counted: String(raw?.body).match(/^vault_github_token_request_\w+_count.*$/gm),
    };
  }

  it.each<[string, string, readonly Operation[], object]>([
    [
      "the rate limit",
      "example-org",
      ["org_installation"],
      { org_installation: 1, installations: 0 },
    ],
    ["a name without an installation", "nope", [], { org_installation: 1, installations: 1 }],
    [
      "the rate limit of the list",
      "nope",
      ["installations"],
      { org_installation: 1, installations: 1 },
    ],
  ])(
    "by %s fails as without a cache, with as many requests to the platform",
    async (_cause, orgName, faults, requests) => {
      const outcome = await outcomeOf(withCache, orgName, faults);
      expect(outcome).toEqual(await outcomeOf({}, orgName, faults));
      expect(outcome.requests).toMatchObject({ ...requests, mint: 0 });
      expect(outcome.counted).toEqual([expect.stringMatching(/success="false"\} 1$/)]);
    },
  );

  it("counts among the 256 requests in flight, once for all who wait for it", async () => {
    await using room = await startEngineRoom(withCache);
    const held = Promise.withResolvers<void>();
    room.codeHost.faults.next("org_installation", { kind: "hold", until: held.promise }, Infinity);
    const ask = (orgName: string) =>
      room.refusal("create", "token", { org_name: orgName }, { requester: REQUESTER });
    const asked = Array.from({ length: 300 }, (_, at) => ask(`org-${at}`));
    const joined = Array.from({ length: 300 }, () => ask("org-0"));
    const refused = await Promise.all(asked.slice(256));
    held.resolve();
    expect(new Set(refused.map(({ rule }) => rule))).toEqual(new Set(["in_flight"]));
    const found = await Promise.all([...asked.slice(0, 256), ...joined]);
    expect(new Set(found.map(({ rule }) => rule))).toEqual(new Set(["not_installed"]));
    const { raw } = (await room.ask("read", "metrics")) ?? {};
    const counts = String(raw?.body).matchAll(/^vault_github_token_request_\w+_count.* (\d+)$/gm);
    expect([...counts].reduce((sum, [, count]) => sum + Number(count), 0)).toBe(556);
  });
});
