import { describe, expect, it } from "vitest";
import { createFaults, type Fault } from "../../../src/demo/code-host/faults.ts";
import { ask, startHost } from "./support.ts";

describe("faults", () => {
  it("queue per operation, in order, each as often as it was asked for", () => {
    const faults = createFaults();
    expect(faults.take("mint")).toBeUndefined();
    faults.next("mint", { kind: "reset" }, 2);
    faults.next("mint", { kind: "hang" });
    faults.next("revoke", { kind: "garbage" }, Infinity);
    faults.next("app", { kind: "garbage" }, 0);
    expect([
      faults.pending("mint"),
      faults.pending("revoke"),
      faults.pending("app"),
      faults.pending(),
    ]).toEqual([3, Infinity, 0, Infinity]);
    expect(["mint", "mint", "mint", "mint"].map(() => faults.take("mint")?.kind)).toEqual([
      "reset",
      "reset",
      "hang",
      undefined,
    ]);
    for (let index = 0; index < 5; index++) expect(faults.take("revoke")?.kind).toBe("garbage");
    faults.clear("revoke");
    expect(faults.take("revoke")).toBeUndefined();
    faults.next("app", { kind: "reset" });
    faults.clear();
    expect(faults.pending()).toBe(0);
  });

  it("answer with a status, a page, another place or nonsense instead, and then all is well again", async () => {
    const { host, mint } = await startHost();
    host.faults.next("mint", {
      kind: "status",
      status: 429,
      message: "slow down",
      headers: { "retry-after": "3" },
    });
    host.faults.next("mint", { kind: "html" });
    host.faults.next("mint", { kind: "redirect", location: "http://elsewhere.example/" });
    host.faults.next("mint", { kind: "garbage" });
    const answers = [await mint(), await mint(), await mint(), await mint()];
    expect(answers.map(({ status }) => status)).toEqual([429, 502, 307, 201]);
    expect([
      answers[0]?.headers["retry-after"],
      answers[0]?.json.message,
      answers[1]?.headers["content-type"],
      answers[2]?.headers.location,
      answers[3]?.json,
    ]).toEqual([
      "3",
      "slow down",
      "text/html; charset=utf-8",
      "http://elsewhere.example/",
      undefined,
    ]);
    expect(host.counts().minted).toBe(0);
    expect((await mint()).status).toBe(201);
  });

  it("lose the answer of what took place when they are told to", async () => {
    const { host, mint, call } = await startHost();
    const { token } = (await mint()).json;
    const lost: Fault[] = [
      { kind: "status", status: 500, effect: true },
      { kind: "html", effect: true },
      { kind: "reset", effect: true },
      { kind: "garbage", effect: true },
    ];
    for (const fault of lost) {
      host.faults.next("mint", fault);
      await mint().catch(() => undefined);
    }
    expect(host.counts()).toMatchObject({ minted: 5, live: 5 });
    host.faults.next("revoke", { kind: "reset", effect: true });
    await expect(call("DELETE", "/installation/token", { as: token })).rejects.toThrow();
    expect((await call("DELETE", "/installation/token", { as: token })).status).toBe(401);
    expect(host.counts().revoked).toBe(1);
  });

  it("reset, truncate, hang and answer late on a real connection", async () => {
    const { host, mint } = await startHost();
    host.faults.next("mint", { kind: "reset" });
    await expect(mint()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(host.counts().minted).toBe(0);
    host.faults.next("mint", { kind: "truncate" });
    await expect(mint()).rejects.toThrow("aborted");
    host.faults.next("mint", { kind: "truncate", bytes: 0 });
    await expect(mint()).rejects.toThrow();
    host.faults.next("mint", { kind: "delay", ms: 15 });
    host.faults.next("mint", { kind: "delay", ms: 15, effect: true });
    const before = performance.now();
    expect([(await mint()).status, (await mint()).status]).toEqual([201, 201]);
    expect(performance.now() - before).toBeGreaterThanOrEqual(29);
    expect(host.counts().minted).toBe(4);
    host.faults.next("mint", { kind: "hang", effect: true });
    const hung = mint().catch((error: unknown) => error);
    while (host.counts().minted < 5) await new Promise((resolve) => setImmediate(resolve));
    await host.stop();
    expect(await hung).toBeInstanceOf(Error);
  });

  it("hold the true answer until they are told to let it go, and nothing of a client that left", async () => {
    const { host, mint } = await startHost();
    const release = Promise.withResolvers<void>();
    host.faults.next("mint", { kind: "hold", until: release.promise });
    const held = mint();
    while (host.requests().mint < 1) await new Promise((resolve) => setImmediate(resolve));
    expect((await mint()).status).toBe(201);
    expect(host.counts().minted).toBe(1);
    release.resolve();
    expect((await held).status).toBe(201);
    host.faults.next("mint", { kind: "hold", until: new Promise(() => undefined) });
    const left = mint().catch((error: unknown) => error);
    while (host.requests().mint < 3) await new Promise((resolve) => setImmediate(resolve));
    await host.stop();
    expect(await left).toBeInstanceOf(Error);
    expect(host.counts().minted).toBe(2);
  });

  it("drip and bloat the true answer, whole in the end", async () => {
    const { host, mint } = await startHost();
    host.faults.next("mint", { kind: "drip", intervalMs: 1, bytes: 50 });
    const before = performance.now();
    expect((await mint()).json.token).toMatch(/^ghs_/);
    expect(performance.now() - before).toBeGreaterThanOrEqual(4);
    host.faults.next("mint", { kind: "oversize", bytes: 3_000_000 });
    const bloated = await mint();
    expect([bloated.raw.length, bloated.json.repository_selection]).toEqual([3_000_000, "all"]);
  });

  it("end with a client that leaves in the middle", async () => {
    const { host, jwt } = await startHost();
    host.faults.next("app", { kind: "drip", intervalMs: 60_000 });
    host.faults.next("app", { kind: "oversize", bytes: 2 ** 31 });
    for (let index = 0; index < 2; index++) {
      const left = new AbortController();
      const answer = fetch(`${host.url}/app`, {
        headers: { authorization: `Bearer ${jwt()}` },
        signal: left.signal,
      });
      await answer;
      left.abort();
    }
    await host.stop(5000);
    expect(host.requests().app).toBe(2);
  });

  it("change single members of the true answer, and leave refusals alone", async () => {
    const { host, mint, jwt } = await startHost();
    host.faults.next("mint", { kind: "no_expiry" });
    host.faults.next("mint", { kind: "null_repositories" });
    host.faults.next("mint", {
      kind: "patch",
      members: { token: 7, expires_at: "yesterday", permissions: undefined },
    });
    const [first, second, third] = [
      (await mint()).json,
      (await mint({ repositories: ["web"] })).json,
      (await mint()).json,
    ];
    expect("expires_at" in first).toBe(false);
    expect([second.repositories, second.repository_selection]).toEqual([null, "selected"]);
    expect([third.token, third.expires_at, "permissions" in third]).toEqual([
      7,
      "yesterday",
      false,
    ]);
    host.faults.next("mint", { kind: "no_expiry" });
    expect(
      (await ask(host.url, "POST", "/app/installations/9/access_tokens", { as: jwt() })).json
        .message,
    ).toBe("Not Found");
    expect(host.counts().minted).toBe(3);
  });
});
