import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import { auditDown, fakeHouse, liveEntry, minted } from "./fake-house.ts";

describe("a minting request", () => {
  it("is recorded and audited before the backend runs, and leased and audited before it is answered", async () => {
    const house = fakeHouse();
    const answer = await house.ask({});
    expect(house.steps).toEqual([
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
    expect(house.leased[0]).toMatchObject({
      path: "m/token",
      mountPoint: "m/",
      ttlMs: 3_600_000,
      token: { key: "k1" },
      intent: { requestId: answer.requestId },
    });
    expect(house.audited[1]?.response).toMatchObject({ leaseId: "m/token/x", data: minted.data });
  });

  it("does not reach the backend when its audit record cannot be written, and leaves no intent", async () => {
    const house = fakeHouse();
    house.failing.set("audit request", auditDown);
    await expect(house.ask({})).rejects.toBe(auditDown);
    expect(house.steps).not.toContain("backend");
    expect(house.steps).toContain("drop");
  });

  it("does not reach the backend when its intent cannot be stored", async () => {
    const house = fakeHouse();
    house.failing.set("intend", new StewardError("disk_full", "the store is full"));
    await expect(house.ask({})).rejects.toThrow("the store is full");
    expect(house.steps).not.toContain("backend");
  });

  it("is not answered when the second audit record cannot be written, and its lease ends at once", async () => {
    const house = fakeHouse();
    house.failing.set("audit response", auditDown);
    await expect(house.ask({})).rejects.toBe(auditDown);
    expect(house.steps).toContain("revoke m/token/x.");
  });

  it("is not answered when its lease cannot be stored, and what was made is revoked from memory", async () => {
    const house = fakeHouse();
    house.failing.set("lease", new StewardError("disk_full", "the store is full"));
    await expect(house.ask({})).rejects.toThrow("the store is full");
    expect(house.revoked).toEqual([{ token: "ghs_1" }]);
    expect(house.steps).toContain("drop");
  });

  it("leaves an orphan when its lease can neither be stored nor be revoked", async () => {
    const house = fakeHouse();
    house.failing.set("lease", new StewardError("disk_full", "the store is full"));
    house.failing.set("backend revoke", new StewardError("upstream", "down"));
    await expect(house.ask({})).rejects.toThrow("the store is full");
    expect(house.steps).toContain(
      "orphan its lease could not be stored, and it could not be revoked.",
    );
  });

  it("leaves no record when nothing was begun outside, and an orphan when nobody knows", async () => {
    const house = fakeHouse();
    house.handler = () => Promise.reject(new StewardError("invalid", "refused"));
    await expect(house.ask({})).rejects.toThrow("refused");
    expect(house.steps).toContain("drop");
    house.steps.length = 0;
    house.handler = (request) => {
      request.effect?.begin({ installation_id: 5 });
      return Promise.reject(new StewardError("deadline", "no answer"));
    };
    await expect(house.ask({})).rejects.toThrow("no answer");
    expect(house.steps).toContain("orphan no answer.");
    house.steps.length = 0;
    house.handler = (request) => {
      request.effect?.begin({});
      request.effect?.none();
      return Promise.reject(new StewardError("invalid", "said no"));
    };
    await expect(house.ask({})).rejects.toThrow("said no");
    expect(house.steps).toContain("drop");
  });

  it("is refused to a token on its last use, before anything is made", async () => {
    const house = fakeHouse();
    house.entry = { ...liveEntry, numUses: 1 };
    await expect(house.ask({})).rejects.toThrow("token had one use left");
    expect(house.steps).not.toContain("backend");
    expect(house.steps).toContain("end k1.");
  });

  it("is leased no longer than its mount allows, and says so", async () => {
    const house = fakeHouse();
    house.handler = async () => ({
      ...minted,
      secret: { ttlMs: 10_000_000, renewable: false, internalData: {} },
    });
    const answer = await house.ask({});
    expect(answer.lease?.durationSeconds).toBe(7_200);
    expect(answer.warnings).toEqual([
      'TTL of "2h46m40s" exceeded the effective max_ttl of "2h0m0s"; TTL value is capped accordingly',
    ]);
  });

  it("belongs to the parent of a batch token and ends with it", async () => {
    const house = fakeHouse();
    house.entry = { ...liveEntry, type: "batch", parent: "k0", expiresAtMs: 1_060_000 };
    expect((await house.ask({})).lease?.durationSeconds).toBe(60);
    expect(house.leased[0]?.token?.key).toBe("k0");
  });
});

describe("a refusal", () => {
  it("is audited twice and says nothing of why", async () => {
    const house = fakeHouse();
    house.decision = { allowed: false, granting: [], wrap: {}, root: false };
    await expect(house.ask({})).rejects.toMatchObject({
      code: "denied",
      message: "1 error occurred:\n\t* permission denied\n\n",
    });
    expect(house.audited.map(({ error, response }) => error ?? response?.error)).toEqual([
      "permission denied",
      "permission denied",
    ]);
    house.entry = undefined;
    await expect(house.ask({})).rejects.toMatchObject({
      code: "denied",
      message: "permission denied",
    });
    expect(house.steps).not.toContain("backend");
  });

  it("names an unmounted path to whoever may look there, and to nobody else", async () => {
    const house = fakeHouse();
    await expect(house.ask({ path: "nope/x" })).rejects.toMatchObject({
      code: "not_found",
      message: 'no handler for route "nope/x". route entry not found.',
    });
    house.entry = undefined;
    await expect(house.ask({ path: "nope/x" })).rejects.toMatchObject({ code: "denied" });
  });

  it("meets a token that comes from a network it is not bound to", async () => {
    const house = fakeHouse();
    house.entry = { ...liveEntry, boundCidrs: ["10.0.0.0/8"] };
    await expect(house.ask({ path: "m/plain" })).rejects.toMatchObject({ code: "denied" });
    await house.ask({ path: "m/plain", remote: { address: "::ffff:10.1.2.3", port: 1 } });
    expect(house.steps).toContain("backend.");
  });
});

describe("a list", () => {
  it("without names is nothing there", async () => {
    const house = fakeHouse();
    house.handler = async () => ({ data: { keys: [] } });
    expect((await house.ask({ path: "m/plain/", verb: "list" })).response).toBeUndefined();
    house.handler = async () => ({ data: { keys: ["a"] } });
    expect((await house.ask({ path: "m/plain/", verb: "list" })).response?.data).toEqual({
      keys: ["a"],
    });
  });
});

describe("an open path", () => {
  it("asks for no token, and is audited", async () => {
    const house = fakeHouse();
    house.entry = undefined;
    house.handler = async () => ({ data: { a: 1 } });
    expect(
      (await house.ask({ path: "m/open", verb: "read", token: undefined })).response?.data,
    ).toEqual({ a: 1 });
    expect(house.steps).toEqual([
      "audit request",
      "audit request.",
      "backend",
      "backend.",
      "audit response",
      "audit response.",
      "leave",
    ]);
  });
});

describe("wrapping", () => {
  it("keeps the answer and hands out a token for it, the lease stored before", async () => {
    const house = fakeHouse();
    const answer = await house.ask({ wrapTtlMs: 60_000 });
    expect(answer).toMatchObject({
      response: undefined,
      lease: undefined,
      wrap: { token: "w", ttl: 60, creation_path: "m/token" },
    });
    expect(house.steps.indexOf("lease.")).toBeLessThan(house.steps.indexOf("wrap"));
  });

  it("is refused outside the times that policies give", async () => {
    const house = fakeHouse();
    house.decision = {
      allowed: true,
      granting: ["p"],
      wrap: { minMs: 30_000, maxMs: 90_000 },
      root: false,
    };
    await expect(house.ask({})).rejects.toMatchObject({ code: "denied" });
    await expect(house.ask({ wrapTtlMs: 91_000 })).rejects.toMatchObject({ code: "denied" });
    expect((await house.ask({ wrapTtlMs: 30_000 })).wrap?.ttl).toBe(30);
    house.decision = { allowed: true, granting: ["p"], wrap: { maxMs: 90_000 }, root: false };
    await expect(house.ask({})).rejects.toMatchObject({ code: "denied" });
    expect((await house.ask({ wrapTtlMs: 1_000 })).wrap?.ttl).toBe(1);
  });

  it("leaves an answer of nothing as it is", async () => {
    const house = fakeHouse();
    house.handler = async () => undefined;
    expect(await house.ask({ path: "m/plain", wrapTtlMs: 60_000 })).toMatchObject({
      wrap: undefined,
      response: undefined,
    });
  });
});

describe("a backend that does not live with its host", () => {
  it("cannot hand out tokens, whatever it answers", async () => {
    const house = fakeHouse();
    house.handler = async () => ({ auth: { id: undefined, ttlMs: 0, made: true } });
    await expect(house.ask({ path: "m/plain" })).rejects.toMatchObject({ code: "internal" });
  });
});

describe("an error of the backend", () => {
  it("is audited with its text and reaches the caller", async () => {
    const house = fakeHouse();
    house.handler = () => Promise.reject(new StewardError("upstream", "the platform is down"));
    await expect(house.ask({ path: "m/plain" })).rejects.toThrow("the platform is down");
    expect(house.audited.at(-1)?.response?.error).toBe("the platform is down");
  });
});

describe("a request without a live token", () => {
  const wrong = (): Promise<never> =>
    Promise.reject(new StewardError("invalid", "invalid role or secret ID"));

  it("that names an unknown one is an attempt on it, and is answered 429 once there were too many", async () => {
    const house = fakeHouse();
    house.entry = undefined;
    await expect(house.ask({})).rejects.toMatchObject({ code: "denied" });
    expect(house.steps).toContain("failed 127.0.0.1 t");
    house.failing.set("attempt", new StewardError("exhausted", "too many"));
    await expect(house.ask({})).rejects.toMatchObject({ code: "exhausted" });
  });

  it("that names none is no attempt", async () => {
    const house = fakeHouse();
    house.entry = undefined;
    house.failing.set("attempt", new StewardError("exhausted", "too many"));
    await expect(house.ask({ token: undefined })).rejects.toMatchObject({ code: "denied" });
    await house.ask({ path: "m/open", token: undefined });
    expect(house.steps.some((step) => step.startsWith("failed"))).toBe(false);
  });

  it("whose body was not read is refused even if its token came alive since", async () => {
    const house = fakeHouse();
    await expect(house.ask({ unread: true })).rejects.toMatchObject({ code: "denied" });
    expect(house.steps).not.toContain("backend");
  });

  it("has two records of its own, and none but a count once its address has failed too often", async () => {
    const house = fakeHouse();
    house.entry = undefined;
    await expect(house.ask({})).rejects.toMatchObject({ code: "denied" });
    expect(house.audited).toHaveLength(2);
    house.failing.set("record", new Error("no more"));
    await expect(house.ask({})).rejects.toMatchObject({ code: "denied" });
    expect([house.audited.length, house.steps.at(-1)]).toEqual([2, "add 127.0.0.1"]);
  });

  it("is tried without effect first where it would have no records: a wrong proof is counted, a right one goes on in the usual order", async () => {
    const house = fakeHouse();
    house.entry = undefined;
    house.failing.set("record", new Error("no more"));
    house.handler = wrong;
    await expect(house.ask({ path: "m/login", data: { role_id: "r" } })).rejects.toThrow(
      "invalid role or secret ID",
    );
    expect(house.steps).toEqual(["verify", "add 127.0.0.1", "failed 127.0.0.1 r"]);
    house.steps.length = 0;
    house.failing.set("attempt", new StewardError("exhausted", "too many"));
    await expect(house.ask({ path: "m/login", data: { role_id: "r" } })).rejects.toMatchObject({
      code: "exhausted",
    });
    house.steps.length = 0;
    house.handler = async () => ({ data: { a: 1 } });
    await house.ask({ path: "m/login", data: { role_id: "r" } });
    expect(house.steps).toEqual([
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
    const house = fakeHouse();
    house.entry = undefined;
    house.failing.set("record", new Error("no more"));
    house.handler = wrong;
    await expect(house.ask({ path: "m/open", verb: "read" })).rejects.toThrow("invalid role");
    await expect(house.ask({ path: "m/open", verb: "patch" })).rejects.toMatchObject({
      code: "unsupported",
    });
    expect(house.audited).toEqual([]);
    await expect(house.ask({ path: "m/open", verb: "write" })).rejects.toThrow("invalid role");
    expect(house.audited).toHaveLength(2);
  });

  it("gives its place among the records back when it succeeds", async () => {
    const house = fakeHouse();
    house.entry = undefined;
    await house.ask({ path: "m/open", verb: "read" });
    expect(house.steps.at(-1)).toBe("leave");
  });
});

describe("the head of a request", () => {
  it("allows 32 MiB of body with a live token, 64 KiB to paths that need none, and nothing where it will be refused", () => {
    const house = fakeHouse();
    const sizes = (): number[] =>
      ["m/token", "m/open", "nowhere/x"].map((path) =>
        house.core.maxBodyBytes({
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
      house.entry = entry;
      expect(sizes()).toEqual([65_536, 65_536, 65_536]);
    }
    house.entry = undefined;
    expect(sizes()).toEqual([0, 65_536, 0]);
    expect(house.core.isLive(Secret.of("t", "t"))).toBe(false);
  });
});
