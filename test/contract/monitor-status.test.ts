import { X509Certificate } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import { request as requestHttps } from "node:https";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { stewardVersion } from "../../src/daemon/version.ts";
import { hasOpenssl, makePair, testFolder, writePair } from "../kernel/listen/test-certificates.ts";
import { freePort } from "../support/free-port.ts";
import { startReceiver } from "../support/otlp/receiver.ts";
import {
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { bothNetworks, startEstate, type Section } from "./monitor-estate.ts";

afterAll(removeTemporaryFolders);
if (!hasOpenssl)
  process.stderr.write(
    "skipped: openssl is not on this machine, so the status of certificates was not checked\n",
  );

const DEAD = "http://127.0.0.1:1";
const SOON = { timeout: 60_000, interval: 50 };

async function start(
  config: Section = {},
  services: Section = { dedup: false, tokens: false },
): Promise<Daemon> {
  return await startDaemon({
    config: JSON.stringify({
      gateway: { listen: "127.0.0.1:0" },
      state: { directory: temporaryFolder() },
      services,
      ...config,
    }),
  });
}

async function statusOf(daemon: Daemon): Promise<any> {
  const { status, json } = await rest(daemon, "GET", "/api/status.json");
  expect(status).toBe(200);
  return json;
}

const row = (
  rows: readonly { readonly name?: string; readonly signal?: string }[],
  name: string,
): any => rows.find((each) => (each.name ?? each.signal) === name);

async function squat(): Promise<{ readonly address: string; leave(): Promise<unknown> }> {
  const server = createServer().listen(await freePort(), "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    leave: () => new Promise((resolve) => server.close(resolve)),
  };
}

describe("delivery in the status", () => {
  it("comes true: failures with their class, an outage in the health, and a recovery; readiness does not care", async () => {
    const receiver = await startReceiver({ protocol: "http" });
    receiver.answer = { kind: "refuse", grpc: 14, http: 503 };
    const daemon = await start({
      otlp: { endpoint: receiver.endpoint, metric_interval: "100ms", retry: { enabled: false } },
    });
    // On a busy machine an attempt may run out of time before it is refused.
    const failing = await vi.waitFor(async () => {
      const status = await statusOf(daemon);
      expect(row(status.delivery, "metrics")).toMatchObject({
        failing: true,
        last_error_class: "unavailable",
        last_failure_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      });
      return status;
    }, SOON);
    expect(row(failing.delivery, "metrics").last_success_at).toBeUndefined();
    expect(row(failing.delivery, "metrics").exports).toBeGreaterThanOrEqual(
      row(failing.delivery, "metrics").failures,
    );
    expect([
      failing.health,
      failing.health_reasons.some((reason: string) =>
        /^OTLP metrics export failing: \d+ consecutive failures \(unavailable\)$/.test(reason),
      ),
    ]).toEqual(["degraded", true]);
    expect((await rest(daemon, "GET", "/readyz")).status).toBe(200);
    expect(failing.throughput.metric_points).toBeGreaterThan(0);
    receiver.answer = { kind: "accept" };
    await vi.waitFor(
      async () =>
        expect(row((await statusOf(daemon)).delivery, "metrics")).toMatchObject({
          failing: false,
          consecutive_failures: 0,
        }),
      SOON,
    );
    const well = await statusOf(daemon);
    expect(row(well.delivery, "metrics")).toMatchObject({
      last_success_at: expect.any(String) as string,
      last_failure_at: expect.any(String) as string,
    });
    expect(row(well.delivery, "traces")).toEqual({
      signal: "traces",
      exports: 0,
      failures: 0,
      consecutive_failures: 0,
      last_duration_ms: 0,
      failing: false,
    });
    expect(well.telemetry).toMatchObject({ endpoint: receiver.endpoint, protocol: "http" });
    await daemon.stop();
    await receiver.close();
  });
});

describe("the pull endpoint in the status", () => {
  it("is a failed component while its port is taken, then counts what was pulled", async () => {
    const taken = await squat();
    const daemon = await start({
      scrape: { enabled: true, listen: taken.address, auth: { token: "pull-0123456789abcdef" } },
    });
    const { text: line, status } = await rest(daemon, "GET", "/readyz");
    expect([status, line]).toEqual([
      503,
      expect.stringMatching(/^component failure: metrics: .*in use/),
    ]);
    expect(row((await statusOf(daemon)).components, "metrics")).toMatchObject({
      enabled: true,
      failed: true,
      reason: expect.stringContaining("in use") as string,
    });
    await taken.leave();
    await vi.waitFor(
      async () => expect((await rest(daemon, "GET", "/readyz")).status).toBe(200),
      SOON,
    );
    const pull = async (token: string) =>
      (
        await fetch(`http://${taken.address}/metrics`, {
          headers: { authorization: `Bearer ${token}` },
        })
      ).status;
    expect([await pull("wrong"), await pull("pull-0123456789abcdef")]).toEqual([401, 200]);
    await vi.waitFor(
      async () =>
        expect((await statusOf(daemon)).metrics_serving).toMatchObject({
          enabled: true,
          auth_rejected: 1,
          scrapes_total: 1,
          scrapes_failed: 0,
          scrapes_shed: 0,
          in_flight: 0,
          last_scrape_at: expect.any(String) as string,
          config: {
            auth_token_set: true,
            allow_unauthenticated: false,
            listen: taken.address,
            max_requests_in_flight: 4,
            timeout_ms: 8_000,
            coalesce_gather: true,
            tls_enabled: false,
          },
        }),
      SOON,
    );
    expect(row((await statusOf(daemon)).components, "metrics")).toEqual({
      enabled: true,
      failed: false,
      name: "metrics",
    });
    await daemon.stop();
  });
});

describe("certificates in the status", () => {
  it.skipIf(!hasOpenssl)("are those of each listener with TLS", async () => {
    const pair = makePair("steward");
    const { certFile, keyFile } = writePair(testFolder(), pair);
    const tls = { cert_file: certFile, key_file: keyFile };
    const daemon = await start({
      gateway: { listen: "127.0.0.1:0", tls },
      scrape: { enabled: true, listen: "127.0.0.1:0", tls },
    });
    const answer = await new Promise<{ headers: Record<string, unknown>; body: string }>(
      (resolve, reject) => {
        const sent = requestHttps(
          `${daemon.url}/api/status.json`,
          { rejectUnauthorized: false, agent: false },
          (response) =>
            void text(response).then(
              (body) => resolve({ headers: response.headers, body }),
              reject,
            ),
        );
        sent.on("error", reject).end();
      },
    );
    const { tls_certificates: certificates } = JSON.parse(answer.body) as {
      tls_certificates: { name: string }[];
    };
    const { fingerprint256, validFrom, validTo } = new X509Certificate(pair.cert);
    const whole = (date: string): string => new Date(date).toISOString().replace(".000", "");
    const expected = {
      fingerprint: fingerprint256.replaceAll(":", "").toLowerCase(),
      last_reload_failure_reason: "",
      not_before: whole(validFrom),
      not_after: whole(validTo),
    };
    expect(certificates).toEqual(["gateway", "metrics"].map((name) => ({ ...expected, name })));
    expect(answer.headers["strict-transport-security"]).toBe("max-age=31536000");
    await daemon.stop();
    const plain = await start();
    expect((await statusOf(plain)).tls_certificates).toBeUndefined();
    await plain.stop();
  });
});

describe("newer releases in the status", () => {
  const [major, minor] = stewardVersion().split(".").map(Number);
  it.each([
    [
      "available",
      200,
      { tag_name: `v${major}.${(minor ?? 0) + 2}.0` },
      {
        latest_version: `${major}.${(minor ?? 0) + 2}.0`,
        current_version: stewardVersion(),
        minors_behind: 2,
      },
    ],
    [
      "current",
      200,
      { tag_name: stewardVersion() },
      { latest_version: stewardVersion(), current_version: stewardVersion() },
    ],
    ["unknown", 200, { tag_name: "nightly" }, {}],
    ["error", 500, {}, { last_error_class: "http_error" }],
    ["error", 200, { nothing: 1 }, { last_error_class: "parse_error" }],
  ])("are %s by an answer %i %j", async (state, status, body, more) => {
    const api = createHttpServer(
      (_request, response) =>
        void response
          .writeHead(status, { "content-type": "application/json" })
          .end(JSON.stringify(body)),
    ).listen(0, "127.0.0.1");
    await new Promise((resolve) => api.once("listening", resolve));
    onTestFinished(() => void api.close());
    const daemon = await start({
      version_checks: {
        timeout: "60s",
        self: { url: `http://127.0.0.1:${(api.address() as AddressInfo).port}/releases/latest` },
      },
    });
    await vi.waitFor(async () => expect((await statusOf(daemon)).update.state).toBe(state), SOON);
    const { last_checked_at: checked, release_url: _, ...update } = (await statusOf(daemon)).update;
    expect([update, typeof checked]).toEqual([{ enabled: true, state, ...more }, "string"]);
    await daemon.stop();
  });
});

describe("a network that fails", () => {
  it("holds readiness back alone, and the status tells of it all the while", async () => {
    const credential = {
      auth: { oauth: { client_id: "c", client_secret: "s" } },
      url: DEAD,
      http: { retry: { max_attempts: 1 } },
      version_checks: { devices: { enabled: false } },
    };
    const { version_checks, ...vpn } = credential;
    const daemon = await start({ vpn, version_checks });
    const first = await statusOf(daemon);
    expect([
      first.service.network,
      first.config.auth_method,
      first.config.oauth_secret_set,
    ]).toEqual(["-", "oauth", true]);
    await vi.waitFor(
      async () => expect((await statusOf(daemon)).networks[0]?.failing).toBeGreaterThan(3),
      SOON,
    );
    const failing = await statusOf(daemon);
    expect([failing.health, failing.services.monitor]).toEqual(["degraded", "degraded"]);
    const { status, text: line } = await rest(daemon, "GET", "/readyz");
    expect([status, line]).toEqual([
      503,
      expect.stringMatching(/^starting: waiting for first run: devices, /),
    ]);
    const { endpoints } = failing.api;
    expect(endpoints.length).toBeGreaterThan(0);
    for (const endpoint of endpoints) expect(endpoint).toMatchObject({ last_status: 0 });
    await daemon.stop();
  });

  it("beside one that answers keeps nothing from being ready; both are in the status, apart", async () => {
    await using estate = await startEstate();
    const { vpn: _, ...networks } = bothNetworks(estate);
    const daemon = await start({
      ...networks,
      vpn: { url: DEAD, http: { retry: { max_attempts: 1 } } },
    });
    const seen: number[] = [];
    await vi.waitFor(async () => {
      const status = await statusOf(daemon);
      seen.push(status.networks.length);
      const [dead, alive] = status.networks;
      expect([dead?.failing > 3, alive?.failing]).toEqual([true, 0]);
    }, SOON);
    // The first good run may be still to come, and the thread reports it once a second.
    await expect.poll(async () => (await rest(daemon, "GET", "/readyz")).text).toBe("ok\n");
    const status = await statusOf(daemon);
    expect([
      status.service.network,
      status.provider,
      status.networks.map(({ name }: { name: string }) => name),
    ]).toEqual(["2 networks", "tailscale", ["corp.test", "home"]]);
    expect(status.health).toBe("degraded");
    expect(new Set(seen)).not.toContain(1);
    await daemon.stop();
  });
});

describe("the services in the status", () => {
  it("stand with their states, components and curves", async () => {
    const daemon = await start({}, {});
    const status = await statusOf(daemon);
    expect(status.services).toEqual({ monitor: "idle", dedup: "ready", tokens: "ready" });
    expect(
      status.components
        .filter(({ enabled }: { enabled: boolean }) => enabled)
        .map(({ name }: { name: string }) => name),
    ).toEqual(["admin", "gateway", "state", "pool", "dedup", "tokens"]);
    expect(status.components.filter(({ failed }: { failed: boolean }) => failed)).toEqual([]);
    // The file that the test wrote may be read by others, and has no key.
    expect(
      status.advisories
        .map(({ key }: { key?: string }) => key)
        .filter((key: string | undefined) => key !== undefined),
    ).toEqual(["otlp.endpoint", "vpn.auth"]);
    expect(status.runtime).toMatchObject({
      workers: expect.any(Number) as number,
      heap_alloc: expect.stringMatching(/^\d+\.\d MiB$/) as string,
    });
    // A sample is taken at the start, and one every ten seconds.
    expect(status.runtime.heap_alloc_series.length).toBeGreaterThan(0);
    expect(new Set(status.throughput.metric_points_per_sec_series)).toEqual(new Set([0]));
    expect(status.service).toMatchObject({
      name: "steward",
      version: stewardVersion(),
      runtime_version: process.version,
    });
    expect(status.config.checkpoint_store).toBe("memory");
    await daemon.stop();
  });
});
