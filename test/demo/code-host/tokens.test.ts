import { describe, expect, it } from "vitest";
import { startHost, twoApps } from "./support.ts";

describe("a token", () => {
  it("sees the repositories it was made for, page by page, and no others", async () => {
    const { mint, call, host } = await startHost();
    const all = (await mint()).json.token;
    const some = (await mint({ repositories: ["web"] })).json.token;
    const page = await call("GET", "/installation/repositories?per_page=2", { as: all });
    expect(page.json).toMatchObject({
      total_count: 3,
      repository_selection: "all",
      repositories: [{ name: "web" }, { name: "api" }],
    });
    expect(page.headers.link).toBe(
      `<${host.url}/installation/repositories?per_page=2&page=2>; rel="next", <${host.url}/installation/repositories?per_page=2&page=2>; rel="last"`,
    );
    expect((await call("GET", "/installation/repositories", { as: some })).json).toMatchObject({
      total_count: 1,
      repository_selection: "selected",
    });
    expect((await call("GET", "/repos/example-org/web", { as: some })).json.full_name).toBe(
      "Example-Org/web",
    );
    expect(
      (await call("GET", "/repositories/1", { headers: { authorization: `token ${some}` } })).json
        .id,
    ).toBe(1);
    expect((await call("GET", "/repos/example-org/api", { as: some })).json).toMatchObject({
      message: "Not Found",
      status: "404",
    });
    expect((await call("GET", "/repos/other/own", { as: all })).status).toBe(404);
    expect((await call("GET", "/repos/old-org/web", { as: some })).headers.location).toBe(
      `${host.url}/repositories/1`,
    );
  });

  it("reads what is public without belonging, as anybody does", async () => {
    const { mint, call } = await startHost();
    const some = (await mint({ repositories: ["web"] })).json.token;
    expect((await call("GET", "/repos/example-org/site", { as: some })).status).toBe(200);
    expect((await call("GET", "/repos/example-org/site")).status).toBe(200);
    expect((await call("GET", "/repos/example-org/web")).status).toBe(404);
  });

  it("is good until it is revoked, once", async () => {
    const { mint, call } = await startHost();
    const { token } = (await mint()).json;
    const end = await call("DELETE", "/installation/token", { as: token });
    expect([end.status, end.raw.length]).toEqual([204, 0]);
    const refusal = {
      message: "Bad credentials",
      documentation_url: "https://docs.github.com/rest",
      status: "401",
    };
    for (const [method, path] of [
      ["DELETE", "/installation/token"],
      ["GET", "/installation/repositories"],
      ["GET", "/repos/example-org/web"],
      ["GET", "/rate_limit"],
    ] as const) {
      expect((await call(method, path, { as: token })).json).toEqual(refusal);
    }
  });

  it("is good until it expires, to the second", async () => {
    const { mint, call, clock } = await startHost({ tokenLifetimeMs: 60_000 });
    const { token, expires_at: expires } = (await mint()).json;
    clock.advance(59_999);
    expect((await call("GET", "/repos/example-org/web", { as: token })).status).toBe(200);
    clock.advance(1);
    expect(Date.parse(expires)).toBe(clock.now());
    expect((await call("GET", "/repos/example-org/web", { as: token })).json.message).toBe(
      "Bad credentials",
    );
  });

  it("ends with its installation, and pauses with it", async () => {
    const { mint, call, host } = await startHost();
    const tokens = [(await mint()).json.token, (await mint()).json.token];
    host.estate.change(1001, { suspendedAt: "2026-01-01T00:00:00Z" });
    expect((await call("GET", "/repos/example-org/web", { as: tokens[0] })).json).toMatchObject({
      message: "This installation has been suspended",
      status: "403",
    });
    expect((await call("DELETE", "/installation/token", { as: tokens[0] })).status).toBe(204);
    host.estate.uninstall(1001);
    expect((await call("GET", "/repos/example-org/web", { as: tokens[1] })).json.message).toBe(
      "Bad credentials",
    );
  });

  it("may take a while before it is known, to read and to be revoked", async () => {
    const { mint, call, clock, host } = await startHost({ replicationLagMs: 5000 });
    const { token } = (await mint()).json;
    const read = async () => (await call("GET", "/repos/example-org/web", { as: token })).status;
    const revoke = async () => (await call("DELETE", "/installation/token", { as: token })).status;
    clock.advance(4999);
    expect([await read(), await revoke(), host.counts().live]).toEqual([401, 401, 1]);
    clock.advance(1);
    expect([await read(), await revoke(), host.counts().live]).toEqual([200, 204, 0]);
  });

  it("is required where one is required, and a JWT is none", async () => {
    const { call, jwt } = await startHost();
    for (const [method, path] of [
      ["DELETE", "/installation/token"],
      ["GET", "/installation/repositories"],
    ] as const) {
      expect((await call(method, path)).json).toMatchObject({
        message: "Requires authentication",
        status: "401",
      });
      for (const as of [jwt(), "ghs_000000000000000000000000000000000000", "%%%"])
        expect((await call(method, path, { as })).json.message).toBe("Bad credentials");
    }
  });
});

describe("the hourly quota", () => {
  it("is counted per installation, told in headers, and asking for it is free", async () => {
    const { mint, call, clock } = await startHost({ hourlyLimit: 3 });
    const { token } = (await mint()).json;
    const used: unknown[] = [];
    for (const path of [
      "/repos/example-org/web",
      "/rate_limit",
      "/repos/example-org/nope",
      "/installation/repositories",
    ]) {
      const { headers } = await call("GET", path, { as: token });
      used.push([
        headers["x-ratelimit-limit"],
        headers["x-ratelimit-used"],
        headers["x-ratelimit-remaining"],
        headers["x-ratelimit-resource"],
      ]);
    }
    expect(used).toEqual([
      ["3", "1", "2", "core"],
      ["3", "1", "2", "core"],
      ["3", "2", "1", "core"],
      ["3", "3", "0", "core"],
    ]);
    const over = await call("GET", "/repos/example-org/web", { as: token });
    expect([over.status, over.json.message, over.headers["x-ratelimit-remaining"]]).toEqual([
      403,
      "API rate limit exceeded for installation ID 1001.",
      "0",
    ]);
    const resetAt = Number(over.headers["x-ratelimit-reset"]);
    expect(resetAt).toBe(Math.floor(clock.now() / 1000) + 3600);
    expect((await call("GET", "/rate_limit", { as: token })).json.rate).toEqual({
      limit: 3,
      used: 3,
      remaining: 0,
      reset: resetAt,
    });
    clock.advance(3_600_000);
    const again = (await mint()).json.token;
    expect(
      (await call("GET", "/repos/example-org/web", { as: again })).headers["x-ratelimit-used"],
    ).toBe("1");
  });

  it("grows with the repositories, and is 60 for nobody", async () => {
    const repositories = Array.from({ length: 30 }, (_, index) => ({
      id: 100 + index,
      name: `r${index}`,
    }));
    const { call, jwt } = await startHost({
      apps: twoApps([
        {
          id: 5,
          account: { login: "wide", type: "Organization" },
          permissions: { contents: "read" },
          repositories,
        },
      ]),
    });
    const { token } = (await call("POST", "/app/installations/5/access_tokens", { as: jwt() }))
      .json;
    expect((await call("GET", "/rate_limit", { as: token })).json.rate.limit).toBe(5500);
    expect((await call("GET", "/rate_limit")).json.rate.limit).toBe(60);
  });

  it("is not there when it is off, and never counts what an app does as itself", async () => {
    const { mint, call } = await startHost({ hourlyLimit: "off" });
    const minted = await mint();
    expect(Object.keys(minted.headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual(
      [],
    );
    expect((await call("GET", "/rate_limit", { as: minted.json.token })).json).toMatchObject({
      message: "Rate limiting is not enabled.",
      status: "404",
    });
    expect(
      (await call("GET", "/repos/example-org/web", { as: minted.json.token })).headers[
        "x-ratelimit-limit"
      ],
    ).toBeUndefined();
  });
});
