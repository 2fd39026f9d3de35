/** The page `/tokens` and `/api/tokens.json` of a running daemon. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { OverviewService } from "../../src/gen/steward/tokens/v1/overview_service_pb.ts";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import type { TokensReport } from "../../src/gen/tokens-json.ts";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import { pageFaults } from "../gateway/web/browser/faults.ts";
import {
  listenAddress,
  removeTemporaryFolders,
  rest,
  scrape,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { rawRequest } from "./raw-request.ts";
import { grpcUnary } from "./rpc.ts";
import { appKey, configure, startCodeHost, startVault, type VaultDaemon } from "./vault.ts";

useChromium();

const RPC = "/steward.tokens.v1.OverviewService/GetTokens";
const connect = { "content-type": "application/json", "connect-protocol-version": "1" };
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };

afterAll(removeTemporaryFolders);

const read = async ({ daemon }: Pick<VaultDaemon, "daemon">) => {
  const { status, json } = await rest(daemon, "GET", "/api/tokens.json");
  expect(status).toBe(200);
  return json;
};

describe("the overview of tokens", () => {
  let vault: VaultDaemon;
  let host: CodeHost;
  const secrets: string[] = [];
  const page = async (query = ""): Promise<string> =>
    (await rest(vault.daemon, "GET", `/tokens${query}`)).text;

  beforeAll(async () => {
    host = await startCodeHost();
    vault = await startVault({
      services: { dedup: false, monitor: false },
      config: 'scrape: { enabled: true, listen: "127.0.0.1:0" }',
    });
    secrets.push(vault.root, appKey.privateKey.split("\n")[3] ?? "none");
  });
  afterAll(async () => {
    await vault.daemon.stop();
    await host.stop();
  });

  it("of a mount without an app says what to write", async () => {
    const { mounts, sealed, generated_at: at } = await read(vault);
    expect([sealed, typeof at]).toEqual([false, "string"]);
    expect(mounts).toEqual([
      {
        path: "github/",
        description: expect.any(String),
        default_lease_ttl: "768h0m0s",
        max_lease_ttl: "768h0m0s",
        configured: false,
        app_id: 0,
        base_url: "",
        permission_sets: [],
        permission_sets_total: 0,
        checks: [],
        quotas: [],
      },
    ]);
    expect(await page()).toMatch(/not configured.*bao write github\/config/s);
  });

  it("has sets, leases and findings of a mount that mints", async () => {
    await configure(vault, host, { max_permissions: "contents=write,metadata=read" });
    await vault.ask("POST", "github/permissionset/ci", {
      body: { org_name: "example-org", permissions: "contents=read", repositories: "web,api" },
    });
    await vault.ask("POST", "github/permissionset/all", { body: { installation_id: 1002 } });
    const minted = await vault.ask("POST", "github/token/ci");
    expect(minted.status).toBe(200);
    secrets.push(minted.json.data.token);
    // Checks that take longer than two seconds are not waited for.
    const report = await vi.waitFor(
      async () => {
        const found = await read(vault);
        expect(found.mounts[0].checks).not.toEqual([]);
        return found;
      },
      { timeout: 60_000 },
    );
    expect(report).toMatchObject({ leases: 1, irrevocable: 0, orphans: 0 });
    expect(report.newest_leases).toEqual([
      {
        id: minted.json.lease_id,
        path: "github/token/ci",
        issued_at: expect.stringMatching(/Z$/),
        expires_at: expect.stringMatching(/Z$/),
        hashed_token: minted.json.data.hashed_token,
      },
    ]);
    const [mount] = report.mounts;
    expect(mount).toMatchObject({
      configured: true,
      app_id: 7,
      base_url: host.url,
      max_permissions: { contents: "write", metadata: "read" },
      permission_sets: [
        { name: "all", installation_id: 1002, permissions: {}, repositories: [] },
        {
          name: "ci",
          org_name: "example-org",
          permissions: { contents: "read" },
          repositories: ["web", "api"],
          repositories_total: 2,
        },
      ],
      permission_sets_total: 2,
    });
    expect(mount.checks.map(({ name, ok }: any) => [name, ok])).toEqual([
      ["config", true],
      ["key", true],
      ["app", true],
      ["clock", true],
      ["policies", true],
    ]);
    // The fresh token asked in the background what its installation has left.
    await vi.waitFor(
      async () => {
        const [{ quotas }] = (await read(vault)).mounts;
        expect(quotas).toMatchObject([{ installation_id: "1001", limit: 5_000 }]);
        expect(quotas[0].remaining).toBeLessThanOrEqual(5_000);
      },
      { timeout: 60_000 },
    );
    const metrics = await scrape(vault.daemon);
    expect(metrics).toMatch(
      /^svc_tokens_quota_remaining\{mount="github\/",installation="1001"\} \d+$/m,
    );
    const text = await page();
    expect(text).toMatch(/Calls left to installation 1001.*of 5,000/s);
    for (const shown of ["can mint", "contents=read", "example-org", "github/token/ci", "no limit"])
      expect([shown, text.includes(shown)]).toEqual([shown, shown !== "no limit"]);
  });

  it("finds the lease of a token by the hash that GitHub's audit log has", async () => {
    const [one, other] = [
      await vault.ask("POST", "github/token/ci"),
      await vault.ask("POST", "github/token/ci"),
    ];
    const found = await page(`?leases.q=${encodeURIComponent(one.json.data.hashed_token)}`);
    expect([one, other].map(({ json }) => found.includes(json.lease_id))).toEqual([true, false]);
  });

  it("marks a permission set that the ceiling refuses, and no other", async () => {
    await configure(vault, host, { max_permissions: "metadata=read" });
    const [mount] = (await read(vault)).mounts;
    expect(
      mount.permission_sets.map(({ name, above_ceiling: above }: any) => [name, above]),
    ).toEqual([
      ["all", undefined],
      ["ci", ["contents=read"]],
    ]);
    expect((await vault.ask("POST", "github/token/ci")).status).toBe(400);
    expect(await page()).toContain("refused: contents=read is above the ceiling");
    await configure(vault, host, { max_permissions: "contents=write,metadata=read" });
    expect(await page()).not.toContain("is above the ceiling");
  });

  it("shows names as text, whatever they are", async () => {
    const HOSTILE = `<img src=x onerror="alert(1)">`;
    await configure(vault, host, { max_permissions: "" });
    const written = await vault.ask("POST", "github/permissionset/hostile", {
      body: {
        org_name: HOSTILE,
        permissions: { [`${HOSTILE}'`]: `"><script>alert(1)</script>` },
        repositories: ["<svg onload=alert(1)>"],
      },
    });
    expect(written.status).toBe(200);
    await vault.ask("POST", "sys/mounts/hostile", {
      body: { type: "github", description: `${HOSTILE}</p><!--` },
    });
    expect((await vault.ask("POST", "github/token/hostile")).status).toBe(400);
    const text = await page("?leases.q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E");
    for (const shape of [/<img/, /<svg onload/, /<script>alert/, /onerror="/, /<!--\s*$/m])
      expect([shape, shape.test(text)]).toEqual([shape, false]);
    expect(text).toContain("&lt;img src=x onerror=");
    await vault.ask("DELETE", "github/permissionset/hostile");
    await configure(vault, host, { max_permissions: "contents=write,metadata=read" });
    await vault.ask("DELETE", "sys/mounts/hostile");
  });

  it("has at most 100 leases and 200 permission sets, and says how many there are", async () => {
    const config = { token_cache_min_ttl: "30m" };
    await configure(vault, host, config);
    for (let at = 0; at < 210; at += 1)
      await vault.ask("POST", `github/permissionset/set-${at}`, {
        body: { installation_id: 1001, permissions: "contents=read" },
      });
    const before = (await read(vault)).leases;
    for (let at = 0; at < 120; at += 1)
      expect((await vault.ask("POST", "github/token/ci")).status).toBe(200);
    const report = await read(vault);
    expect([report.leases, report.newest_leases.length]).toEqual([before + 120, 100]);
    const [mount] = report.mounts;
    expect([mount.permission_sets.length, mount.permission_sets_total]).toEqual([200, 212]);
    const text = await page();
    expect(text).toContain(`The newest 100 of ${before + 120}.`);
    expect(text).toContain("12 further sets not shown.");
    for (let at = 0; at < 210; at += 1) await vault.ask("DELETE", `github/permissionset/set-${at}`);
    await configure(vault, host, { token_cache_min_ttl: 0 });
  });

  it("has what was refused and why, newest first, without who asked", async () => {
    const denied = await vault.ask("POST", "github/token/ci", { token: "hvs.of-nobody" });
    expect(denied.status).toBe(403);
    const unknown = await vault.ask("POST", "github/token/nowhere");
    expect(unknown.status).toBe(400);
    const { refusals } = await read(vault);
    expect(refusals.slice(0, 2)).toMatchObject([
      {
        path: "github/token/nowhere",
        code: "invalid",
        message: expect.stringMatching(/nowhere/),
      },
      { path: "github/token/ci", code: expect.stringMatching(/denied|unauthenticated/) },
    ]);
    expect(JSON.stringify(refusals)).not.toContain("of-nobody");
    expect(await page()).toContain("github/token/nowhere");
    for (let at = 0; at < 60; at += 1) await vault.ask("POST", `github/token/nowhere-${at}`);
    const many = await read(vault);
    expect(many.refusals).toHaveLength(50);
    expect(many.refusals[0].path).toBe("github/token/nowhere-59");
  });

  it("is the same over gRPC and Connect, and filters by its address", async () => {
    const json = (await (
      await fetch(`${vault.daemon.url}${RPC}`, { method: "POST", headers: connect, body: "{}" })
    ).json()) as { readonly tokens: TokensReport };
    const grpc = await grpcUnary(vault.daemon.host, OverviewService.method.getTokens, {});
    expect(json.tokens.mounts[0]?.path).toBe("github/");
    expect(grpc.tokens?.mounts[0]?.path).toBe("github/");
    const filtered = await page("?sets-github-.q=ci");
    expect([filtered.includes("installation 1002"), filtered.includes("example-org")]).toEqual([
      false,
      true,
    ]);
  });

  it("holds no secret, neither as document nor as page", async () => {
    const all = `${JSON.stringify(await read(vault))}${await page()}`;
    for (const secret of secrets)
      expect([secret.length > 8, all.includes(secret)]).toEqual([true, false]);
  });

  it("does not take a caller's dead token in a loop for a failure of the engine", async () => {
    const from = "127.0.3.1"; // its failed attempts concern no other test
    expect((await vault.ask("POST", "github/token/ci")).status).toBe(200);
    let last = 0;
    for (let sent = 0; sent < 3_000 && last !== 429; sent += 20)
      for (const { status } of await Promise.all(
        Array.from({ length: 20 }, () =>
          vault.ask("POST", "github/token/ci", { token: "hvs.expired", from }),
        ),
      ))
        last = status;
    expect(last).toBe(429);
    const landing = (await rest(vault.daemon, "GET", "/")).text;
    expect([/A mint was refused/.test(landing), /(last mint|A mint) failed/.test(landing)]).toEqual(
      [true, false],
    );
  });

  it("says why a mount cannot mint, within its time, while its code host is silent", async () => {
    await vault.ask("POST", "sys/mounts/dead", { body: { type: "github" } });
    const body = { app_id: 7, prv_key: appKey.privateKey, base_url: "http://127.0.0.1:9" };
    await vault.ask("POST", "dead/config", { body });
    await vi.waitFor(
      async () => {
        const { mounts } = await read(vault);
        expect(mounts[0].path).toBe("dead/");
        expect(mounts[0].checks.find(({ name }: any) => name === "app")).toMatchObject({
          ok: false,
          remedy: expect.stringContaining("base_url"),
        });
      },
      { timeout: 60_000, interval: 200 },
    );
    expect(await page()).toContain("cannot mint");
  });

  it("of a sealed store says so, and how to open it", async () => {
    expect((await vault.ask("PUT", "sys/seal")).status).toBe(204);
    const report = await read(vault);
    expect(report).toMatchObject({ sealed: true, mounts: [], newest_leases: [], leases: 0 });
    expect(report.refusals).toHaveLength(50);
    expect(await page()).toMatch(/is sealed.*unseal/s);
  });
});

describe("who may read the overview of tokens", () => {
  const paths = ["/tokens", "/api/tokens.json"];
  const statuses = (url: string, headers = {}) =>
    Promise.all(paths.map(async (path) => (await rawRequest(url, "GET", path, headers)).status));
  const start = (more: object) =>
    startDaemon({
      config: JSON.stringify({
        gateway: { listen: "127.0.0.1:0" },
        state: { directory: temporaryFolder() },
        services: { dedup: false },
        ...more,
      }),
    });

  it.each<[string, object, number[], number[]]>([
    [
      "with a token those who have it",
      { admin: { auth: { token: "let-me-in-please" } } },
      [401, 401],
      [200, 200],
    ],
    ["without a landing page nobody", { admin: { landing_page: false } }, [404, 404], [404, 404]],
    [
      "without the service nobody",
      { services: { dedup: false, tokens: false } },
      [404, 404],
      [404, 404],
    ],
  ])("%s", async (_, config, without, having) => {
    const daemon = await start(config);
    expect(await statuses(daemon.url)).toEqual(without);
    expect(await statuses(daemon.url, { authorization: "Bearer let-me-in-please" })).toEqual(
      having,
    );
    await daemon.stop();
  });

  it("is on the admin listener where there is one", async () => {
    const daemon = await start({ admin: { listen: "127.0.0.1:0" } });
    const address = listenAddress(daemon, "admin");
    expect(await statuses(daemon.url)).toEqual([404, 404]);
    expect(await statuses(`http://${address}`)).toEqual([200, 200]);
    await daemon.stop();
  });
});

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  it("the page has no fault, and the status leads to it", async () => {
    const daemon = await startDaemon({
      args: ["-demo"],
      env: {
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_STATE__DIRECTORY: join(temporaryFolder(), "state"),
        STEWARD_DEMO_ROOT_TOKEN: "demo",
      },
    });
    await vi.waitFor(
      async () => expect((await read({ daemon })).newest_leases.length).toBeGreaterThan(1),
      { timeout: 60_000, interval: 100 },
    );
    for (const viewport of [PHONE, DESK]) {
      const watched = await openPage({ viewport, bypassCSP: true });
      await watched.page.goto(`${daemon.url}/tokens`);
      await ready(watched.page);
      expect([viewport.width, await pageFaults(watched)]).toEqual([viewport.width, []]);
    }
    const { page } = await openPage({ viewport: DESK });
    await page.goto(`${daemon.url}/tokens`);
    await ready(page);
    await page.fill("#leases-table input[type=search]", "deploy");
    await expect.poll(() => page.locator("#leases-table tbody tr").count()).toBe(1);
    expect(page.url()).toContain("leases.q=deploy");
    await page.goto(`${daemon.url}/`);
    // On a busy machine the page may be drawn anew between the press and the release of the button.
    await page.press("a.whole[href='/tokens']", "Enter");
    await page.waitForURL("**/tokens", { waitUntil: "commit", timeout: 120_000 });
    expect(await page.textContent("main h2")).toBe("Tokens");
    await daemon.stop();
  });

  it("the page has no fault with long and hostile names, a refused set and shared leases", async () => {
    const host = await startCodeHost();
    const vault = await startVault({ services: { dedup: false, monitor: false } });
    const hostile = `<img src=x onerror="alert(1)">${"W".repeat(200)}`;
    await configure(vault, host, { token_cache_min_ttl: "30m" });
    await vault.ask("POST", `github/permissionset/${"a".repeat(256)}`, {
      body: { org_name: hostile, permissions: { [hostile]: "read" }, repositories: [hostile] },
    });
    const body = { installation_id: 1001, permissions: "contents=write" };
    await vault.ask("POST", "github/permissionset/wide", { body });
    await configure(vault, host, { max_permissions: "contents=read" });
    await vault.ask("POST", "github/token/wide");
    await vault.ask("POST", `github/token/${"z".repeat(900)}`);
    for (let at = 0; at < 3; at += 1)
      await vault.ask("POST", "github/token", { body: { installation_id: 1001 } });
    for (const viewport of [PHONE, DESK]) {
      const watched = await openPage({ viewport, bypassCSP: true });
      await watched.page.goto(`${vault.daemon.url}/tokens`);
      await ready(watched.page);
      expect([viewport.width, await pageFaults(watched)]).toEqual([viewport.width, []]);
    }
    await vault.daemon.stop();
    await host.stop();
  });
});
