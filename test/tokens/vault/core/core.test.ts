import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import type { HostRequest } from "../../../../src/tokens/vault/auth/context.ts";
import { auditDown, fakeCore, liveEntry, minted } from "./fake-core.ts";

describe("a minting request", () => {
  it("is recorded and audited before the backend runs, and leased and audited before it is answered", async () => {
    const harness = fakeCore();
    const answer = await harness.ask({});
    expect(harness.steps).toEqual([
      "intend",
      "audit request",
      "intend.",
      "audit request.",
      "backend",
      "backend.",
      "lease",
      "audit response",
      "lease.",
      "audit response.",
    ]);
    expect(answer).toMatchObject({
      lease: { id: "m/token/x", renewable: false, durationSeconds: 3600 },
      warnings: [],
    });
    expect(harness.leased[0]).toMatchObject({
      path: "m/token",
      mountPoint: "m/",
      ttlMs: 3_600_000,
      token: { key: "k1" },
      intent: { requestId: answer.requestId },
    });
    expect(harness.audited[1]?.response).toMatchObject({ leaseId: "m/token/x", data: minted.data });
  });

  it("does not reach the backend when its audit record cannot be written, and leaves no intent", async () => {
    const harness = fakeCore();
    harness.failing.set("audit request", auditDown);
    await expect(harness.ask({})).rejects.toBe(auditDown);
    expect(harness.steps).not.toContain("backend");
    expect(harness.steps).toContain("drop");
  });

  it("does not reach the backend when its intent cannot be stored", async () => {
    const harness = fakeCore();
    harness.failing.set("intend", new StewardError("disk_full", "the store is full"));
    await expect(harness.ask({})).rejects.toThrow("the store is full");
    expect(harness.steps).not.toContain("backend");
  });

  it("is not answered when the second audit record cannot be written, and its lease ends at once", async () => {
    const harness = fakeCore();
    harness.failing.set("audit response", auditDown);
    await expect(harness.ask({})).rejects.toBe(auditDown);
    expect(harness.steps).toContain("revoke m/token/x.");
  });

  it("is not answered when its lease cannot be stored, and what was made is revoked from memory", async () => {
    const harness = fakeCore();
    harness.failing.set("lease", new StewardError("disk_full", "the store is full"));
    await expect(harness.ask({})).rejects.toThrow("the store is full");
    expect(harness.revoked).toEqual([{ token: "ghs_1" }]);
    expect(harness.steps).toContain("drop");
  });

  it("leaves an orphan when its lease can neither be stored nor be revoked", async () => {
    const harness = fakeCore();
    harness.failing.set("lease", new StewardError("disk_full", "the store is full"));
    harness.failing.set("backend revoke", new StewardError("upstream", "down"));
    await expect(harness.ask({})).rejects.toThrow("the store is full");
    expect(harness.steps).toContain(
      "orphan its lease could not be stored, and it could not be revoked.",
    );
  });

  it("is answered anew when the shared token in its response ended meanwhile", async () => {
    const harness = fakeCore();
    let asked = 0;
    harness.handler = async () => {
      asked += 1;
      const share = asked === 1 ? { id: "ended", reused: true } : { id: "own", reused: false };
      const { secret } = minted;
      if (secret === undefined) throw new Error("no secret");
      return { data: { token: `ghs_${asked}` }, secret: { ...secret, share } };
    };
    const answer = await harness.ask({});
    expect(answer.response?.data).toEqual({ token: "ghs_2" });
    expect(harness.leased).toHaveLength(1);
    asked = 0;
    harness.openShares.add("ended");
    expect((await harness.ask({})).response?.data).toEqual({ token: "ghs_1" });
  });

  it("is refused, without a lease, when every shared token in its responses has ended", async () => {
    const harness = fakeCore();
    const { secret } = minted;
    if (secret === undefined) throw new Error("no secret");
    harness.handler = async () => ({
      ...minted,
      secret: { ...secret, share: { id: "ended", reused: true } },
    });
    await expect(harness.ask({})).rejects.toThrow("revoked meanwhile");
    expect([harness.leased, harness.steps.includes("drop")]).toEqual([[], true]);
  });

  it("whose lease cannot be stored revokes a shared token only if nobody else holds it", async () => {
    const harness = fakeCore();
    const { secret } = minted;
    if (secret === undefined) throw new Error("no secret");
    harness.handler = async () => ({
      ...minted,
      secret: { ...secret, share: { id: "one", reused: false } },
    });
    harness.failing.set("lease", new StewardError("disk_full", "the store is full"));
    harness.heldShares.add("one");
    await expect(harness.ask({})).rejects.toThrow("the store is full");
    expect([harness.revoked, harness.steps.includes("drop")]).toEqual([[], true]);
    harness.heldShares.clear();
    await expect(harness.ask({})).rejects.toThrow("the store is full");
    expect(harness.revoked).toEqual([{ token: "ghs_1" }]);
  });

  it("leaves no record when nothing was begun outside, and an orphan when nobody knows", async () => {
    const harness = fakeCore();
    harness.handler = () => Promise.reject(new StewardError("invalid", "refused"));
    await expect(harness.ask({})).rejects.toThrow("refused");
    expect(harness.steps).toContain("drop");
    harness.steps.length = 0;
    harness.handler = (request) => {
      request.effect?.begin({ installation_id: 5 });
      return Promise.reject(new StewardError("deadline", "no answer"));
    };
    await expect(harness.ask({})).rejects.toThrow("no answer");
    expect(harness.steps).toContain("orphan no answer.");
    harness.steps.length = 0;
    harness.handler = (request) => {
      request.effect?.begin({});
      request.effect?.none();
      return Promise.reject(new StewardError("invalid", "said no"));
    };
    await expect(harness.ask({})).rejects.toThrow("said no");
    expect(harness.steps).toContain("drop");
  });

  it("is refused to a token on its last use, before anything is made", async () => {
    const harness = fakeCore();
    harness.entry = { ...liveEntry, numUses: 1 };
    await expect(harness.ask({})).rejects.toThrow("token had one use left");
    expect(harness.steps).not.toContain("backend");
    expect(harness.steps).toContain("end k1.");
  });

  it("is leased no longer than its mount allows, and says so", async () => {
    const harness = fakeCore();
    harness.handler = async () => ({
      ...minted,
      secret: { ttlMs: 10_000_000, renewable: false, internalData: {} },
    });
    const answer = await harness.ask({});
    expect(answer.lease?.durationSeconds).toBe(7_200);
    expect(answer.warnings).toEqual([
      'TTL of "2h46m40s" exceeded the effective max_ttl of "2h0m0s"; TTL value is capped accordingly',
    ]);
  });

  it("belongs to the parent of a batch token and ends with it", async () => {
    const harness = fakeCore();
    harness.entry = { ...liveEntry, type: "batch", parent: "k0", expiresAtMs: 1_060_000 };
    expect((await harness.ask({})).lease?.durationSeconds).toBe(60);
    expect(harness.leased[0]?.token?.key).toBe("k0");
  });

  it("is refused once its token has ended meanwhile, and its lease is stored and revoked", async () => {
    const harness = fakeCore();
    harness.handler = async () => {
      harness.ended.add("k1");
      return minted;
    };
    await expect(harness.ask({})).rejects.toMatchObject({
      code: "denied",
      message: "permission denied",
    });
    expect(harness.steps.slice(harness.steps.indexOf("backend."))).toEqual([
      "backend.",
      "lease",
      "lease.",
      "revoke m/token/x",
      "revoke m/token/x.",
      "audit response",
      "audit response.",
    ]);
    expect(harness.audited.at(-1)?.response).toEqual({ error: "permission denied" });
  });

  it("is refused, too, once its batch token or that one's parent has ended", async () => {
    const batch = { ...liveEntry, type: "batch" as const, expiresAtMs: 1_000_999 };
    for (const entry of [
      batch,
      { ...batch, expiresAtMs: 999_000 },
      { ...batch, parent: "k0", expiresAtMs: 2_000_000 },
    ]) {
      const harness = fakeCore();
      harness.entry = entry;
      harness.ended.add("k0");
      await expect(harness.ask({})).rejects.toMatchObject({ code: "denied" });
      expect(harness.steps).toContain("revoke m/token/x.");
      expect(harness.leased[0]?.ttlMs).toBeGreaterThanOrEqual(0);
    }
    const harness = fakeCore();
    harness.entry = { ...batch, expiresAtMs: 1_001_000 };
    expect((await harness.ask({})).lease?.durationSeconds).toBe(1);
  });
});

describe("a request in progress", () => {
  it("is counted at its mount until its lease and its records are stored, whatever its outcome", async () => {
    const harness = fakeCore();
    await harness.ask({});
    await harness.ask({ path: "m/open", verb: "read" });
    await harness.ask({ wrapTtlMs: 60_000 });
    harness.failing.set("lease", new StewardError("disk_full", "the store is full"));
    await expect(harness.ask({})).rejects.toThrow("the store is full");
    harness.failing.set("backend", new StewardError("upstream", "down"));
    await expect(harness.ask({})).rejects.toThrow("down");
    harness.decision = { ...harness.decision, allowed: false };
    await expect(harness.ask({})).rejects.toMatchObject({ code: "denied" });
    harness.entry = undefined;
    await expect(harness.ask({})).rejects.toMatchObject({ code: "denied" });
    expect(harness.steps).toContain("audit response.");
    expect([harness.uncounted, harness.inProgress()]).toEqual([[], 0]);
  });
});

describe("a refusal", () => {
  it("is audited twice and says nothing of why", async () => {
    const harness = fakeCore();
    harness.decision = { allowed: false, granting: [], wrap: {}, root: false };
    await expect(harness.ask({})).rejects.toMatchObject({
      code: "denied",
      message: "1 error occurred:\n\t* permission denied\n\n",
    });
    expect(harness.audited.map(({ error, response }) => error ?? response?.error)).toEqual([
      "permission denied",
      "permission denied",
    ]);
    harness.entry = undefined;
    await expect(harness.ask({})).rejects.toMatchObject({
      code: "denied",
      message: "permission denied",
    });
    expect(harness.steps).not.toContain("backend");
  });

  it("names an unmounted path to whoever may look there, and to nobody else", async () => {
    const harness = fakeCore();
    await expect(harness.ask({ path: "nope/x" })).rejects.toMatchObject({
      code: "not_found",
      message: 'no handler for route "nope/x". route entry not found.',
    });
    harness.entry = undefined;
    await expect(harness.ask({ path: "nope/x" })).rejects.toMatchObject({ code: "denied" });
  });

  it("meets a token that comes from a network it is not bound to", async () => {
    const harness = fakeCore();
    harness.entry = { ...liveEntry, boundCidrs: ["10.0.0.0/8"] };
    await expect(harness.ask({ path: "m/plain" })).rejects.toMatchObject({ code: "denied" });
    await harness.ask({ path: "m/plain", remote: { address: "::ffff:10.1.2.3", port: 1 } });
    expect(harness.steps).toContain("backend.");
  });
});

describe("a list", () => {
  it("without names is nothing there", async () => {
    const harness = fakeCore();
    harness.handler = async () => ({ data: { keys: [] } });
    expect((await harness.ask({ path: "m/plain/", verb: "list" })).response).toBeUndefined();
    harness.handler = async () => ({ data: { keys: ["a"] } });
    expect((await harness.ask({ path: "m/plain/", verb: "list" })).response?.data).toEqual({
      keys: ["a"],
    });
  });
});

describe("an open path", () => {
  it("asks for no token, and is audited", async () => {
    const harness = fakeCore();
    harness.entry = undefined;
    harness.handler = async () => ({ data: { a: 1 } });
    expect(
      (await harness.ask({ path: "m/open", verb: "read", token: undefined })).response?.data,
    ).toEqual({ a: 1 });
    expect(harness.steps).toEqual([
      "audit request",
      "audit request.",
      "backend",
      "backend.",
      "audit response",
      "audit response.",
      "leave",
    ]);
  });

  it("knows a token that is bound to networks only when it comes from them", async () => {
    const harness = fakeCore();
    harness.trusted = true;
    harness.entry = { ...liveEntry, boundCidrs: ["10.0.0.0/8"] };
    const known: unknown[] = [];
    harness.handler = async (request) => {
      known.push((request as HostRequest).token?.entry);
      return { data: { a: 1 } };
    };
    const from = (address: string) =>
      harness.ask({ path: "m/open", verb: "read", remote: { address, port: 1 } });
    await from("192.0.2.1");
    expect(known).toEqual([undefined]);
    expect(harness.audited[0]?.request.token).toMatchObject({ entry: undefined });
    // It counts among the records of requests without a live token.
    expect(harness.steps.at(-1)).toBe("leave");
    await from("10.1.2.3");
    expect(known).toEqual([undefined, harness.entry]);
    expect(harness.steps.at(-1)).toBe("audit response.");
  });
});

describe("wrapping", () => {
  it("keeps the answer and hands out a token for it, the lease stored before", async () => {
    const harness = fakeCore();
    const answer = await harness.ask({ wrapTtlMs: 60_000 });
    expect(answer).toMatchObject({
      response: undefined,
      lease: undefined,
      wrap: { token: "w", ttl: 60, creation_path: "m/token" },
    });
    expect(harness.steps.indexOf("lease.")).toBeLessThan(harness.steps.indexOf("wrap"));
  });

  it("is refused outside the times that policies give", async () => {
    const harness = fakeCore();
    harness.decision = {
      allowed: true,
      granting: ["p"],
      wrap: { minMs: 30_000, maxMs: 90_000 },
      root: false,
    };
    await expect(harness.ask({})).rejects.toMatchObject({ code: "denied" });
    await expect(harness.ask({ wrapTtlMs: 91_000 })).rejects.toMatchObject({ code: "denied" });
    expect((await harness.ask({ wrapTtlMs: 30_000 })).wrap?.ttl).toBe(30);
    harness.decision = { allowed: true, granting: ["p"], wrap: { maxMs: 90_000 }, root: false };
    await expect(harness.ask({})).rejects.toMatchObject({ code: "denied" });
    expect((await harness.ask({ wrapTtlMs: 1_000 })).wrap?.ttl).toBe(1);
  });

  it("leaves an answer of nothing as it is", async () => {
    const harness = fakeCore();
    harness.handler = async () => undefined;
    expect(await harness.ask({ path: "m/plain", wrapTtlMs: 60_000 })).toMatchObject({
      wrap: undefined,
      response: undefined,
    });
  });
});

describe("a backend that does not live with its host", () => {
  it("cannot hand out tokens, whatever it answers", async () => {
    const harness = fakeCore();
    harness.handler = async () => ({ auth: { id: undefined, ttlMs: 0, made: true } });
    await expect(harness.ask({ path: "m/plain" })).rejects.toMatchObject({ code: "internal" });
  });
});

describe("an error of the backend", () => {
  it("is audited with its text and reaches the caller", async () => {
    const harness = fakeCore();
    harness.handler = () => Promise.reject(new StewardError("upstream", "the platform is down"));
    await expect(harness.ask({ path: "m/plain" })).rejects.toThrow("the platform is down");
    expect(harness.audited.at(-1)?.response?.error).toBe("the platform is down");
  });
});

describe("a request without a live token", () => {
  const wrong = (): Promise<never> =>
    Promise.reject(new StewardError("invalid", "invalid role or secret ID"));

  it("that names an unknown one is an attempt on it, and is answered 429 once there were too many", async () => {
    const harness = fakeCore();
    harness.entry = undefined;
    await expect(harness.ask({})).rejects.toMatchObject({ code: "denied" });
    expect(harness.steps).toContain("failed 127.0.0.1 t");
    harness.failing.set("attempt", new StewardError("exhausted", "too many"));
    await expect(harness.ask({})).rejects.toMatchObject({ code: "exhausted" });
  });

  it("that names none is no attempt", async () => {
    const harness = fakeCore();
    harness.entry = undefined;
    harness.failing.set("attempt", new StewardError("exhausted", "too many"));
    await expect(harness.ask({ token: undefined })).rejects.toMatchObject({ code: "denied" });
    await harness.ask({ path: "m/open", token: undefined });
    expect(harness.steps.some((step) => step.startsWith("failed"))).toBe(false);
  });

  it("whose body was not read is refused even if its token came alive since", async () => {
    const harness = fakeCore();
    await expect(harness.ask({ unread: true })).rejects.toMatchObject({ code: "denied" });
    expect(harness.steps).not.toContain("backend");
  });

  it("has two records of its own, and none but a count once its address has failed too often", async () => {
    const harness = fakeCore();
    harness.entry = undefined;
    await expect(harness.ask({})).rejects.toMatchObject({ code: "denied" });
    expect(harness.audited).toHaveLength(2);
    harness.failing.set("record", new Error("no more"));
    await expect(harness.ask({})).rejects.toMatchObject({ code: "denied" });
    expect([harness.audited.length, harness.steps.at(-1)]).toEqual([2, "add 127.0.0.1"]);
  });

  it("is tried without effect first where it would have no records: a wrong proof is counted, a right one goes on in the usual order", async () => {
    const harness = fakeCore();
    harness.entry = undefined;
    harness.failing.set("record", new Error("no more"));
    harness.handler = wrong;
    await expect(harness.ask({ path: "m/login", data: { role_id: "r" } })).rejects.toThrow(
      "invalid role or secret ID",
    );
    expect(harness.steps).toEqual(["verify", "add 127.0.0.1", "failed 127.0.0.1 r"]);
    harness.steps.length = 0;
    harness.failing.set("attempt", new StewardError("exhausted", "too many"));
    await expect(harness.ask({ path: "m/login", data: { role_id: "r" } })).rejects.toMatchObject({
      code: "exhausted",
    });
    harness.steps.length = 0;
    harness.handler = async () => ({ data: { a: 1 } });
    await harness.ask({ path: "m/login", data: { role_id: "r" } });
    expect(harness.steps).toEqual([
      "verify",
      "audit request",
      "audit request.",
      "backend",
      "backend.",
      "audit response",
      "audit response.",
    ]);
  });

  it("to a path that proves nothing is tried out when it reads or asks for what is not there, and not when it changes something", async () => {
    const harness = fakeCore();
    harness.entry = undefined;
    harness.failing.set("record", new Error("no more"));
    harness.handler = wrong;
    await expect(harness.ask({ path: "m/open", verb: "read" })).rejects.toThrow("invalid role");
    await expect(harness.ask({ path: "m/open", verb: "patch" })).rejects.toMatchObject({
      code: "unsupported",
    });
    expect(harness.audited).toEqual([]);
    await expect(harness.ask({ path: "m/open", verb: "write" })).rejects.toThrow("invalid role");
    expect(harness.audited).toHaveLength(2);
  });

  it("that comes too often is refused before it is tried out, with its records while it has some", async () => {
    const harness = fakeCore();
    harness.entry = undefined;
    harness.failing.set("serve", new StewardError("exhausted", "too many"));
    await expect(harness.ask({ path: "m/open", verb: "read" })).rejects.toThrow("too many");
    expect(harness.audited.map(({ error, response }) => error ?? response?.error)).toEqual([
      "too many",
      "too many",
    ]);
    harness.failing.set("record", new Error("no more"));
    await expect(harness.ask({ path: "m/open", verb: "read" })).rejects.toThrow("too many");
    expect([harness.audited.length, harness.steps.at(-1)]).toEqual([2, "add 127.0.0.1"]);
    await expect(harness.ask({ path: "m/login", verb: "read" })).rejects.toThrow("too many");
    expect(harness.steps).not.toContain("backend");
    // A right proof passes, and so does a token.
    await harness.ask({ path: "m/login", data: { role_id: "r" } });
    harness.entry = liveEntry;
    await harness.ask({ path: "m/open", verb: "read" });
    expect(harness.steps.filter((step) => step === "backend.")).toHaveLength(2);
  });

  it("gives its place among the records back when it succeeds", async () => {
    const harness = fakeCore();
    harness.entry = undefined;
    await harness.ask({ path: "m/open", verb: "read" });
    expect(harness.steps.at(-1)).toBe("leave");
  });
});

describe("the head of a request", () => {
  it("allows 32 MiB of body with a live token, 64 KiB to paths that need none, and nothing where it will be refused", () => {
    const harness = fakeCore();
    const sizes = (): number[] =>
      ["m/token", "m/open", "nowhere/x"].map((path) =>
        harness.core.maxBodyBytes({
          path,
          token: Secret.of("t", "t"),
          remote: { address: "127.0.0.1", port: 1 },
        }),
      );
    expect(sizes()).toEqual([33_554_432, 33_554_432, 33_554_432]);
    for (const entry of [
      { ...liveEntry, boundCidrs: ["10.0.0.0/8"] },
      { ...liveEntry, policies: ["response-wrapping"] },
    ]) {
      harness.entry = entry;
      expect(sizes()).toEqual([65_536, 65_536, 65_536]);
    }
    harness.entry = undefined;
    expect(sizes()).toEqual([0, 65_536, 0]);
    expect(harness.core.isLive(Secret.of("t", "t"))).toBe(false);
  });
});
