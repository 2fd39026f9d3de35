import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createCodeHost } from "../../../src/demo/code-host/code-host.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { setClock, silent, startHost, twoApps } from "./support.ts";

describe("every answer", () => {
  it("has the headers that upstream's have", async () => {
    const { call, jwt, clock } = await startHost();
    const [one, two] = [
      await call("GET", "/app", { as: jwt() }),
      await call("GET", "/app", { as: jwt(), headers: { "x-github-api-version": "2026-03-10" } }),
    ];
    expect(one.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-length": String(one.raw.length),
      date: new Date(clock.now()).toUTCString(),
      server: "github.com",
      "x-github-media-type": "github.v3; format=json",
      "x-github-api-version-selected": "2022-11-28",
    });
    expect(two.headers["x-github-api-version-selected"]).toBe("2026-03-10");
    expect(one.headers["x-github-request-id"]).toMatch(
      /^[0-9A-F]{4}:[0-9A-F]{4}:[0-9A-F]+:[0-9A-F]+$/,
    );
    expect(two.headers["x-github-request-id"]).not.toBe(one.headers["x-github-request-id"]);
  });

  it("is compressed only when that is switched on and wanted", async () => {
    const headers = { "accept-encoding": "gzip" };
    const on = await startHost({ gzip: true });
    const zipped = await on.call("GET", "/app/installations", { as: on.jwt(), headers });
    expect([
      zipped.headers["content-encoding"],
      JSON.parse(gunzipSync(zipped.raw).toString())[0].id,
    ]).toEqual(["gzip", 1001]);
    expect((await on.call("GET", "/app/installations", { as: on.jwt() })).json[0].id).toBe(1001);
    const off = await startHost();
    expect(
      (await off.call("GET", "/app/installations", { as: off.jwt(), headers })).json[0].id,
    ).toBe(1001);
  });
});

describe("a request", () => {
  it("without a User-Agent is forbidden, in plain text", async () => {
    const { call, jwt, host } = await startHost();
    const answer = await call("POST", "/app/installations/1001/access_tokens", {
      as: jwt(),
      headers: { "user-agent": "" },
    });
    expect([answer.status, answer.headers["content-type"], answer.raw.toString()]).toEqual([
      403,
      "text/html; charset=utf-8",
      expect.stringContaining("Please make sure your request has a User-Agent header"),
    ]);
    expect(host.counts().minted).toBe(0);
  });

  it("for a version that is not served is 400", async () => {
    const { call, jwt } = await startHost();
    expect(
      (await call("GET", "/app", { as: jwt(), headers: { "x-github-api-version": "2020-01-01" } }))
        .json,
    ).toMatchObject({ message: expect.stringContaining("2020-01-01"), status: "400" });
  });

  it("for anything that is not there is 404 in JSON", async () => {
    const { call, jwt, host } = await startHost();
    for (const [method, path] of [
      ["GET", "/"],
      ["GET", "//app"],
      ["GET", "/app/"],
      ["PUT", "/app"],
      ["GET", "/api/v3"],
      ["GET", "/api/v3/nope"],
      ["GET", "/orgs/%E0%A4%A/installation"],
      ["GET", "/orgs//installation"],
      ["GET", "/app/%2E%2E"],
      ["GET", `/${"x/".repeat(4000)}`],
    ] as const) {
      expect((await call(method, path, { as: jwt() })).json).toEqual({
        message: "Not Found",
        documentation_url: "https://docs.github.com/rest",
        status: "404",
      });
    }
    expect(host.requests().unknown).toBe(10);
  });

  it("with too large a body is 413, whether it says so or not", async () => {
    const { call, jwt, host } = await startHost({ maxBodyBytes: 1000 });
    const body = JSON.stringify({ repositories: ["x".repeat(1000)] });
    for (const headers of [{}, { "transfer-encoding": "chunked" }])
      expect(
        (await call("POST", "/app/installations/1001/access_tokens", { as: jwt(), body, headers }))
          .status,
      ).toBe(413);
    expect(host.counts().minted).toBe(0);
  });

  it("below /api/v3 is the same with addresses that stay below it", async () => {
    const { call, jwt, host } = await startHost();
    expect(
      (await call("GET", "/api/v3/app/installations/1001", { as: jwt() })).json.access_tokens_url,
    ).toBe(`${host.url}/api/v3/app/installations/1001/access_tokens`);
    const minted = await call("POST", "/api/v3/app/installations/1001/access_tokens", {
      as: jwt(),
      body: { repositories: ["web"] },
    });
    expect(minted.json.repositories[0].url).toBe(`${host.url}/api/v3/repos/Example-Org/web`);
    expect(
      (await call("DELETE", "/api/v3/installation/token", { as: minted.json.token })).status,
    ).toBe(204);
  });
});

describe("secondary limits", () => {
  it("bound the mints of an app in a minute, told by retry-after", async () => {
    const { mint, clock, host } = await startHost({
      secondary: { mintsPerMinute: 2, retryAfterS: 7 },
    });
    await mint();
    await mint();
    const over = await mint();
    expect([over.status, over.headers["retry-after"], over.json.message]).toEqual([
      403,
      "7",
      expect.stringContaining("You have exceeded a secondary rate limit"),
    ]);
    expect(host.counts().minted).toBe(2);
    clock.advance(60_000);
    expect((await mint()).status).toBe(201);
  });

  it("bound the requests at once, told by 429 and the time of reset", async () => {
    const { call, jwt, host, clock } = await startHost({
      secondary: { concurrent: 1, status: 429, announce: "reset" },
    });
    host.faults.next("app", { kind: "hang" });
    const hung = call("GET", "/app", { as: jwt() }).catch(() => "cut");
    while (host.requests().app === 0) await new Promise((resolve) => setImmediate(resolve));
    const over = await call("GET", "/app/installations", { as: jwt() });
    expect([
      over.status,
      over.headers["x-ratelimit-remaining"],
      over.headers["x-ratelimit-reset"],
    ]).toEqual([429, "0", String(Math.floor(clock.now() / 1000) + 60)]);
    await host.stop();
    expect(await hung).toBe("cut");
  });
});

describe("what was seen", () => {
  it("is counted per operation and shows the latest request without its credential", async () => {
    const { mint, call, jwt, host } = await startHost();
    const { token } = (
      await mint({ repositories: ["web"] }, { accept: "application/vnd.github+json" })
    ).json;
    await call("GET", "/api/v3/installation/repositories?page=2", { as: token });
    expect(host.requests()).toMatchObject({ mint: 1, repositories: 1, app: 0, unknown: 0 });
    expect(host.lastRequest()).toMatchObject({
      operation: "repositories",
      method: "GET",
      path: "/api/v3/installation/repositories?page=2",
      headers: { authorization: "Bearer [secret]" },
    });
    const seen = host.lastRequest("mint");
    expect(seen).toMatchObject({
      body: '{"repositories":["web"]}',
      headers: { accept: "application/vnd.github+json", authorization: "Bearer [secret]" },
      claims: { iss: 1 },
    });
    expect(JSON.stringify([seen, host.lastRequest()])).not.toContain(token);
    expect(JSON.stringify(seen)).not.toContain(jwt().split(".")[2]);
    expect(host.lastRequest("app")).toBeUndefined();
  });
});

describe("a host", () => {
  it("has an address between start and stop, and stops without start and twice", async () => {
    const idle = createCodeHost(
      { clock: setClock(), ids: systemIds, log: silent },
      { apps: twoApps() },
    );
    expect([idle.url, idle.port]).toEqual(["", 0]);
    await idle.stop();
    const { host } = await startHost();
    expect(host.url).toBe(`http://127.0.0.1:${host.port}`);
    await host.stop();
    await host.stop();
  });

  it("may answer late", async () => {
    const { call, jwt } = await startHost({ latencyMs: 20 });
    const before = performance.now();
    expect((await call("GET", "/app", { as: jwt() })).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThanOrEqual(19);
  });

  it("refuses an address that others can reach", () => {
    expect(() =>
      createCodeHost(
        { clock: setClock(), ids: systemIds, log: silent },
        { apps: [], address: { host: "0.0.0.0", port: 0 } },
      ),
    ).toThrow("code host");
  });
});
