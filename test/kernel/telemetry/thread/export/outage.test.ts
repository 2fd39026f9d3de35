import { describe, expect, it, vi } from "vitest";
import { DeliveryLog } from "../../../../../src/kernel/telemetry/host/delivery-log.ts";
import { Ledger } from "../../../../../src/kernel/telemetry/thread/ledger.ts";
import type { LedgerView } from "../../../../../src/kernel/telemetry/status.ts";
import { createManualClock } from "../../../supervisor/manual-clock.ts";
import { reportTelemetry } from "../../../../../src/kernel/telemetry/report/telemetry-report.ts";
import { createTelemetryWriter } from "../../../../../src/kernel/telemetry/writer/writer.ts";
import { parseExposition } from "../../exposition-parser.ts";
import { startReceiver, type Receiver } from "../../../../support/otlp/receiver.ts";
import {
  happened,
  memoryLog,
  NEVER_MS,
  plainLevel,
  scrape,
  spec,
  startTelemetry,
} from "../../fixtures.ts";

function open() {
  const clock = createManualClock();
  const log = memoryLog();
  const delivery = new DeliveryLog(clock, log);
  const view = (): LedgerView =>
    ledger.view({ logs: undefined, traces: undefined, scrapes: 0, pull: undefined });
  const ledger: Ledger = new Ledger({
    now: () => clock.now(),
    changed: () => delivery.update(view()),
  });
  return { clock, log, delivery, ledger, view };
}

const MINUTE_MS = 60_000;
const down = { errorClass: "unavailable", message: "connect ECONNREFUSED" } as const;

describe("A backend that is dead for an hour", () => {
  it("is said at once and every five minutes, and at its return with all that was lost", async () => {
    const { clock, log, ledger, delivery, view } = open();
    for (let minute = 0; minute < 60; minute++) {
      ledger.enter("logs", { items: 512, seconds: 0.1, failure: down });
      await clock.advance(MINUTE_MS);
    }
    expect(delivery.failing()).toEqual(["logs export is failing (unavailable)"]);
    ledger.enter("logs", { items: 10, seconds: 0.1, failure: undefined });
    expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(12);
    expect(log.lines.at(-1)).toBe(
      'info logs export recovered {"failed_for":"1h0m0s","suppressed":4,"lost":30720}',
    );
    expect(delivery.suppressed()).toEqual([
      { signal: "logs", errorClass: "unavailable", lines: 48 },
    ]);
    expect([view().signals.logs.itemsLost, view().signals.logs.items, delivery.failing()]).toEqual([
      30_720,
      10,
      [],
    ]);
    expect(ledger.takeObserved()).toHaveLength(61);
    expect(ledger.takeObserved()).toEqual([]);
  });

  it("in two ways by turns writes a line for each way, not for each turn", async () => {
    const { clock, log, ledger } = open();
    for (let turn = 0; turn < 20; turn++) {
      ledger.enter("metrics", {
        items: 1,
        seconds: 0.1,
        failure: turn % 2 === 0 ? down : { errorClass: "timeout", message: "late" },
      });
      await clock.advance(1_000);
    }
    expect(log.lines).toHaveLength(2);
  });

  it("counts the next outage's loss and its time anew", async () => {
    const { clock, log, ledger } = open();
    for (const items of [100, 7]) {
      await clock.advance(MINUTE_MS);
      ledger.enter("metrics", { items, seconds: 0.1, failure: down });
      await clock.advance(items * 1_000);
      ledger.enter("metrics", { items: 1, seconds: 0.1, failure: undefined });
    }
    expect(log.lines.filter((line) => line.startsWith("info"))).toEqual([
      'info metrics export recovered {"failed_for":"1m40s","suppressed":0,"lost":100}',
      'info metrics export recovered {"failed_for":"7s","suppressed":0,"lost":7}',
    ]);
  });
});

describe.each(["grpc", "http"] as const)("Log records that are kept, over %s", (protocol) => {
  const bodies = (receiver: Receiver) => receiver.logs().map(({ body }) => body);

  it("arrive once after an outage that outlasts every request, and a flush waits for it", async () => {
    await using receiver = await closing(protocol);
    receiver.answer = { kind: "refuse", grpc: 8, http: 500 };
    await using telemetry = await startTelemetry(keeping(receiver.endpoint, protocol));
    const scope = telemetry.scope(spec());
    scope.log(happened, "first", { who: "a", count: 1 });
    expect(await telemetry.flush(300)).toBe(false);
    await expect
      .poll(() => telemetry.status().ledger?.signals.logs.failures)
      .toBeGreaterThanOrEqual(3);
    scope.log(happened, "second", { who: "a", count: 2 });
    // The first flush is still running: this one does not overtake it.
    expect(await telemetry.flush(300)).toBe(false);
    receiver.answer = { kind: "accept" };
    expect(await telemetry.flush(60_000)).toBe(true);
    expect(bodies(receiver)).toEqual(["first", "second"]);
    expect(telemetry.status().ledger?.signals.logs).toMatchObject({ items: 2, itemsLost: 0 });
  });

  it("are given up when the receiver rejects them, and not when the address is wrong", async () => {
    await using receiver = await closing(protocol);
    receiver.answer = { kind: "refuse", grpc: 3, http: 400 };
    await using telemetry = await startTelemetry(keeping(receiver.endpoint, protocol));
    const scope = telemetry.scope(spec());
    scope.log(happened, "rejected", { who: "a", count: 1 });
    expect(await telemetry.flush(60_000)).toBe(true);
    expect(telemetry.status().ledger?.signals.logs).toMatchObject({ items: 0, itemsLost: 1 });
    receiver.answer = { kind: "refuse", grpc: 12, http: 404 };
    scope.log(happened, "kept", { who: "a", count: 2 });
    expect(await telemetry.flush(300)).toBe(false);
    receiver.answer = { kind: "accept" };
    expect(await telemetry.flush(60_000)).toBe(true);
    expect(bodies(receiver)).toEqual(["kept"]);
  });

  it("arrive beside one that the receiver cannot store, which is lost and counted", async () => {
    await using receiver = await closing(protocol);
    receiver.answer = { kind: "poisoned", body: "record 3", grpc: 13, http: 500 };
    await using telemetry = await startTelemetry(keeping(receiver.endpoint, protocol));
    const scope = telemetry.scope(spec());
    for (let at = 0; at < 8; at += 1) scope.log(happened, `record ${at}`, { who: "a", count: at });
    expect(await telemetry.flush(10_000)).toBe(true);
    expect(bodies(receiver).toSorted()).toEqual([0, 1, 2, 4, 5, 6, 7].map((at) => `record ${at}`));
    expect(telemetry.status().ledger?.signals.logs).toMatchObject({ items: 7, itemsLost: 1 });
    receiver.answer = { kind: "accept" };
    scope.log(happened, "later", { who: "a", count: 9 });
    expect(await telemetry.flush(60_000)).toBe(true);
    expect(bodies(receiver)).toContain("later");
  });

  it("arrive after an outage in which every request is answered so", async () => {
    await using receiver = await closing(protocol);
    receiver.answer = { kind: "refuse", grpc: 13, http: 500 };
    await using telemetry = await startTelemetry(keeping(receiver.endpoint, protocol));
    const scope = telemetry.scope(spec());
    for (let at = 0; at < 4; at += 1) scope.log(happened, `record ${at}`, { who: "a", count: at });
    const flushed = telemetry.flush(60_000);
    await expect.poll(() => receiver.refused, { timeout: 30_000 }).toBeGreaterThan(60);
    receiver.answer = { kind: "accept" };
    expect(await flushed).toBe(true);
    expect(bodies(receiver).toSorted()).toEqual([0, 1, 2, 3].map((at) => `record ${at}`));
    expect(telemetry.status().ledger?.signals.logs).toMatchObject({ items: 4, itemsLost: 0 });
  });

  it("are given up at a stop, also after they were sent in halves", async () => {
    await using receiver = await closing(protocol);
    receiver.answer = { kind: "refuse", grpc: 13, http: 500 };
    const telemetry = await startTelemetry(keeping(receiver.endpoint, protocol));
    const scope = telemetry.scope(spec());
    for (let at = 0; at < 4; at += 1) scope.log(happened, `record ${at}`, { who: "a", count: at });
    void telemetry.flush(60_000);
    await expect.poll(() => receiver.refused, { timeout: 30_000 }).toBeGreaterThan(20);
    await telemetry.component.stop(60_000);
    expect(telemetry.status().ledger?.signals.logs).toMatchObject({ items: 0, itemsLost: 4 });
  });

  it("do not keep the process from stopping", async () => {
    await using receiver = await closing(protocol);
    const headers = { "retry-after": "3600" };
    receiver.answer = { kind: "refuse", grpc: 14, http: 503, headers };
    const telemetry = await startTelemetry(keeping(receiver.endpoint, protocol));
    telemetry.scope(spec()).log(happened, "left", { who: "a", count: 1 });
    expect(await telemetry.flush(300)).toBe(false);
    await telemetry.component.stop(60_000);
    expect(telemetry.status().ledger?.signals.logs).toMatchObject({ items: 0, itemsLost: 1 });
  });
});

it("Log records that are kept are sent again no sooner than a receiver over HTTP asks for", async () => {
  await using receiver = await closing("http");
  const headers = { "retry-after": "1" };
  const refused = Promise.withResolvers<number>(); // when the first was
  receiver.answer = {
    grpc: 14,
    http: 429,
    headers,
    get kind() {
      refused.resolve(performance.now());
      return "refuse" as const;
    },
  };
  const { logs } = keeping(receiver.endpoint, "http");
  await using telemetry = await startTelemetry({ pull: false, logs: { ...logs, timeoutMs: 500 } });
  telemetry.scope(spec()).log(happened, "limited", { who: "a", count: 1 });
  const flushed = telemetry.flush(60_000);
  const refusedMs = await refused.promise;
  await expect.poll(() => receiver.refused, { timeout: 30_000 }).toBeGreaterThan(0);
  receiver.answer = { kind: "accept" };
  expect(await flushed).toBe(true);
  expect(performance.now() - refusedMs).toBeGreaterThanOrEqual(1_000);
  expect(receiver.logs().map(({ body }) => body)).toEqual(["limited"]);
});

describe("Metrics whose receiver is down for longer than their interval", () => {
  it.each(["grpc", "http"] as const)(
    "are not taken for exported by a flush over %s",
    async (protocol) => {
      await using receiver = await closing(protocol);
      receiver.answer = { kind: "refuse", grpc: 14, http: 503 };
      await using telemetry = await startTelemetry({
        pull: false,
        metrics: {
          protocol,
          endpoint: receiver.endpoint.replace("http://", protocol === "grpc" ? "" : "http://"),
          tls: { insecure: true },
          intervalMs: 100,
          timeoutMs: 60_000,
          retry: { enabled: true, initialMs: 200, maxMs: 200, elapsedMs: 60_000 },
        },
      });
      telemetry.scope(spec()).gauge(plainLevel, 1, {});
      const finished = await telemetry.flush(1_000);
      const failures = telemetry.status().ledger?.signals.metrics.failures ?? 0;
      expect({ finished, failures }).not.toEqual({ finished: true, failures: 0 });
      receiver.answer = { kind: "accept" };
      expect(await telemetry.flush(60_000)).toBe(true);
      expect(receiver.points().map(({ metric }) => metric)).toContain("test.plain");
    },
  );
});

/** Options of a push of log records that are sent until they arrive. */
function keeping(endpoint: string, protocol: "grpc" | "http") {
  return {
    pull: false,
    logs: {
      protocol,
      endpoint: protocol === "grpc" ? endpoint.replace("http://", "") : endpoint,
      tls: { insecure: true },
      timeoutMs: 2_000,
      batchDelayMs: NEVER_MS,
      exportTimeoutMs: 100,
      retry: { enabled: false, initialMs: 20, maxMs: 50 },
      keeps: true,
    },
  };
}

/** A receiver that closes with its block. */
async function closing(protocol: "grpc" | "http"): Promise<Receiver & AsyncDisposable> {
  const receiver = await startReceiver({ protocol });
  return Object.assign(receiver, { [Symbol.asyncDispose]: () => receiver.close() });
}

describe("The house's metrics of delivery", () => {
  it("show what took time, what was cut, and the lines that were withheld", async () => {
    await using telemetry = await startTelemetry({
      pull: true,
      logs: {
        protocol: "http",
        endpoint: "http://127.0.0.1:1",
        timeoutMs: 200,
        batchDelayMs: 3_600_000,
        limits: { body: 100 },
      },
    });
    const scope = telemetry.scope(spec());
    using _report = reportTelemetry(scope, telemetry);
    for (let round = 0; round < 2; round++) {
      scope.log(happened, "x".repeat(188), { who: "a", count: 1 });
      await telemetry.flush(30_000);
    }
    const { samples } = parseExposition(await scrape(telemetry));
    expect(samples).toContainEqual({
      name: "svc_log_record_truncated_total",
      labels: { field: "body" },
      value: 2,
    });
    expect(samples).toContainEqual({
      name: "svc_log_truncated_bytes_total",
      labels: { field: "body" },
      value: 2 * 100,
    });
    expect(samples).toContainEqual({
      name: "svc_export_duration_seconds_count",
      labels: { signal: "logs", outcome: "failure" },
      value: 2,
    });
    expect(samples).toContainEqual({
      name: "svc_export_diagnostics_suppressed_total",
      labels: { signal: "logs", error_type: "unavailable" },
      value: 1,
    });
  });

  it("show of another thread's writer what it could not hand over", async () => {
    await using telemetry = await startTelemetry({
      pull: true,
      logs: {
        protocol: "http",
        endpoint: "http://127.0.0.1:1",
        timeoutMs: 200,
        batchDelayMs: 3_600_000,
      },
    });
    const writer = createTelemetryWriter({
      clock: createManualClock(),
      sendsFigures: true,
      logs: { capacity: 2, limits: { body: 100, attribute: 100 } },
    });
    const other = writer.scope(spec("other"));
    for (let index = 0; index < 5; index++) other.log(happened, "x", { who: "a", count: index });
    const scope = telemetry.scope(spec());
    using _report = reportTelemetry(scope, telemetry);
    const port = telemetry.port();
    if (port) writer.attach(port, { logs: true });
    const dropped = async (): Promise<number | undefined> =>
      parseExposition(await scrape(telemetry)).samples.find(
        ({ name, labels }) =>
          name === "svc_processor_dropped_total" && labels["reason"] === "queue_full",
      )?.value;
    await vi.waitFor(async () => expect(await dropped()).toBe(3), { timeout: 60_000, interval: 5 });
    // What was lost stays counted when the other thread ends.
    port?.close();
    for (let round = 0; round < 3; round++) expect(await dropped()).toBe(3);
  });
});
