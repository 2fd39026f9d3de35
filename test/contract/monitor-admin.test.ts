import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { daemonSchema } from "../../src/daemon/configuration.ts";
import { createNetwork } from "../../src/demo/network/network.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { variableOf } from "../../src/kernel/config/key.ts";
import { silent } from "../demo/control-plane/support.ts";
import { freePort } from "../support/free-port.ts";
import { startHeadscale } from "../support/headscale/headscale.ts";
import {
  listenAddress,
  removeTemporaryFolders,
  rest,
  runSteward,
  scrape,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { rawRequest, type RawAnswer } from "./raw-request.ts";

afterAll(removeTemporaryFolders);

const DOCUMENTS = [
  "/api/status.json",
  "/api/config.json",
  "/api/cardinality.json",
  "/api/events.json",
  "/api/presence.json",
];
/** What the landing switch takes away beside `/`. */
const LANDING = [
  ...DOCUMENTS,
  "/api/support-bundle.zip",
  "/monitor",
  "/events",
  "/devices",
  "/devices/web-1",
];
const ADMIN = [...LANDING, "/"];
const PAGES = ["/", "/monitor", "/events", "/devices", "/devices/web-1"];
const PROBES = ["/healthz", "/readyz"];
const STATUS_RPC = "/steward.monitor.v1.StatusService/GetStatus";
const connect = { "content-type": "application/json", "connect-protocol-version": "1" };

async function start(environment: Readonly<Record<string, string>> = {}): Promise<Daemon> {
  return await startDaemon({
    env: {
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
      STEWARD_STATE__DIRECTORY: temporaryFolder(),
      STEWARD_SERVICES__DEDUP: "false",
      STEWARD_SERVICES__TOKENS: "false",
      ...environment,
    },
  });
}

function adminUrl(daemon: Daemon): string {
  return `http://${listenAddress(daemon, "admin") ?? ""}`;
}

async function statuses(
  url: string,
  paths: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<number[]> {
  return await Promise.all(
    paths.map(async (path) => (await rawRequest(url, "GET", path, headers)).status),
  );
}

function expectSecurityHeaders({ headers }: RawAnswer, cacheControl = "no-store"): void {
  expect(headers["content-security-policy"]).toMatch(/default-src 'none'/);
  expect(headers["content-security-policy"]).not.toContain("unsafe-inline");
  expect(headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": cacheControl,
  });
  expect(headers["strict-transport-security"]).toBeUndefined();
}

describe("the admin surface without a token", () => {
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await start();
  });
  afterAll(async () => {
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });

  it.each([...ADMIN, ...PROBES])(
    "answers GET and HEAD of %s, whatever the query is, and refuses every other method",
    async (path) => {
      for (const query of ["", "?", "?x=1&x=2", "?%zz", `?${"q".repeat(4_000)}`]) {
        const got = await rawRequest(daemon.url, "GET", `${path}${query}`);
        expect([path, query.slice(0, 10), got.status]).toEqual([path, query.slice(0, 10), 200]);
        // A browser may keep what it asks for again each time: these have an entity tag.
        expectSecurityHeaders(
          got,
          PAGES.includes(path) || path === "/api/status.json" ? "private, no-cache" : "no-store",
        );
      }
      const head = await rawRequest(daemon.url, "HEAD", path);
      expect([head.status, head.text, Number(head.headers["content-length"]) > 0]).toEqual([
        200,
        "",
        true,
      ]);
      for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
        const refused = await rawRequest(daemon.url, method, path, { "content-length": "0" });
        expect([
          method,
          refused.status,
          refused.headers["allow"],
          refused.text,
          refused.headers["content-type"],
        ]).toEqual([method, 405, "GET, HEAD", "Method Not Allowed\n", "text/plain; charset=utf-8"]);
        expectSecurityHeaders(refused);
      }
    },
  );

  it("writes documents as JSON with two spaces and a line break, each with its version", async () => {
    for (const path of DOCUMENTS) {
      const { headers, text } = await rawRequest(daemon.url, "GET", path);
      expect([
        path,
        headers["content-type"],
        text.startsWith('{\n  "schema_version": 1,'),
        text.endsWith("}\n"),
      ]).toEqual([path, "application/json", true, true]);
      expect(() => JSON.parse(text) as unknown).not.toThrow();
    }
    expect(
      (await rawRequest(daemon.url, "GET", "/api/config.json")).headers["content-disposition"],
    ).toBe('attachment; filename="steward-config.json"');
    const status = JSON.parse((await rawRequest(daemon.url, "GET", "/api/status.json")).text) as {
      config: { schema_version: number };
      cardinality: { schema_version: number };
    };
    expect([status.config.schema_version, status.cardinality.schema_version]).toEqual([1, 1]);
  });

  it("shows what the monitor says on the page", async () => {
    const page = await rawRequest(daemon.url, "GET", "/");
    const status = JSON.parse((await rawRequest(daemon.url, "GET", "/api/status.json")).text) as {
      service: { version: string };
    };
    expect([
      page.text.includes("does not answer"),
      page.text.includes(status.service.version),
    ]).toEqual([false, true]);
  });

  it("answers the same by Connect", async () => {
    const { json } = await rest(daemon, "POST", STATUS_RPC, {}, connect);
    expect(json.status).toMatchObject({
      schemaVersion: 1,
      provider: "tailscale",
      health: "HEALTH_HEALTHY",
    });
  });

  it("knows no other path, in text", async () => {
    for (const path of [
      "/api/nope",
      "/api/status.json/",
      "/api/",
      "/debug/pprof/",
      "//api/status.json",
    ]) {
      const { status, text, headers } = await rawRequest(daemon.url, "GET", path);
      expect([path, status, text, headers["content-type"]]).toEqual([
        path,
        404,
        "404 page not found\n",
        "text/plain; charset=utf-8",
      ]);
    }
    expect((await rawRequest(daemon.url, "GET", "/metrics")).text).toMatch(
      /^404 page not found: metrics are at .+\n$/,
    );
  });

  it("answers only under names of this machine, probes under any", async () => {
    const port = new URL(daemon.url).port;
    for (const host of [
      `127.0.0.1:${port}`,
      "localhost",
      `localhost.:${port}`,
      "[::1]",
      "127.9.9.9",
    ])
      expect([host, await statuses(daemon.url, ADMIN, { host })]).toEqual([
        host,
        ADMIN.map(() => 200),
      ]);
    for (const host of ["steward.example.org", "127.0.0.1.example.org", "10.0.0.1"]) {
      expect([host, await statuses(daemon.url, ADMIN, { host })]).toEqual([
        host,
        ADMIN.map(() => 403),
      ]);
      expect(await statuses(daemon.url, PROBES, { host })).toEqual([200, 200]);
      const refused = await rawRequest(daemon.url, "GET", "/api/status.json", { host });
      expect(refused.headers["www-authenticate"]).toBeUndefined();
      expect(refused.text).toMatch(/allowed_hosts|token/);
      expectSecurityHeaders(refused);
      expect(
        (await rawRequest(daemon.url, "POST", STATUS_RPC, { ...connect, host }, "{}")).status,
      ).toBe(403);
    }
  });

  it("refuses what a page of another site posts", async () => {
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://elsewhere.example" },
      { origin: "null" },
    ]) {
      expect(
        (await rawRequest(daemon.url, "POST", STATUS_RPC, { ...connect, ...headers }, "{}")).status,
      ).toBe(403);
    }
    expect(
      (
        await rawRequest(
          daemon.url,
          "POST",
          STATUS_RPC,
          { ...connect, "sec-fetch-site": "same-origin" },
          "{}",
        )
      ).status,
    ).toBe(200);
  });

  it("gives a support bundle, with devices only for exactly 1", async () => {
    const entries = async (query: string) =>
      Object.keys(
        unzipSync(
          new Uint8Array(
            (await rawRequest(daemon.url, "GET", `/api/support-bundle.zip${query}`)).body,
          ),
        ),
      );
    expect((await entries("")).slice(0, 3)).toEqual([
      "manifest.json",
      "version.json",
      "diagnostics.json",
    ]);
    expect([
      (await entries("?include_devices=1")).includes("devices.json"),
      (await entries("?include_devices=yes")).includes("devices.json"),
    ]).toEqual([true, false]);
  });
});

describe("the admin surface with tokens", () => {
  const operator = "operator-0123456789abcdef";
  const admin = "admin-0123456789abcdef";
  const basic = (password: string) => ({
    authorization: `Basic ${Buffer.from(`anybody:${password}`).toString("base64")}`,
  });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it("takes the administrator's alone, as Bearer or Basic, under any name, and counts whom it refuses by reason", async () => {
    const daemon = await start({
      STEWARD_AUTH__TOKEN: operator,
      STEWARD_ADMIN__AUTH__TOKEN: admin,
      STEWARD_SCRAPE__ENABLED: "true",
      STEWARD_SCRAPE__LISTEN: "127.0.0.1:0",
    });
    for (const headers of [
      {},
      bearer(operator),
      bearer(`${admin}x`),
      bearer(""),
      basic(operator),
      { authorization: admin },
      { authorization: "Basic %%%" },
    ]) {
      for (const path of ADMIN) {
        const refused = await rawRequest(daemon.url, "GET", path, headers);
        expect([path, refused.status, refused.headers["www-authenticate"], refused.text]).toEqual([
          path,
          401,
          'Basic realm="steward admin"',
          "Unauthorized\n",
        ]);
        expectSecurityHeaders(refused);
      }
      expect(
        (await rawRequest(daemon.url, "POST", STATUS_RPC, { ...connect, ...headers }, "{}")).status,
      ).toBe(401);
      expect(await statuses(daemon.url, PROBES, headers)).toEqual([200, 200]);
    }
    for (const headers of [
      bearer(admin),
      { authorization: `bEARER ${admin}` },
      basic(admin),
      { ...bearer(admin), host: "steward.example.org" },
    ]) {
      expect(await statuses(daemon.url, ADMIN, headers)).toEqual(ADMIN.map(() => 200));
      expect(
        (await rawRequest(daemon.url, "POST", STATUS_RPC, { ...connect, ...headers }, "{}")).status,
      ).toBe(200);
    }
    expect(
      (
        await rawRequest(
          daemon.url,
          "POST",
          STATUS_RPC,
          { ...connect, ...basic(admin), origin: "https://elsewhere.example" },
          "{}",
        )
      ).status,
    ).toBe(403);
    const rejected = (await scrape(daemon))
      .split("\n")
      .filter((line) => line.startsWith("svc_admin_auth_rejected_total{"));
    for (const reason of ["missing_credentials", "bad_credentials", "cross_site_request"])
      expect(rejected.join("\n")).toMatch(new RegExp(`reason="${reason}".* [1-9]`));
    await daemon.stop();
  });
});

describe("the admin surface on a listener of its own", () => {
  let squatter: Server | undefined;
  afterAll(() => void squatter?.close());

  it("leaves the gateway, where probes stay and the first page is a short one", async () => {
    const daemon = await start({ STEWARD_ADMIN__LISTEN: "127.0.0.1:0" });
    const admin = adminUrl(daemon);
    expect(await statuses(daemon.url, LANDING)).toEqual(LANDING.map(() => 404));
    expect(await statuses(daemon.url, ["/", ...PROBES])).toEqual([200, 200, 200]);
    expect(await statuses(admin, [...ADMIN, ...PROBES])).toEqual(
      [...ADMIN, ...PROBES].map(() => 200),
    );
    const pages = await Promise.all(
      ["/", "/monitor"].map((path) => rest({ url: admin }, "GET", path)),
    );
    for (const { text } of pages) expect(text).toContain("Inventory &amp; Catalog");
    expect(await statuses(admin, ["/api/v1/documents", "/docs", "/v1/sys/health"])).toEqual([
      404, 404, 404,
    ]);
    expect(
      (await runSteward(["-healthcheck"], { env: { STEWARD_ADMIN__LISTEN: new URL(admin).host } }))
        .stdout,
    ).toBe(`healthcheck: ready (${admin}/readyz -> 200)\n`);
    await daemon.stop();
  });

  it("is waited for when its port is taken: not ready, and the status says why, until it is free", async () => {
    squatter = createServer().listen(await freePort(), "127.0.0.1");
    await new Promise((resolve) => squatter?.once("listening", resolve));
    const address = `127.0.0.1:${(squatter.address() as AddressInfo).port}`;
    const daemon = await start({ STEWARD_ADMIN__LISTEN: address });
    const reason = `${address} is already in use by another process`;
    expect([
      (await rest(daemon, "GET", "/readyz")).status,
      (await rest(daemon, "GET", "/readyz")).text,
    ]).toEqual([503, `component failure: admin: ${reason}\n`]);
    expect((await rest(daemon, "GET", "/healthz")).status).toBe(200);
    const status = async () => (await rest(daemon, "POST", STATUS_RPC, {}, connect)).json.status;
    const failing = await status();
    expect(failing.components[0]).toMatchObject({
      name: "admin",
      enabled: true,
      failed: true,
      reason,
    });
    expect([failing.health, failing.healthReasons]).toEqual([
      "HEALTH_DEGRADED",
      [`component admin: ${reason}`],
    ]);
    const probe = await runSteward(["-healthcheck"], {
      env: { STEWARD_GATEWAY__LISTEN: daemon.host },
    });
    expect([probe.code, probe.stderr]).toEqual([
      1,
      `healthcheck: not ready (${daemon.url}/readyz -> 503): component failure: admin: ${reason}\n`,
    ]);
    await new Promise((resolve) => squatter?.close(resolve));
    await vi.waitFor(async () => expect((await rest(daemon, "GET", "/readyz")).status).toBe(200), {
      timeout: 60_000,
      interval: 100,
    });
    expect(await statuses(`http://${address}`, DOCUMENTS)).toEqual(DOCUMENTS.map(() => 200));
    // A document may be half a second old; readiness is not.
    await vi.waitFor(async () => expect((await status()).health).toBe("HEALTH_HEALTHY"), {
      timeout: 60_000,
      interval: 50,
    });
    await daemon.stop();
  });
});

describe("what is switched off", () => {
  it.each([
    ["admin.landing_page", { STEWARD_ADMIN__LANDING_PAGE: "false" }],
    ["admin.enabled", { STEWARD_ADMIN__ENABLED: "false" }],
    [
      "admin.enabled, with a listener",
      { STEWARD_ADMIN__ENABLED: "false", STEWARD_ADMIN__LISTEN: "127.0.0.1:0" },
    ],
    ["services.monitor", { STEWARD_SERVICES__MONITOR: "false" }],
  ])("by %s is not there, by no protocol; probes are", async (_key, environment) => {
    const daemon = await start(environment);
    expect(await statuses(daemon.url, LANDING)).toEqual(LANDING.map(() => 404));
    expect(await statuses(daemon.url, PROBES)).toEqual([200, 200]);
    expect((await rawRequest(daemon.url, "POST", STATUS_RPC, connect, "{}")).status).toBe(404);
    await daemon.stop();
  });
});

describe("secrets", () => {
  it("of every key show in no document, page, bundle, command or log line, also while a network fails", async () => {
    const marker = "kanarienvogel-0123456789abcdef";
    // A key of HTTP Basic without its other half, and the like, are only warnings.
    const secrets = daemonSchema
      .filter((key) => key.secret === true)
      .map((key) => variableOf(key.path));
    const environment = Object.fromEntries(
      [
        ...secrets,
        "STEWARD_OTLP__HEADERS__X_ORG",
        "STEWARD_PROFILING__PROFILER__HEADERS__X_ORG",
      ].map((variable) => [variable, marker]),
    );
    const dead = "http://127.0.0.1:1";
    const more = {
      STEWARD_VPN__AUTH__OAUTH__CLIENT_ID: "c",
      STEWARD_VPN__URL: dead,
      STEWARD_VPN__HTTP__RETRY__MAX_ATTEMPTS: "1",
      STEWARD_VERSION_CHECKS__DEVICES__URL: dead,
      STEWARD_OTLP__ENDPOINT: `${dead}/?key=${marker}`,
      STEWARD_OTLP__RETRY__ENABLED: "false",
      STEWARD_LOGGING__LEVEL: "debug",
    };
    expect(secrets.length).toBeGreaterThan(8);
    const daemon = await start({ ...environment, ...more });
    const headers = { authorization: `Bearer ${marker}` };
    await vi.waitFor(
      async () => {
        const { json } = await rest(daemon, "GET", "/api/status.json", undefined, headers);
        expect(
          json.collectors.filter(
            ({ last_error: error }: { last_error?: string }) => error !== undefined,
          ).length,
        ).toBeGreaterThan(3);
      },
      { timeout: 60_000, interval: 100 },
    );
    const outputs: Record<string, string> = {};
    for (const path of [
      ...DOCUMENTS,
      "/",
      ...PROBES,
      "/readyz?verbose=1",
      "/docs",
      "/openapi.json",
    ])
      outputs[path] = (await rest(daemon, "GET", path, undefined, headers)).text;
    const bundle = unzipSync(
      new Uint8Array(
        (await rawRequest(daemon.url, "GET", "/api/support-bundle.zip?include_devices=1", headers))
          .body,
      ),
    );
    for (const [name, body] of Object.entries(bundle))
      outputs[`bundle ${name}`] = Buffer.from(body).toString("utf8");
    const full = JSON.parse(outputs["/api/config.json"] ?? "{}").full as Record<string, object>;
    for (const key of daemonSchema.filter(({ secret }) => secret === true))
      expect([key.path, full[key.path]]).toEqual([
        key.path,
        { secret: true, set: true, source: "value" },
      ]);
    expect(full["otlp.endpoint"]).toEqual({ value: `${dead}/?key=redacted` });
    await daemon.stop();
    const printed = await runSteward(
      ["-print-effective-config", "-print-effective-config-provenance"],
      { env: { HOME: "/", ...environment, ...more } },
    );
    outputs["the log"] = [...daemon.stderr, ...daemon.stdout].join("\n");
    outputs["the effective configuration"] = printed.stdout + printed.stderr;
    expect(printed.code).toBe(0);
    expect(
      Object.entries(outputs)
        .filter(([, text]) => text.includes(marker))
        .map(([name]) => name),
    ).toEqual([]);
  });
});

describe("devices", () => {
  it("show in a support bundle only when asked for, also while none of their agents responds", async () => {
    const network = createNetwork({ seed: 3, devices: 8 });
    for (const machine of network.roster)
      Object.assign(machine, { addresses: [`127.1.0.${machine.index + 1}`, "::1"] });
    const headscale = await startHeadscale({
      clock: systemClock,
      ids: systemIds,
      log: silent,
      flavour: "release",
      network,
    });
    const configured = { host: "laptop-ada", addresses: ["127.1.0.99"] };
    const daemon = await startDaemon({
      config: JSON.stringify({
        gateway: { listen: "127.0.0.1:0" },
        state: { directory: temporaryFolder() },
        services: { dedup: false, tokens: false },
        provider: "headscale",
        headscale: { url: headscale.url, api_key: headscale.apiKey },
        collectors: {
          node_metrics: {
            enabled: true,
            targets: [
              {
                url: `http://${configured.addresses[0]}:1/metrics`,
                instance: configured.host,
                labels: { node: configured.host },
              },
            ],
            discovery: { enabled: true, port: 1 },
          },
        },
      }),
    });
    try {
      await vi.waitFor(
        async () => {
          const { json } = await rest(daemon, "GET", "/api/status.json");
          const [row] = json.collectors.filter(({ name }: { name: string }) => /node/.test(name));
          expect([row.last_error, json.health_reasons]).toEqual([
            expect.stringContaining("ECONNREFUSED"),
            [expect.stringContaining("ECONNREFUSED")],
          ]);
          // Agents are discovered before the collector of devices has listed them.
          expect(json.devices.length).toBeGreaterThan(0);
        },
        { timeout: 60_000, interval: 100 },
      );
      const named = async (query: string): Promise<string[]> => {
        const { body } = await rawRequest(daemon.url, "GET", `/api/support-bundle.zip${query}`);
        return Object.entries(unzipSync(new Uint8Array(body)))
          .filter(([, file]) => {
            const text = Buffer.from(file).toString("utf8");
            return [...network.roster, configured].some(
              ({ host, addresses: [address = ""] }) =>
                text.includes(`"${host}"`) || text.includes(address),
            );
          })
          .map(([name]) => name);
      };
      expect(await named("?include_devices=1")).toEqual(["config.json", "devices.json"]);
      expect(await named("")).toEqual([]);
      // The log says which agent it was.
      expect(daemon.stderr.join("\n")).toMatch(/ECONNREFUSED 127\.1\.0\.\d/);
    } finally {
      await Promise.all([daemon.stop(), headscale.stop()]);
    }
  });
});
