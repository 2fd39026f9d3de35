import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineMetric } from "../../../../src/kernel/telemetry/catalogue.ts";
import {
  acceptedFormat,
  escapeHelp,
  escapeLabelValue,
  formatBound,
  formatValue,
} from "../../../../src/kernel/telemetry/exposition/text.ts";
import * as house from "../../../../src/kernel/telemetry/report/service-metrics.ts";
import { reportPool } from "../../../../src/kernel/telemetry/report/service-report.ts";
import { reportProcess } from "../../../../src/kernel/telemetry/report/runtime-report.ts";
import { reportTelemetry } from "../../../../src/kernel/telemetry/report/telemetry-report.ts";
import { processResource } from "../../../../src/kernel/telemetry/resource.ts";
import type { Row } from "../../../../src/kernel/telemetry/types.ts";
import { parseExposition } from "../exposition-parser.ts";
import {
  duration,
  inFlight,
  level,
  plainLevel,
  requests,
  scrape,
  spec,
  startTelemetry,
} from "../fixtures.ts";

const promtool = spawnSync("promtool", ["--version"]).status === 0;
const prometheus = spawnSync("prometheus", ["--version"]).status === 0;
if (!promtool)
  process.stderr.write(
    "skipped: promtool is not on this machine, so promtool check metrics did not run\n",
  );
if (!prometheus)
  process.stderr.write("skipped: prometheus is not on this machine, so no real scrape was made\n");

describe("The text of an exposition", () => {
  it("carries any label value and help text through the grammar unharmed", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.string({ unit: "binary" }),
        fc.double(),
        (value, help, number) => {
          const text = `# HELP x ${escapeHelp(help, "text")}\n# TYPE x gauge\nx{a="${escapeLabelValue(value)}",b="2"} ${formatValue(number)}\n`;
          const { samples, helps } = parseExposition(text);
          expect(helps.get("x")).toBe(help.toWellFormed());
          expect(samples).toEqual([
            {
              name: "x",
              labels: { a: value.toWellFormed(), b: "2" },
              value: Object.is(number, -0) ? 0 : number,
            },
          ]);
        },
      ),
    );
  });

  it("spells bounds as each format wants them", () => {
    expect([
      formatBound(1, "text"),
      formatBound(1, "openmetrics"),
      formatBound(0.5, "openmetrics"),
      formatBound(Number.POSITIVE_INFINITY, "openmetrics"),
      formatBound(1e21, "openmetrics"),
    ]).toEqual(["1", "1.0", "0.5", "+Inf", "1e+21"]);
  });

  it("spells bounds as Prometheus' Go client does, so that a bucket is the same series from either", () => {
    // Of Go 1.24: strconv.FormatFloat(bound, 'g', -1, 64).
    const spelt: readonly (readonly [number, string])[] = [
      [2_592_000, "2.592e+06"],
      [1_000_000, "1e+06"],
      [999_999, "999999"],
      [100_000, "100000"],
      [604_800, "604800"],
      [1_234_567.5, "1.2345675e+06"],
      [67_108_864, "6.7108864e+07"],
      [0.0001, "0.0001"],
      [0.00025, "0.00025"],
      [0.00005, "5e-05"],
      [1.5e-7, "1.5e-07"],
      [1e21, "1e+21"],
      [1e100, "1e+100"],
      [-2_592_000, "-2.592e+06"],
      [0, "0"],
    ];
    expect(spelt.map(([bound]) => formatBound(bound, "text"))).toEqual(
      spelt.map(([, text]) => text),
    );
    expect([2_592_000, 604_800].map((bound) => formatBound(bound, "openmetrics"))).toEqual([
      "2.592e+06",
      "604800.0",
    ]);
  });

  it("is chosen by the Accept header", () => {
    expect(acceptedFormat(undefined)).toBe("text");
    expect(
      acceptedFormat(
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
      ),
    ).toBe("openmetrics");
    expect(acceptedFormat("text/plain;q=0.9, application/openmetrics-text;q=0.2")).toBe("text");
    expect(acceptedFormat("application/openmetrics-text;q=0")).toBe("text");
  });
});

describe("A scrape", () => {
  it("shows every kind with its name, type, buckets and labels", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    const scope = telemetry.scope(spec("process", { constants: { "vpn.network": "n" } }));
    scope.gauge(level, 2, { "host.name": 'a"b\\c\nd', state: undefined });
    scope.add(requests, 3, { route: "/a" });
    scope.add(inFlight, -4, {});
    for (const value of [0.05, 0.5, 0.5, 20]) scope.record(duration, value, { route: "/a" });
    await telemetry.flush(30_000);
    const text = await scrape(telemetry);
    expect(text).toContain('test_level_ratio{host_name="a\\"b\\\\c\\nd",vpn_network="n"} 2\n');
    expect(text).toContain(
      '# HELP test_requests_total For a test.\n# TYPE test_requests_total counter\ntest_requests_total{route="/a",vpn_network="n"} 3\n',
    );
    expect(text).toContain('# TYPE test_in_flight gauge\ntest_in_flight{vpn_network="n"} -4\n');
    expect(text).toContain(
      [
        "# TYPE test_duration_seconds histogram",
        'test_duration_seconds_bucket{route="/a",vpn_network="n",le="0.1"} 1',
        'test_duration_seconds_bucket{route="/a",vpn_network="n",le="1"} 3',
        'test_duration_seconds_bucket{route="/a",vpn_network="n",le="10"} 3',
        'test_duration_seconds_bucket{route="/a",vpn_network="n",le="+Inf"} 4',
        'test_duration_seconds_sum{route="/a",vpn_network="n"} 21.05',
        'test_duration_seconds_count{route="/a",vpn_network="n"} 4',
      ].join("\n"),
    );
    expect(text).toMatch(
      /^target_info\{service_instance_id="process",service_name="steward",telemetry_sdk_language="nodejs",telemetry_sdk_name="opentelemetry",telemetry_sdk_version="\d+\.\d+\.\d+"\} 1$/m,
    );
    const open = await scrape(telemetry, { format: "openmetrics" });
    expect(open).toContain(
      '# TYPE test_requests counter\ntest_requests_total{route="/a",vpn_network="n"} 3\n',
    );
    expect(open).toContain('le="1.0"} 3\n');
    expect(open.endsWith("# EOF\n")).toBe(true);
  });

  it("shows each family once over all scopes, and of series alike after naming the first, counted", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    const [first, second] = [telemetry.scope(spec("net-a")), telemetry.scope(spec("net-b"))];
    first.gauge(level, 1, { "host.name": "h", state: "on" });
    second.gauge(level, 2, { "host.name": "h", state: "on" });
    second.gauge(level, 3, { "host.name": "other", state: "on" });
    await telemetry.flush(30_000);
    const { samples, types } = parseExposition(await scrape(telemetry));
    expect(types.get("test_level_ratio")).toBe("gauge");
    expect(
      samples.filter((sample) => sample.name === "test_level_ratio").map((sample) => sample.value),
    ).toEqual([1, 3]);
    await telemetry.flush(30_000);
    expect(telemetry.status().ledger?.exposition.duplicateSeries).toBe(1);
  });

  it("has one target_info, the process's, however many scopes there are and whoever was opened first", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    for (const name of ["net-a", "process", "net-b"])
      telemetry.scope(spec(name, { constants: { "vpn.network": name } })).gauge(plainLevel, 1, {});
    await telemetry.flush(30_000);
    const info = async (query: object): Promise<unknown[]> =>
      parseExposition(await scrape(telemetry, { format: "openmetrics", ...query }))
        .samples.filter((sample) => sample.name === "target_info")
        .map(({ labels }) => labels["service_instance_id"]);
    expect(await info({})).toEqual(["process"]);
    expect(await info({ scopes: ["net-a", "net-b"] })).toEqual(["net-a"]);
  });

  it("leaves out a family whose name another kind has, and counts it", async () => {
    const clash: Row<never, "counter"> = defineMetric({
      name: "test.level.ratio",
      kind: "counter",
      unit: "{x}",
      group: "Test",
      help: "x",
      verbatim: true,
    });
    await using telemetry = await startTelemetry({ pull: true });
    const scope = telemetry.scope(spec());
    scope.gauge(level, 1, { "host.name": "h", state: undefined });
    scope.add(clash, 1, {});
    await telemetry.flush(30_000);
    expect(parseExposition(await scrape(telemetry)).types.get("test_level_ratio")).toBe("gauge");
    await telemetry.flush(30_000);
    expect(telemetry.status().ledger?.exposition.conflictingFamilies).toBe(1);
  });

  it.each(["target_info", "target"])(
    "leaves out a metric %s, which is written of the process",
    async (name) => {
      const clash: Row<never, "gauge"> = defineMetric({
        name,
        kind: "gauge",
        unit: "",
        group: "Test",
        help: "x",
        verbatim: true,
      });
      await using telemetry = await startTelemetry({ pull: true });
      telemetry.scope(spec("process")).gauge(clash, 7, {});
      await telemetry.flush(30_000);
      const text = await scrape(telemetry, { format: "openmetrics" });
      expect(text.match(/^# TYPE target.*$/gm)).toEqual(["# TYPE target info"]);
      expect(text).not.toMatch(/ 7(\.0)?$/m);
      await telemetry.flush(30_000);
      expect(telemetry.status().ledger?.exposition.conflictingFamilies).toBe(1);
    },
  );

  it("shows only what was asked for", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    telemetry.scope(spec()).gauge(plainLevel, 1, {});
    telemetry.scope(spec("net-a")).gauge(plainLevel, 2, {});
    telemetry.scope(spec("net-b")).gauge(level, 3, { "host.name": "h", state: undefined });
    await telemetry.flush(30_000);
    const names = async (query: object): Promise<string[]> =>
      parseExposition(await scrape(telemetry, { format: "text", ...query }))
        .samples.filter((sample) => sample.name !== "target_info")
        .map((sample) => `${sample.name} ${sample.value}`);
    expect(await names({ scopes: ["process"] })).toEqual(["test_plain_seconds 1"]);
    expect(await names({ metrics: ["test.level", "test.plai"] })).toEqual(["test_level_ratio 3"]);
    expect(await names({ metrics: ["test.", "process."] })).toHaveLength(2);
    expect(await names({})).toEqual(["test_level_ratio 3", "test_plain_seconds 1"]);
  });

  it("is cut into slices, gathered once for all who ask at the same time, and survives readers that leave", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    const scope = telemetry.scope(spec());
    for (let index = 0; index < 9_000; index++)
      scope.gauge(level, index, { "host.name": `host-${index}`, state: "on" });
    for (let index = 0; index < 9_000; index++) scope.add(requests, index, { route: `/${index}` });
    await telemetry.flush(30_000);
    const reading = Array.from({ length: 6 }, () => scrape(telemetry));
    const leaving = telemetry
      .expose({ format: "text" }, new AbortController().signal)
      .body[Symbol.asyncIterator]();
    expect((await leaving.next()).done).toBe(false);
    await leaving.return?.();
    const texts = await Promise.all(reading);
    expect(new Set(texts).size).toBe(1);
    expect(parseExposition(texts[0] ?? "").samples).toHaveLength(18_001);
    await telemetry.flush(30_000);
    expect(telemetry.status().ledger?.exposition).toMatchObject({ gathers: 1, running: 0 });
  });

  it("shows a consistent past while series end and others are born under its eyes", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    const scope = telemetry.scope(spec("process", { limits: { perMetric: 0 } }));
    const round = (generation: number): void => {
      const sweep = scope.sweep("devices");
      for (let index = 0; index < 30_000; index++)
        sweep.gauge(level, generation, { "host.name": `host-${generation}-${index}`, state: "on" });
      sweep.commit();
    };
    round(1);
    await telemetry.flush(30_000);
    const reader = telemetry
      .expose({ format: "text" }, new AbortController().signal)
      .body[Symbol.asyncIterator]();
    const chunks = [(await reader.next()).value as Uint8Array];
    for (let generation = 2; generation < 6; generation++) {
      round(generation);
      await telemetry.flush(30_000);
    }
    for (let next = await reader.next(); next.done !== true; next = await reader.next())
      chunks.push(next.value);
    const samples = parseExposition(Buffer.concat(chunks).toString()).samples.filter(
      (sample) => sample.name === "test_level_ratio",
    );
    expect(samples).toHaveLength(30_000);
    expect(
      samples.every(
        (sample) => sample.value === 1 && sample.labels["host_name"]?.startsWith("host-1-"),
      ),
    ).toBe(true);
    // 250 ms are over when a gathering shows the newest; numbers are then reused instead of new
    // ones taken.
    let last = "";
    while (!last.includes("host-5-")) last = await scrape(telemetry);
    expect(
      parseExposition(last)
        .samples.filter((sample) => sample.name === "test_level_ratio")
        .every((sample) => sample.value === 5 && sample.labels["host_name"]?.startsWith("host-5-")),
    ).toBe(true);
  });

  it("ends with the signal of its reader", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    telemetry.scope(spec()).gauge(plainLevel, 1, {});
    const controller = new AbortController();
    const reading = (async () => {
      for await (const chunk of telemetry.expose({ format: "text" }, controller.signal).body)
        expect(chunk.length).toBeGreaterThan(0);
    })();
    controller.abort(new Error("gone"));
    await expect(reading).rejects.toThrow("gone");
  });

  it("is refused with a reason when nothing can be pulled", async () => {
    await using telemetry = await startTelemetry({ pull: false });
    expect(() => telemetry.expose({ format: "text" }, new AbortController().signal)).toThrow(
      "no pull endpoint is switched on",
    );
  });
});

/** The exposition of a process with all reporters of the house. */
async function scrapeHouse(): Promise<string> {
  await using telemetry = await startTelemetry({ pull: true });
  const scope = telemetry.scope(
    spec("process", { resource: processResource({ version: "1.2.3" }) }),
  );
  using _process = reportProcess(scope, { version: "1.2.3" });
  using _pool = reportPool(scope, {
    status: () => ({ threads: 2, running: 1, queued: 0, limit: 4, crashed: 3 }),
  });
  using _telemetry = reportTelemetry(scope, telemetry);
  scope.add(house.gatewayRequests, 1, {
    route: "/api/v1/jobs",
    method: "GET",
    protocol: "rest",
    code: "ok",
  });
  scope.record(house.gatewayDuration, 0.02, {
    route: "/api/v1/jobs",
    method: "GET",
    protocol: "rest",
  });
  scope.add(house.jobsTotal, 1, { type: "analysis", outcome: "completed" });
  await telemetry.flush(30_000);
  return await scrape(telemetry);
}

describe("The house's own metrics", () => {
  it("are read at a scrape and named by the contract", async () => {
    const text = await scrapeHouse();
    const { samples } = parseExposition(text);
    const value = (name: string): number | undefined =>
      samples.find((sample) => sample.name === name)?.value;
    expect(value("svc_up_ratio")).toBe(1);
    expect(value("svc_pool_crashes_total")).toBe(3);
    expect(value("svc_jobs_total")).toBe(1);
    expect(value("process_uptime_seconds")).toBeGreaterThan(0);
    expect(value("process_cpu_time_seconds_total")).toBeGreaterThan(0);
    expect(samples.find((sample) => sample.name === "svc_build_info_ratio")?.labels).toMatchObject({
      version: "1.2.3",
      runtime_version: process.version,
    });
    expect(
      samples.find(
        (sample) =>
          sample.name === "svc_series_active" && sample.labels["metric_name"] === "svc.up",
      )?.value,
    ).toBe(1);
  });

  it.skipIf(!promtool)("are accepted by Prometheus' own checker", async () => {
    const check = spawnSync("promtool", ["check", "metrics"], { input: await scrapeHouse() });
    expect(`${check.stdout.toString()}${check.stderr.toString()}`).toBe("");
    expect(check.status).toBe(0);
  });

  it("of the pipeline follow the ledger", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    const scope = telemetry.scope(spec());
    using _telemetry = reportTelemetry(scope, telemetry);
    await telemetry.flush(30_000);
    const names = (): Promise<string[]> =>
      scrape(telemetry).then((text) => parseExposition(text).samples.map((sample) => sample.name));
    expect(await names()).toContain("svc_export_datapoints_total");
  });
});

describe("A real Prometheus", () => {
  it.skipIf(!prometheus)("scrapes OpenMetrics and text without a complaint", async () => {
    const { runPrometheus } = await import("../../../support/otlp/prometheus.ts");
    await using telemetry = await startTelemetry({ pull: true });
    const scope = telemetry.scope(spec());
    scope.add(requests, 3, { route: 'a"\\\nb' });
    scope.record(duration, 0.5, { route: "/a" });
    await telemetry.flush(30_000);
    const accepted: string[] = [];
    const server = createServer((request, reply) => {
      const format = request.url === "/open" ? acceptedFormat(request.headers.accept) : "text";
      accepted.push(format);
      const { contentType, body } = telemetry.expose({ format }, new AbortController().signal);
      reply.writeHead(200, { "content-type": contentType });
      void (async () => {
        for await (const chunk of body) reply.write(chunk);
        reply.end();
      })();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await using running = await runPrometheus((server.address() as AddressInfo).port, [
      "/open",
      "/text",
    ]);
    const found = await running.query("test_requests_total", 2);
    expect(found.map((each) => [each.labels["route"], each.value])).toEqual([
      ['a"\\\nb', 3],
      ['a"\\\nb', 3],
    ]);
    expect(
      (await running.query('test_duration_seconds_bucket{le=~"1(.0)?"}', 2)).map(
        (each) => each.value,
      ),
    ).toEqual([1, 1]);
    expect((await running.query("up == 1", 2)).map((each) => each.value)).toEqual([1, 1]);
    expect(new Set(accepted)).toEqual(new Set(["openmetrics", "text"]));
    server.closeAllConnections();
    server.close();
  });
});
