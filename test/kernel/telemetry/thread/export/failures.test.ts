import { afterEach, describe, expect, it } from "vitest";
import { reportTelemetry } from "../../../../../src/kernel/telemetry/report/telemetry-report.ts";
import type { ErrorClass } from "../../../../../src/kernel/telemetry/status.ts";
import {
  SCHEMA_URL,
  sdkAttributes,
} from "../../../../../src/kernel/telemetry/thread/sdk-resource.ts";
import { fastest } from "../../../../support/fastest.ts";
import { freePort } from "../../../../support/free-port.ts";
import type { Receiver } from "../../../../support/otlp/receiver.ts";
import { startReceiver } from "../../../../support/otlp/receiver.ts";
import { parseExposition } from "../../exposition-parser.ts";
import {
  happened,
  level,
  NEVER_MS,
  plainLevel,
  scrape,
  span,
  spec,
  startTelemetry,
} from "../../fixtures.ts";

let receiver: Receiver | undefined;
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});

/** A port that nobody listens on. */
async function deadEndpoint(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

const refusals: readonly [name: string, grpc: number, http: number, expected: ErrorClass][] = [
  ["without credentials", 16, 401, "unauthenticated"],
  ["without permission", 7, 403, "unauthenticated"],
  ["over its quota", 8, 429, "rate_limited"],
  ["when it finds the data invalid", 3, 400, "invalid"],
  ["when it is overloaded", 14, 503, "unavailable"],
  ["for a reason of its own", 13, 500, "other"],
];

describe.each(["grpc", "http"] as const)(
  "A receiver over %s that does not take the data",
  (protocol) => {
    const target = (endpoint: string, more: object = {}) => ({
      protocol,
      endpoint,
      intervalMs: NEVER_MS,
      timeoutMs: 1_000,
      ...more,
    });
    /**
     * For a receiver that answers. A refusal that may pass is tried again until the time is over;
     * any other ends the export.
     */
    const answering = (endpoint: string, refusal?: ErrorClass) =>
      target(endpoint, {
        timeoutMs: refusal === "unavailable" || refusal === "rate_limited" ? 3_000 : 30_000,
      });

    it.each(refusals)(
      "is entered in the ledger when it refuses %s",
      async (_name, grpc, http, expected) => {
        receiver = await startReceiver({ protocol });
        receiver.answer = { kind: "refuse", grpc, http };
        await using telemetry = await startTelemetry({
          metrics: answering(receiver.endpoint, expected),
          pull: false,
        });
        telemetry.scope(spec()).gauge(plainLevel, 1, {});
        expect(await telemetry.flush(30_000)).toBe(true);
        expect(telemetry.status().ledger?.signals.metrics).toMatchObject({
          failures: 1,
          failuresByClass: { [expected]: 1 },
          lastFailureClass: expected,
          consecutiveFailures: 1,
          items: 0,
          itemsLost: 1,
          lastSuccessMs: undefined,
        });
      },
    );

    it.each(refusals)(
      "is entered for records and spans as well when it refuses %s",
      async (_name, grpc, http, expected) => {
        receiver = await startReceiver({ protocol });
        receiver.answer = { kind: "refuse", grpc, http };
        await using telemetry = await startTelemetry({
          logs: answering(receiver.endpoint, expected),
          traces: answering(receiver.endpoint, expected),
          pull: true,
        });
        const scope = telemetry.scope(spec());
        using _report = reportTelemetry(scope, telemetry);
        scope.log(happened, "x", { who: "a", count: 1 });
        telemetry.span(() => span("a"));
        telemetry.span(() => span("b"));
        expect(await telemetry.flush(30_000)).toBe(true);
        const { logs, traces, metrics } = telemetry.status().ledger?.signals ?? {};
        expect(logs).toMatchObject({
          failures: 1,
          failuresByClass: { [expected]: 1 },
          lastFailureClass: expected,
          items: 0,
          itemsLost: 1,
        });
        expect(traces).toMatchObject({
          failures: 1,
          failuresByClass: { [expected]: 1 },
          lastFailureClass: expected,
          items: 0,
          itemsLost: 2,
        });
        expect(metrics?.requests).toBe(0);
        const { samples } = parseExposition(await scrape(telemetry));
        const value = (name: string, labels: object): number | undefined =>
          samples.find(
            (each) =>
              each.name === name &&
              Object.entries(labels).every(([label, said]) => each.labels[label] === said),
          )?.value;
        expect(value("svc_export_failures_total", { error_type: expected, signal: "logs" })).toBe(
          1,
        );
        expect(value("svc_export_failures_total", { error_type: expected, signal: "traces" })).toBe(
          1,
        );
        expect(value("svc_export_lost_total", { reason: "failed", signal: "traces" })).toBe(2);
        expect(value("svc_export_spans_total", {})).toBe(0);
      },
    );

    it("is entered as unavailable when it is down, logged once, and said to be well when it returns", async () => {
      const endpoint = await deadEndpoint();
      await using telemetry = await startTelemetry({ metrics: target(endpoint), pull: false });
      telemetry.scope(spec()).gauge(plainLevel, 1, {});
      for (let round = 0; round < 3; round++) await telemetry.flush(30_000);
      expect(telemetry.status().ledger?.signals.metrics).toMatchObject({
        failures: 3,
        failuresByClass: { unavailable: 3 },
      });
      expect(telemetry.component.health?.()).toEqual({
        ok: false,
        reason: "metrics export is failing (unavailable)",
      });
      expect(telemetry.log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
      receiver = await startReceiver({ protocol, port: Number(new URL(endpoint).port) });
      // The gRPC channel tries again after its own back-off of a second.
      while (receiver.batches.length === 0) await telemetry.flush(30_000);
      expect(receiver.points().at(-1)?.value).toBe(1);
      expect(telemetry.status().ledger?.signals.metrics.consecutiveFailures).toBe(0);
      expect(telemetry.component.health?.()).toEqual({ ok: true });
      expect(telemetry.log.lines.at(-1)).toMatch(/^info metrics export recovered/);
    });

    it("is entered as timeout when it does not answer, and the next export does not wait behind it for ever", async () => {
      receiver = await startReceiver({ protocol });
      const { promise, resolve } = Promise.withResolvers<void>();
      receiver.answer = { kind: "hold", until: promise };
      await using telemetry = await startTelemetry({
        metrics: target(receiver.endpoint, { timeoutMs: 3_000 }),
        pull: false,
      });
      telemetry.scope(spec()).gauge(plainLevel, 1, {});
      await telemetry.flush(30_000);
      expect(telemetry.status().ledger?.signals.metrics.failuresByClass).toEqual({ timeout: 1 });
      receiver.answer = { kind: "accept" };
      await telemetry.flush(30_000);
      expect(telemetry.status().ledger?.signals.metrics).toMatchObject({
        failures: 1,
        consecutiveFailures: 0,
        items: 1,
      });
      resolve();
    });

    it("is entered as invalid when a request is too large for it, and smaller batches arrive", async () => {
      receiver = await startReceiver({ protocol, maxBytes: 64 * 1024 });
      await using large = await startTelemetry({
        metrics: target(receiver.endpoint, { timeoutMs: 30_000 }),
        pull: false,
      });
      await using small = await startTelemetry({
        metrics: target(receiver.endpoint, { batchSize: 200, timeoutMs: 30_000 }),
        pull: false,
      });
      for (const telemetry of [large, small]) {
        const scope = telemetry.scope(spec());
        for (let index = 0; index < 2_000; index++)
          scope.gauge(level, index, { "host.name": `host-${index}`, state: "on" });
        await telemetry.flush(30_000);
      }
      expect(large.status().ledger?.signals.metrics).toMatchObject({
        failuresByClass: { invalid: 1 },
        itemsLost: 2_000,
      });
      expect(small.status().ledger?.signals.metrics).toMatchObject({ failures: 0, items: 2_000 });
      expect(receiver.points()).toHaveLength(2_000);
    });

    it("that takes only a part is counted, but not as a failure", async () => {
      receiver = await startReceiver({ protocol });
      receiver.answer = { kind: "partial", rejected: 2 };
      await using telemetry = await startTelemetry({
        metrics: answering(receiver.endpoint),
        logs: answering(receiver.endpoint),
        traces: answering(receiver.endpoint),
        pull: false,
      });
      const scope = telemetry.scope(spec());
      scope.gauge(plainLevel, 1, {});
      scope.log(happened, "x", { who: "a", count: 1 });
      telemetry.span(() => span("a"));
      await telemetry.flush(30_000);
      expect(telemetry.status().ledger?.signals.traces).toMatchObject({
        failures: 0,
        partialSuccesses: 1,
        itemsRejected: 2,
      });
      expect(telemetry.status().ledger?.signals.metrics).toMatchObject({
        failures: 0,
        partialSuccesses: 1,
        itemsRejected: 2,
      });
      expect(telemetry.status().ledger?.signals.logs).toMatchObject({
        failures: 0,
        partialSuccesses: 1,
        itemsRejected: 2,
      });
    });

    it("does not keep the daemon from stopping in time", async () => {
      receiver = await startReceiver({ protocol });
      const { promise, resolve } = Promise.withResolvers<void>();
      receiver.answer = { kind: "hold", until: promise };
      const { endpoint } = receiver;
      const stop = async (): Promise<number> => {
        const telemetry = await startTelemetry({
          metrics: target(endpoint, { timeoutMs: 30_000 }),
          pull: false,
        });
        telemetry.scope(spec()).gauge(plainLevel, 1, {});
        const began = performance.now();
        await telemetry.component.stop(600);
        return performance.now() - began;
      };
      expect(await fastest(2_000, stop)).toBeLessThan(2_000);
      resolve();
    });

    it("that is down does not hold up a stop by being asked again and again", async () => {
      const endpoint = await deadEndpoint();
      const telemetry = await startTelemetry({
        metrics: target(endpoint, {
          timeoutMs: 5_000,
          retry: { enabled: true, elapsedMs: 60_000 },
        }),
        logs: target(endpoint, { timeoutMs: 5_000, retry: { enabled: true, elapsedMs: 60_000 } }),
        pull: false,
      });
      const scope = telemetry.scope(spec());
      scope.gauge(plainLevel, 1, {});
      scope.log(happened, "x", { who: "a", count: 1 });
      while (telemetry.status().thread !== "running")
        await new Promise((resolve) => setImmediate(resolve));
      // The HTTP exporter has a patience of its own; who is known to be down gets less of it.
      if (protocol === "http") await telemetry.flush(30_000);
      const began = performance.now();
      await telemetry.component.stop(30_000);
      expect(performance.now() - began).toBeLessThan(4_800);
      expect(telemetry.status().ledger?.signals).toMatchObject({
        metrics: { failuresByClass: { unavailable: 1 } },
        logs: { failuresByClass: { unavailable: 1 } },
      });
    });

    it("makes the newest log records be dropped and counted, never waited for", async () => {
      receiver = await startReceiver({ protocol });
      const { promise, resolve } = Promise.withResolvers<void>();
      receiver.answer = { kind: "hold", until: promise };
      await using telemetry = await startTelemetry({
        logs: { ...target(receiver.endpoint, { timeoutMs: 20_000 }), batchDelayMs: 1 },
        pull: false,
      });
      const scope = telemetry.scope(spec());
      for (let index = 0; index < 10_000; index++)
        scope.log(happened, `record ${index}`, { who: "a", count: index });
      const held = telemetry.status().logs;
      expect(held).toMatchObject({ held: 2_048, capacity: 2_048, dropped: 10_000 - 2_048 });
      receiver.answer = { kind: "accept" };
      resolve();
      await telemetry.flush(20_000);
      expect(receiver.logs().map((record) => record.body)).toEqual(
        Array.from({ length: 2_048 }, (_, index) => `record ${index}`),
      );
      expect(telemetry.status().logs.held).toBe(0);
    });
  },
);

describe.each(["grpc", "http"] as const)("Spans over %s", (protocol) => {
  it("that wait for a receiver are bounded like records, and the newest go", async () => {
    receiver = await startReceiver({ protocol });
    const { promise, resolve } = Promise.withResolvers<void>();
    receiver.answer = { kind: "hold", until: promise };
    await using telemetry = await startTelemetry({
      traces: {
        protocol,
        endpoint: receiver.endpoint,
        timeoutMs: 20_000,
        capacity: 100,
        batchSize: 10,
        batchDelayMs: 1,
      },
      pull: false,
    });
    telemetry.scope(spec());
    for (let index = 0; index < 1_000; index++) telemetry.span(() => span(`span ${index}`));
    expect(telemetry.status().spans).toEqual({ held: 100, capacity: 100, dropped: 900, lost: 0 });
    receiver.answer = { kind: "accept" };
    resolve();
    await telemetry.flush(20_000);
    expect(receiver.spanBatches.every((batch) => batch.length <= 10)).toBe(true);
    expect(
      receiver
        .spans()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(Array.from({ length: 100 }, (_, index) => `span ${index}`).toSorted());
    expect(telemetry.status().ledger?.traces).toEqual({
      held: 0,
      capacity: 100,
      dropped: 0,
    });
    expect(telemetry.status().spans.held).toBe(0);
  });

  it("arrive as they were: identity, parent, links, state, times, status and the process's resource", async () => {
    receiver = await startReceiver({ protocol });
    await using telemetry = await startTelemetry({
      traces: { protocol, endpoint: receiver.endpoint },
      pull: false,
    });
    telemetry.scope(spec("process", { logResource: { "service.version": "1.2.3" } }));
    const remote = {
      traceId: "1".repeat(32),
      spanId: "2".repeat(16),
      traceFlags: 1,
      traceState: "vendor=value",
      isRemote: true,
    };
    telemetry.span(() => ({
      ...span("GET /a"),
      context: { ...remote, spanId: "3".repeat(16), isRemote: false },
      parent: remote,
      links: [{ ...remote, spanId: "4".repeat(16) }],
      status: { code: 2, message: "no" },
    }));
    await telemetry.flush(30_000);
    expect(receiver.spans()).toEqual([
      {
        resource: {
          "service.name": "steward",
          "service.instance.id": "process",
          "service.version": "1.2.3",
          ...sdkAttributes,
        },
        scope: "steward",
        name: "GET /a",
        kind: 2,
        traceId: remote.traceId,
        spanId: "3".repeat(16),
        parentSpanId: remote.spanId,
        traceState: "vendor=value",
        schemaUrl: SCHEMA_URL,
        attributes: { "http.route": "/a" },
        status: 2,
        links: [{ traceId: remote.traceId, spanId: "4".repeat(16) }],
        startMs: 1_700_000_000_000,
        endMs: 1_700_000_001_500,
      },
    ]);
  });
});

describe("A gRPC receiver that is busy for a moment", () => {
  it("gets the same request again, and the ledger has one success", async () => {
    receiver = await startReceiver({ protocol: "grpc" });
    receiver.answer = { kind: "refuse", grpc: 14, http: 503 };
    await using telemetry = await startTelemetry({
      metrics: {
        protocol: "grpc",
        endpoint: receiver.endpoint,
        intervalMs: NEVER_MS,
        retry: { enabled: true, initialMs: 50 },
      },
      pull: false,
    });
    telemetry.scope(spec()).gauge(plainLevel, 1, {});
    const flushed = telemetry.flush(30_000);
    while (receiver.refused === 0) await new Promise((resolve) => setImmediate(resolve));
    receiver.answer = { kind: "accept" };
    await flushed;
    expect(telemetry.status().ledger?.signals.metrics).toMatchObject({
      requests: 1,
      failures: 0,
      items: 1,
    });
  });
});

describe("The telemetry thread", () => {
  it("that dies is reported, and all living series are told to its successor", async () => {
    receiver = await startReceiver({ protocol: "grpc" });
    await using telemetry = await startTelemetry({
      metrics: { protocol: "grpc", endpoint: receiver.endpoint, intervalMs: NEVER_MS },
      pull: true,
    });
    const scope = telemetry.scope(spec());
    let ports = 0;
    using _started = telemetry.onStarted(() => {
      const port = telemetry.port();
      if (port) ports += 1;
      port?.close();
    });
    for (let index = 0; index < 5_000; index++)
      scope.gauge(level, index, { "host.name": `host-${index}`, state: "on" });
    await telemetry.flush(30_000);
    expect(receiver.points()).toHaveLength(5_000);
    receiver.clear();
    // A writer that does not keep to the messages is the end of the thread.
    const port = telemetry.port();
    port?.postMessage({
      type: "scope",
      scope: 0,
      name: "broken",
      resource: {},
      logResource: {},
      constants: {},
    });
    port?.postMessage({ type: "labels", scope: 0, seq: 0, started: null });
    while (telemetry.failures.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(telemetry.status().thread).toBe("failed");
    expect(() => telemetry.expose({ format: "text" }, new AbortController().signal)).toThrow(
      "the telemetry thread is not running",
    );
    scope.gauge(level, 5_000, { "host.name": "born-meanwhile", state: "on" });
    await telemetry.component.stop(0);
    await telemetry.component.start(new AbortController().signal, () => undefined);
    expect(ports).toBe(1);
    scope.end(level, { "host.name": "host-7", state: "on" });
    await telemetry.flush(30_000);
    expect(receiver.points()).toHaveLength(5_000);
    expect(
      new Set(
        receiver.points().map((point) => `${String(point.attributes["host.name"])}=${point.value}`),
      ).has("born-meanwhile=5000"),
    ).toBe(true);
  });
});
