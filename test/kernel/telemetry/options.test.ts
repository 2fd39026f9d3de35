import { hostname, release, type } from "node:os";
import { describe, expect, it } from "vitest";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { DeliveryLog } from "../../../src/kernel/telemetry/host/delivery-log.ts";
import { compileOptions } from "../../../src/kernel/telemetry/options.ts";
import {
  hostArchitecture,
  processIdentity,
  processResource,
} from "../../../src/kernel/telemetry/resource.ts";
import { emptySignalLedger, noOtherWriters } from "../../../src/kernel/telemetry/status.ts";
import type { LedgerView, SignalLedger } from "../../../src/kernel/telemetry/status.ts";
import { classify } from "../../../src/kernel/telemetry/thread/export/error-class.ts";
import { signalUrl } from "../../../src/kernel/telemetry/thread/export/exporters.ts";
import { createManualClock } from "../supervisor/manual-clock.ts";
import { memoryLog } from "./fixtures.ts";

describe("compileOptions", () => {
  it("fills up the defaults, opens secrets and gives a bare host its scheme", () => {
    const { metrics, logs } = compileOptions({
      pull: false,
      metrics: {
        protocol: "grpc",
        endpoint: "host:4317",
        headers: { authorization: Secret.of("Bearer x", "test") },
      },
      logs: {
        protocol: "http",
        endpoint: "http://h:4318",
        compression: "gzip",
        timeoutMs: 0,
        retry: { enabled: false, initialMs: 5_000 },
      },
    });
    expect(metrics).toEqual({
      protocol: "grpc",
      maxRequestBytes: 0,
      reconnectMs: 0,
      reload: undefined,
      pretty: false,
      endpoint: "https://host:4317",
      headers: { authorization: "Bearer x" },
      compression: "none",
      timeoutMs: 10_000,
      retry: { initialMs: 1_000, maxMs: 30_000, elapsedMs: 10_000 },
      tls: { insecureSkipVerify: false },
      intervalMs: 60_000,
      batchSize: 5_000,
    });
    expect(logs).toMatchObject({
      endpoint: "http://h:4318",
      compression: "gzip",
      delayMs: 1_000,
      capacity: 2_048,
      batchSize: 512,
      timeoutMs: 10_000,
      retry: { initialMs: 5_000, elapsedMs: 0 },
    });
    expect(
      compileOptions({
        pull: false,
        metrics: {
          protocol: "grpc",
          endpoint: "host:1",
          tls: { insecure: true },
          intervalMs: 5_000,
        },
      }).metrics,
    ).toMatchObject({ endpoint: "http://host:1", timeoutMs: 5_000 });
  });

  it("appends the signal's path unless it is there", () => {
    expect(signalUrl("http://h:1", "metrics")).toBe("http://h:1/v1/metrics");
    expect(signalUrl("http://h:1/otlp/", "logs")).toBe("http://h:1/otlp/v1/logs");
    expect(signalUrl("http://h:1/v1/logs", "logs")).toBe("http://h:1/v1/logs");
  });
});

describe("classify", () => {
  it("knows the error by status, system error or words", () => {
    expect(classify({ code: 8, message: "Received message larger than max (5 vs 4)" })).toBe(
      "invalid",
    );
    expect(classify({ code: "ECONNRESET" })).toBe("unavailable");
    expect(classify(new Error("Export failed with retryable status"), 429)).toBe("rate_limited");
    expect(classify(new Error("Export failed with retryable status"))).toBe("other");
    expect(classify(new Error("Request timed out"))).toBe("timeout");
    expect(classify({ code: 1 })).toBe("canceled");
    expect(classify(undefined)).toBe("other");
  });
});

describe("processResource", () => {
  it("keeps its own service attributes and hides the host's name when asked", () => {
    const resource = processResource({
      version: "1.2.3",
      hostnames: false,
      attributes: { "service.name": "mine", team: "a" },
    });
    expect(resource).toMatchObject({ "service.name": "steward", team: "a" });
    expect(resource["service.instance.id"]).toMatch(/^[0-9a-f]{12}$/);
    expect(resource["host.name"]).toBeUndefined();
  });

  it("has the conventions' values for the machine, the version of the build, and nothing that a restart changes", () => {
    const resource = processResource({ version: "1.2.3" });
    expect(resource).toMatchObject({
      "service.version": "1.2.3",
      "os.type": process.platform,
      "process.runtime.version": process.versions.node,
    });
    expect(["x64", "arm64", "arm", "ia32", "riscv64"].map(hostArchitecture)).toEqual([
      "amd64",
      "arm64",
      "arm32",
      "x86",
      "riscv64",
    ]);
    expect(resource["host.arch"]).toBe(hostArchitecture(process.arch));
    expect(resource["os.description"]).toMatch(
      new RegExp(`\\b${type()} ${release().replaceAll(".", "\\.")}\\b`),
    );
    expect(resource["os.description"]).not.toContain(hostname());
    expect(resource).not.toHaveProperty(["process.pid"]);
    expect(processIdentity()).toEqual({ "process.pid": process.pid });
  });
});

describe("DeliveryLog", () => {
  const view = (metrics: Partial<SignalLedger>): LedgerView => ({
    signals: {
      metrics: { ...emptySignalLedger, ...metrics },
      logs: emptySignalLedger,
      traces: emptySignalLedger,
    },
    snapshotsSkipped: 0,
    logs: { held: 0, capacity: 0, dropped: 0 },
    traces: { held: 0, capacity: 0, dropped: 0 },
    exposition: { running: 0, gathers: 0, duplicateSeries: 0, conflictingFamilies: 0 },
    cut: { body: { records: 0, bytes: 0 }, attribute: { records: 0, bytes: 0 } },
    pull: undefined,
    others: noOtherWriters,
  });

  it("writes the first failure of a class, a summary every five minutes, and the recovery", async () => {
    const clock = createManualClock();
    const log = memoryLog();
    const delivery = new DeliveryLog(clock, log);
    const fail = (failures: number, lastFailureClass: "timeout" | "unavailable"): void =>
      delivery.update(
        view({
          failures,
          consecutiveFailures: failures,
          lastFailureClass,
          lastFailureMessage: "why",
        }),
      );
    for (let failures = 1; failures <= 4; failures++) fail(failures, "timeout");
    expect(log.lines).toHaveLength(1);
    fail(5, "unavailable");
    expect(log.lines).toHaveLength(2);
    await clock.advance(301_000);
    fail(6, "unavailable");
    expect(log.lines[2]).toContain('"in_a_row":6');
    expect(delivery.failing()).toEqual(["metrics export is failing (unavailable)"]);
    delivery.update(view({ failures: 6, consecutiveFailures: 0 }));
    expect(log.lines[3]).toMatch(/^info metrics export recovered .*"failed_for":"5m1s"/);
    expect(delivery.failing()).toEqual([]);
    fail(1, "timeout");
    expect(log.lines).toHaveLength(5);
  });
});
