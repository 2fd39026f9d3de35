import { spawnSync } from "node:child_process";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { request } from "node:http";
import { describe, expect, it, vi } from "vitest";
import { Secret } from "../../../../../src/kernel/base/secret.ts";
import { createSupervisor } from "../../../../../src/kernel/supervisor/supervisor.ts";
import { systemClock } from "../../../../../src/kernel/base/clock.ts";
import { reportProcess } from "../../../../../src/kernel/telemetry/report/runtime-report.ts";
import { reportTelemetry } from "../../../../../src/kernel/telemetry/report/telemetry-report.ts";
import type { PullOptions } from "../../../../../src/kernel/telemetry/options.ts";
import { createTelemetry } from "../../../../../src/kernel/telemetry/telemetry.ts";
import { runPrometheus } from "../../../../support/otlp/prometheus.ts";
import { startReceiver } from "../../../../support/otlp/receiver.ts";
import { parseExposition } from "../../exposition-parser.ts";
import {
  duration,
  level,
  memoryLog,
  NEVER_MS,
  requests,
  spec,
  startTelemetry,
} from "../../fixtures.ts";

const promtool = spawnSync("promtool", ["--version"]).status === 0;
const prometheus = spawnSync("prometheus", ["--version"]).status === 0;
if (!promtool || !prometheus)
  process.stderr.write(
    "skipped: promtool or prometheus is not on this machine, so the pull endpoint was not checked by them\n",
  );

const loopback = { host: "127.0.0.1", port: 0 };

/** Telemetry with a pull endpoint that is open. */
async function open(options: Partial<PullOptions> = {}) {
  const telemetry = await startTelemetry({ pull: false, scrape: { listen: loopback, ...options } });
  await telemetry.pull?.start(new AbortController().signal, () => undefined);
  const view = () => telemetry.status().ledger?.pull;
  const address = view()?.address ?? "";
  const port = Number(address.slice(address.lastIndexOf(":") + 1));
  const get = (path = "/metrics", headers: Record<string, string> = {}, method = "GET") =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "accept-encoding": "identity", ...headers },
    });
  return { telemetry, view, port, get, scope: telemetry.scope(spec()) };
}

/** Until it holds; the test's own time limit ends the waiting. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("The pull endpoint", () => {
  it("shows every scope as text, or as OpenMetrics to who asks, and says in the log where it listens", async () => {
    const { telemetry, get, scope, port } = await open();
    await using _ = telemetry;
    scope.gauge(level, 2, { "host.name": "a", state: "on" });
    telemetry
      .scope(spec("other", { constants: { "vpn.network": "n" } }))
      .add(requests, 3, { route: "/a" });
    await telemetry.flush(30_000);
    const text = await get();
    expect([text.status, text.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    const { samples } = parseExposition(await text.text());
    expect(samples).toContainEqual({
      name: "test_level_ratio",
      labels: { host_name: "a", state: "on" },
      value: 2,
    });
    expect(samples).toContainEqual({
      name: "test_requests_total",
      labels: { route: "/a", vpn_network: "n" },
      value: 3,
    });
    const openMetrics = await get("/metrics", {
      accept: "application/openmetrics-text;version=1.0.0",
    });
    expect(openMetrics.headers.get("content-type")).toMatch(/^application\/openmetrics-text/);
    expect((await openMetrics.text()).endsWith("# EOF\n")).toBe(true);
    expect(telemetry.log.lines).toContain(
      `info listening {"name":"metrics","address":"127.0.0.1:${port}"}`,
    );
  });

  it("answers HEAD without a body, other methods with 405 and other paths with 404", async () => {
    const { telemetry, get, view } = await open();
    await using _ = telemetry;
    const head = await get("/metrics", {}, "HEAD");
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
      "",
    ]);
    const post = await get("/metrics", {}, "POST");
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await get("/")).status).toBe(404);
    expect((await get("/metrics?name=x")).status).toBe(200);
    await until(() => view()?.requests.success === 2);
    expect(view()?.requests).toEqual({ success: 2, unavailable: 0, error: 1 });
  });

  it("compresses for who takes gzip, over slices of all sizes", async () => {
    const { telemetry, port, get, scope } = await open();
    await using _ = telemetry;
    // Growing, so that no slice fits where the one before did.
    for (let each = 0; each < 1_900; each++)
      scope.gauge(level, 7, { "host.name": `${each}${"ö".repeat(each / 10)}`, state: "on" });
    await telemetry.flush(30_000);
    const [encoding, body] = await new Promise<[string | undefined, Buffer]>((resolve, reject) => {
      request(
        { port, host: "127.0.0.1", path: "/metrics", headers: { "accept-encoding": "gzip" } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer
            .on("data", (chunk: Buffer) => void chunks.push(chunk))
            .on("end", () => resolve([answer.headers["content-encoding"], Buffer.concat(chunks)]));
        },
      )
        .on("error", reject)
        .end();
    });
    expect(encoding).toBe("gzip");
    const text = gunzipSync(body).toString();
    expect(text.match(/^test_level_ratio\{host_name="\d+ö*",state="on"\} 7$/gm)).toHaveLength(
      1_900,
    );
    const plain = await (await get()).text();
    const levels = (exposition: string) =>
      exposition.split("\n").filter((line) => line.includes("test_level"));
    expect(levels(text)).toEqual(levels(plain));
  });

  it("takes its token as Bearer or as password of Basic, and counts who has none or a wrong one", async () => {
    const { telemetry, get, view } = await open({ token: Secret.of("canary-token", "test") });
    await using _ = telemetry;
    const basic = (text: string) => ({
      authorization: `Basic ${Buffer.from(text).toString("base64")}`,
    });
    for (const headers of [
      { authorization: "Bearer canary-token" },
      { authorization: "bearer  canary-token" },
      basic("anybody:canary-token"),
      basic(":canary-token"),
    ])
      expect((await get("/metrics", headers)).status).toBe(200);
    for (const headers of [
      { authorization: "Bearer other" },
      basic("canary-token:other"),
      basic("canary-token:"),
    ]) {
      const answer = await get("/metrics", headers);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
        401,
        'Basic realm="steward metrics"',
      ]);
    }
    for (const headers of [
      {},
      { authorization: "Digest x" },
      { authorization: "Bearer" },
      basic("canary-token"),
    ] as Record<string, string>[])
      expect((await get("/elsewhere", headers)).status).toBe(401);
    await until(() => view()?.rejected.missing_credentials === 4);
    expect(view()?.rejected).toEqual({
      auth_required: 0,
      missing_credentials: 4,
      bad_credentials: 3,
    });
    expect(telemetry.log.lines.join("\n")).not.toContain("canary");
  });

  it("without a token answers other machines' addresses 403, unless it is told not to care", async () => {
    const closed = await open({ listen: { host: "", port: 0 } });
    await using _closed = closed.telemetry;
    const answer = await closed.get();
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining("scrape.auth.token") as string,
    ]);
    await until(() => closed.view()?.rejected.auth_required === 1);
    const careless = await open({ listen: { host: "", port: 0 }, allowUnauthenticated: true });
    await using _careless = careless.telemetry;
    expect((await careless.get()).status).toBe(200);
  });

  it("sheds what is more than it may answer at once, and gives the place back to the next", async () => {
    const { telemetry, get, view, port, scope } = await open({ maxInFlight: 1, timeoutMs: 0 });
    await using _ = telemetry;
    for (let index = 0; index < 9_000; index++)
      scope.record(duration, 1, { route: `/a-route-with-a-long-name/${index}/${"x".repeat(800)}` });
    await telemetry.flush(30_000);
    // A reader that does not read keeps its place.
    const slow = connect(port, "127.0.0.1", () =>
      slow.write("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n"),
    );
    slow.pause();
    slow.on("error", () => undefined);
    await until(() => view()?.inFlight === 1);
    const shed = await get();
    expect([shed.status, shed.headers.get("retry-after")]).toEqual([503, "1"]);
    slow.destroy();
    await until(() => view()?.inFlight === 0);
    const next = await get();
    expect([next.status, (await next.text()).endsWith("\n")]).toEqual([200, true]);
    await until(() => view()?.requests.success === 1);
    expect(view()?.requests).toEqual({ success: 1, unavailable: 1, error: 1 });
  });

  it("leaves out what two scopes show alike, with 200, and counts it by class", async () => {
    const { telemetry, get, view, scope } = await open();
    await using _ = telemetry;
    telemetry.scope(spec("other")).add(requests, 2, { route: "/a" });
    scope.add(requests, 1, { route: "/a" });
    await telemetry.flush(30_000);
    const { samples } = parseExposition(await (await get()).text());
    expect(samples.filter(({ name }) => name === "test_requests_total")).toHaveLength(1);
    await until(() => view()?.lastGatherError !== undefined);
    expect(view()).toMatchObject({
      gatherErrors: { duplicate_series: 1 },
      lastGatherError: "duplicate_series",
    });
  });

  it("leaves out a scope whose thread does not answer, and serves the others", async () => {
    const { telemetry, get, view, scope } = await open({ timeoutMs: 3_000 });
    await using _ = telemetry;
    scope.gauge(level, 1, { "host.name": "a", state: "on" });
    await telemetry.flush(30_000);
    const port = telemetry.port();
    port?.postMessage({
      type: "scope",
      scope: 0,
      name: "hangs",
      resource: {},
      logResource: {},
      constants: {},
    });
    await telemetry.flush(30_000);
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("test_level_ratio");
    await until(() => view()?.lastGatherError !== undefined);
    expect(view()?.gatherErrors).toEqual({ collector_error: 1 });
    port?.close();
  });

  it("counts itself in the house's metrics, with push at the same time", async () => {
    const receiver = await startReceiver({ protocol: "http" });
    await using _receiver = { [Symbol.asyncDispose]: () => receiver.close() };
    await using telemetry = await startTelemetry({
      pull: false,
      metrics: { protocol: "http", endpoint: receiver.endpoint, intervalMs: NEVER_MS },
      scrape: { listen: loopback },
    });
    await telemetry.pull?.start(new AbortController().signal, () => undefined);
    const scope = telemetry.scope(spec());
    reportTelemetry(scope, telemetry);
    const url = `http://${telemetry.status().ledger?.pull?.address}/metrics`;
    // Every scrape counts in a later one: the process reports now and then.
    await vi.waitFor(
      async () => {
        const { samples } = parseExposition(await (await fetch(url)).text());
        const value = (name: string, labels: object = {}) =>
          samples.find(
            (sample) =>
              sample.name === name && JSON.stringify(sample.labels) === JSON.stringify(labels),
          )?.value;
        const success = value("svc_metrics_scrape_requests_total", { outcome: "success" });
        expect(success).toBeGreaterThan(0);
        expect([
          value("svc_metrics_scrape_duration_seconds_count", { outcome: "success" }),
          value("svc_metrics_scrape_in_flight"),
        ]).toEqual([success, expect.any(Number)]);
      },
      { timeout: 60_000, interval: 100 },
    );
    await telemetry.flush(30_000);
    expect(
      receiver.points().find(({ metric }) => metric === "svc.metrics.scrape.requests"),
    ).toBeDefined();
  });

  it.skipIf(!promtool || !prometheus)(
    "passes promtool, and a real Prometheus reads it with its token",
    async () => {
      const { telemetry, get, port, scope } = await open();
      await using _ = telemetry;
      using _process = reportProcess(scope, { version: "1" });
      using _self = reportTelemetry(scope, telemetry);
      scope.record(duration, 0.5, { route: "/a" });
      scope.add(requests, 3, { route: "/a" });
      await telemetry.flush(30_000);
      const check = spawnSync("promtool", ["check", "metrics"], {
        input: await (await get()).text(),
      });
      expect(
        check.stderr
          .toString()
          .split("\n")
          .filter((line) => /error|parse/i.test(line)),
      ).toEqual([]);
      await using running = await runPrometheus(port, ["/metrics"]);
      expect(await running.query("test_requests_total", 1)).toMatchObject([
        { value: 3, labels: { route: "/a" } },
      ]);
      expect(await running.query("up == 1", 1)).toMatchObject([{ value: 1 }]);
    },
  );
});

describe("A port that is taken", () => {
  it("leaves the process running and not ready, is tried again, and ready when it is free", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const log = memoryLog();
    const telemetry = createTelemetry(
      { clock: systemClock, log },
      { pull: false, scrape: { listen: { host: "127.0.0.1", port } } },
    );
    const supervisor = createSupervisor({ clock: systemClock, log });
    supervisor.add(telemetry.component);
    if (telemetry.pull) supervisor.add(telemetry.pull);
    await supervisor.start();
    expect(supervisor.ready()).toEqual({
      ok: false,
      reasons: [`metrics: 127.0.0.1:${port} is already in use by another process`],
    });
    expect(telemetry.status().ledger?.pull).toMatchObject({ state: "failed", failures: 1 });
    await new Promise<void>((resolve) => other.close(() => resolve()));
    await until(() => supervisor.ready().ok);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
    await supervisor.stop(5_000);
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
  });
});
