/** What is particular to OTLP over gRPC; what both protocols share is in `export.test.ts`. */
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { status } from "@grpc/grpc-js";
import { expect, it, onTestFinished, vi } from "vitest";
import type { OtlpTarget } from "../../../../../src/kernel/telemetry/options.ts";
import { type Receiver, startReceiver } from "../../../../support/otlp/receiver.ts";
import { happened, NEVER_MS, plainLevel, span, spec, startTelemetry } from "../../fixtures.ts";

const PATIENTLY = { timeout: 60_000, interval: 50 };

async function receiving(): Promise<Receiver> {
  const receiver = await startReceiver({ protocol: "grpc" });
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Sends a point, again when it stops, a record and a span. */
async function sendAll(target: OtlpTarget): Promise<void> {
  await using telemetry = await startTelemetry({
    metrics: { ...target, intervalMs: NEVER_MS },
    logs: target,
    traces: target,
    pull: false,
  });
  const scope = telemetry.scope(spec());
  scope.gauge(plainLevel, 1, {});
  scope.log(happened, "x", { who: "a", count: 1 });
  telemetry.span(() => span("a"));
  expect(await telemetry.flush(30_000)).toBe(true);
}

it.each(["gzip", "none"] as const)(
  "every signal names the program and carries the headers, compression %s",
  async (compression) => {
    const receiver = await receiving();
    const seen: Receiver["headers"][] = [];
    Object.defineProperty(receiver, "headers", {
      set(headers: Receiver["headers"]) {
        seen.push(headers);
      },
    });
    await sendAll({
      protocol: "grpc",
      endpoint: receiver.endpoint,
      compression,
      headers: { "x-org": "one" },
    });
    expect([receiver.points().length, receiver.logs().length, receiver.spans().length]).toEqual([
      2, 1, 1,
    ]);
    expect(seen).toHaveLength(4);
    for (const headers of seen) {
      expect(headers["user-agent"]).toMatch(/^steward /);
      expect(headers["x-org"]).toBe("one");
    }
  },
);

it("every signal reaches a plain server on port 80", async ({ skip }) => {
  const receiver = await startReceiver({ protocol: "grpc", port: 80 }).catch((error: unknown) =>
    skip(`port 80 of this machine cannot be used: ${String(error)}`),
  );
  onTestFinished(() => receiver.close());
  await sendAll({ protocol: "grpc", endpoint: "http://127.0.0.1:80" });
  expect([receiver.points().length, receiver.logs().length, receiver.spans().length]).toEqual([
    2, 1, 1,
  ]);
});

it("sends a batch again after a refusal that may pass, whole and once", async () => {
  const receiver = await receiving();
  receiver.answer = { kind: "refuse", grpc: status.UNAVAILABLE, http: 503 };
  await using telemetry = await startTelemetry({
    metrics: {
      protocol: "grpc",
      endpoint: receiver.endpoint,
      intervalMs: NEVER_MS,
      timeoutMs: 30_000,
      retry: { enabled: true, initialMs: 20, maxMs: 20 },
    },
    pull: false,
  });
  telemetry.scope(spec()).gauge(plainLevel, 3, {});
  const flushed = telemetry.flush(30_000);
  await vi.waitFor(() => expect(receiver.refused).toBeGreaterThan(1), PATIENTLY);
  receiver.answer = { kind: "accept" };
  expect(await flushed).toBe(true);
  expect(receiver.points().map(({ value }) => value)).toEqual([3]);
  expect(telemetry.status().ledger?.signals.metrics).toMatchObject({ failures: 0, items: 1 });
});

it("leaves a connection on which six requests in a row had no answer in time", async () => {
  const server = createServer();
  let sessions = 0;
  server.on("session", () => (sessions += 1));
  server.on("stream", (stream) => stream.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  await using telemetry = await startTelemetry({
    metrics: {
      protocol: "grpc",
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      intervalMs: NEVER_MS,
      timeoutMs: 200,
      retry: { enabled: false },
    },
    pull: false,
  });
  telemetry.scope(spec()).gauge(plainLevel, 1, {});
  for (let late = 0; late < 6; late += 1) await telemetry.flush(30_000);
  expect(telemetry.status().ledger?.signals.metrics.failuresByClass).toEqual({ timeout: 6 });
  expect(sessions).toBe(1);
  await telemetry.flush(30_000);
  await expect.poll(() => sessions).toBe(2);
});
