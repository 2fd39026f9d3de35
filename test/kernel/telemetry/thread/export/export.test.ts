import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineMetric } from "../../../../../src/kernel/telemetry/catalogue.ts";
import type { Receiver } from "../../../../support/otlp/receiver.ts";
import { startReceiver } from "../../../../support/otlp/receiver.ts";
import {
  duration,
  happened,
  inFlight,
  level,
  NEVER_MS,
  plainLevel,
  requests,
  spec,
  startTelemetry,
} from "../../fixtures.ts";

describe.each(["grpc", "http"] as const)("Export over OTLP %s", (protocol) => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver({ protocol });
  });
  afterEach(() => receiver.close());
  const metrics = (more: object = {}): object => ({
    protocol,
    endpoint: receiver.endpoint,
    intervalMs: NEVER_MS,
    ...more,
  });

  it("delivers the values, units, times and resources of all four kinds", async () => {
    const before = Date.now();
    await using telemetry = await startTelemetry({ metrics: metrics() as never, pull: false });
    const scope = telemetry.scope(spec("process", { constants: { "svc.provider": "x" } }));
    scope.gauge(level, 0.5, { "host.name": "häuschen", state: "on" });
    scope.gauge(plainLevel, Number.POSITIVE_INFINITY, {});
    scope.add(requests, 2, { route: "/a" });
    scope.add(requests, 3, { route: "/a" });
    scope.add(inFlight, 5, {});
    scope.add(inFlight, -2, {});
    for (const value of [0.1, 0.11, 5, 50]) scope.record(duration, value, { route: "/a" });
    expect(await telemetry.flush(30_000)).toBe(true);
    const byName = Object.fromEntries(receiver.points().map((point) => [point.metric, point]));
    expect(byName["test.level"]).toMatchObject({
      kind: "gauge",
      value: 0.5,
      unit: "1",
      description: "For a test.",
      startMs: 0,
      scope: "steward",
      attributes: { "host.name": "häuschen", state: "on", "svc.provider": "x" },
      resource: { "service.name": "steward", "service.instance.id": "process" },
    });
    expect(byName["test.plain"]?.value).toBe(Number.POSITIVE_INFINITY);
    expect(byName["test.requests"]).toMatchObject({
      kind: "sum",
      monotonic: true,
      temporality: 2,
      value: 5,
    });
    expect(byName["test.in_flight"]).toMatchObject({
      kind: "sum",
      monotonic: false,
      temporality: 2,
      value: 3,
    });
    expect(byName["test.duration"]).toMatchObject({
      kind: "histogram",
      temporality: 2,
      histogram: { bounds: [0.1, 1, 10], counts: [1, 1, 1, 1], count: 4 },
    });
    expect(byName["test.duration"]?.histogram?.sum).toBeCloseTo(55.21);
    const { startMs = 0, timeMs = 0 } = byName["test.requests"] ?? {};
    expect(startMs).toBeGreaterThanOrEqual(before);
    expect(timeMs).toBeGreaterThanOrEqual(startMs);
    expect(telemetry.status().ledger?.signals.metrics).toMatchObject({
      requests: 1,
      failures: 0,
      items: 5,
      consecutiveFailures: 0,
    });
  });

  it("gives every scope its own resource", async () => {
    await using telemetry = await startTelemetry({ metrics: metrics() as never, pull: false });
    telemetry.scope(spec("process")).gauge(plainLevel, 1, {});
    telemetry.scope(spec("net-a", { constants: { "vpn.network": "a" } })).gauge(plainLevel, 2, {});
    telemetry.scope(spec("net-b", { constants: { "vpn.network": "b" } })).gauge(plainLevel, 3, {});
    await telemetry.flush(30_000);
    expect(
      receiver
        .points()
        .map(
          (point) =>
            `${String(point.resource["service.instance.id"])} ${String(point.attributes["vpn.network"])} ${point.value}`,
        )
        .toSorted(),
    ).toEqual(["net-a a 2", "net-b b 3", "process undefined 1"]);
  });

  it("has the requests of a hundred networks under way at once", async () => {
    const all = Promise.withResolvers<void>();
    let held = 0;
    const arrived = (): void => {
      held += 1;
      if (held === 102) all.resolve();
    };
    receiver.answer = { kind: "hold", until: all.promise, arrived };
    await using telemetry = await startTelemetry({ metrics: metrics() as never, pull: false });
    for (let network = 0; network < 102; network += 1)
      telemetry.scope(spec(`net-${network}`)).gauge(plainLevel, network, {});
    expect(await telemetry.flush(30_000)).toBe(true);
    expect(receiver.points().length).toBe(102);
    expect(telemetry.status().ledger?.signals.metrics).toMatchObject({
      requests: 102,
      failures: 0,
    });
  });

  it("keeps the values of more than 65,536 metrics under their names", async () => {
    await using telemetry = await startTelemetry({ metrics: metrics() as never, pull: false });
    const scope = telemetry.scope(spec());
    const count = 65_540;
    for (let at = 0; at < count; at += 1)
      scope.gauge(
        defineMetric({
          name: `test.forwarded.${at}`,
          kind: "gauge",
          unit: "1",
          group: "Test",
          help: "For a test.",
        }),
        at,
        {},
      );
    expect(await telemetry.flush(30_000)).toBe(true);
    const points = receiver.points();
    expect(points.length).toBe(count);
    expect(points.filter(({ metric, value }) => metric !== `test.forwarded.${value}`)).toEqual([]);
  });

  it("forgets an ended series at the next export and gives a returning counter a new start", async () => {
    await using telemetry = await startTelemetry({ metrics: metrics() as never, pull: false });
    const scope = telemetry.scope(spec());
    const round = (hosts: readonly string[]): void => {
      const sweep = scope.sweep("devices");
      for (const host of hosts) sweep.gauge(level, 1, { "host.name": host, state: undefined });
      sweep.commit();
    };
    const hosts = (): string[] =>
      receiver
        .points()
        .filter((point) => point.metric === "test.level")
        .map((point) => String(point.attributes["host.name"]))
        .toSorted();
    round(["a", "b", "c"]);
    scope.add(requests, 1, { route: "/a" });
    await telemetry.flush(30_000);
    expect(hosts()).toEqual(["a", "b", "c"]);
    const first = receiver.points().find((point) => point.metric === "test.requests");
    receiver.clear();
    round(["a", "d"]);
    expect(scope.end(requests, { route: "/a" })).toBe(true);
    await telemetry.flush(30_000);
    expect(hosts()).toEqual(["a", "d"]);
    expect(receiver.points().some((point) => point.metric === "test.requests")).toBe(false);
    receiver.clear();
    round(["e", "f", "g", "h"]);
    scope.add(requests, 7, { route: "/a" });
    await telemetry.flush(30_000);
    expect(hosts()).toEqual(["e", "f", "g", "h"]);
    const second = receiver.points().find((point) => point.metric === "test.requests");
    expect(second?.value).toBe(7);
    expect(second?.startMs).toBeGreaterThan(first?.startMs ?? 0);
  });

  it("splits a large set into requests of the batch size and sends the headers", async () => {
    await using telemetry = await startTelemetry({
      metrics: metrics({
        batchSize: 1_000,
        headers: { "x-test": "yes" },
        compression: "gzip",
      }) as never,
      pull: false,
    });
    const scope = telemetry.scope(spec());
    for (let index = 0; index < 4_500; index++)
      scope.gauge(level, index, { "host.name": `host-${index}`, state: "on" });
    await telemetry.flush(30_000);
    expect(receiver.batches.map((batch) => batch.length)).toEqual([
      1_000, 1_000, 1_000, 1_000, 500,
    ]);
    expect(
      new Set(
        receiver.points().map((point) => `${String(point.attributes["host.name"])}=${point.value}`),
      ).size,
    ).toBe(4_500);
    expect(receiver.headers["x-test"]).toBe("yes");
  });

  it("ships log records with body, severity, event name, time and resource", async () => {
    await using telemetry = await startTelemetry({
      logs: { protocol, endpoint: receiver.endpoint, batchDelayMs: NEVER_MS },
      pull: false,
    });
    const scope = telemetry.scope(
      spec("process", {
        logResource: { "service.version": "1.2.3" },
        constants: { "svc.provider": "x" },
      }),
    );
    scope.log(
      happened,
      "it happened",
      { who: "me", count: 3 },
      { timeMs: 1_700_000_000_123, observedMs: 1_700_000_000_456 },
    );
    scope.log(happened, "again", { who: undefined, count: 4 });
    await telemetry.flush(30_000);
    expect(receiver.logs()).toHaveLength(2);
    expect(receiver.logs()[0]).toMatchObject({
      body: "it happened",
      name: "test.happened",
      severity: "WARN",
      severityNumber: 13,
      timeMs: 1_700_000_000_123,
      attributes: { who: "me", count: 3, "svc.provider": "x" },
      resource: { "service.name": "steward", "service.version": "1.2.3" },
    });
    expect(receiver.logs()[1]?.attributes).toEqual({ count: 4, "svc.provider": "x" });
    expect(telemetry.status().ledger?.signals.logs).toMatchObject({ requests: 1, items: 2 });
  });

  it("exports by itself at its interval, and a last time when it stops", async () => {
    const telemetry = await startTelemetry({
      metrics: metrics({ intervalMs: 500, timeoutMs: 500 }) as never,
      pull: false,
    });
    const scope = telemetry.scope(spec());
    scope.gauge(plainLevel, 1, {});
    while (receiver.batches.length < 2) await new Promise((resolve) => setImmediate(resolve));
    scope.gauge(plainLevel, 99, {});
    await telemetry.component.stop(5_000);
    expect(receiver.points().at(-1)?.value).toBe(99);
    expect(telemetry.status().thread).toBe("stopped");
    await telemetry.component.stop(5_000);
  });
});

describe("Telemetry without a destination", () => {
  it("keeps counting without a thread", async () => {
    await using telemetry = await startTelemetry({ pull: false });
    const scope = telemetry.scope(spec());
    scope.add(requests, 1, { route: "/a" });
    expect(scope.series(requests)).toBe(1);
    expect(telemetry.status()).toMatchObject({ thread: "off", series: 1 });
    expect(await telemetry.flush(1_000)).toBe(true);
    expect(telemetry.port()).toBeUndefined();
  });
});
