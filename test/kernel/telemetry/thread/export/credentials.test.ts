import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startReceiver } from "../../../../support/otlp/receiver.ts";
import type { Receiver } from "../../../../support/otlp/receiver.ts";
import { createAuthority, hasOpenssl } from "../../../../support/otlp/authority.ts";
import { replaceFile, testFolder } from "../../../listen/test-certificates.ts";
import { happened, level, NEVER_MS, plainLevel, spec, startTelemetry } from "../../fixtures.ts";

let receiver: Receiver | undefined;
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});

/** Until it holds; the test's own time limit ends the waiting. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe.each(["grpc", "http"] as const)("Credentials of an exporter over %s", (protocol) => {
  it("are read again from their files; one that cannot be used leaves the last good one, is said once and never shown", async () => {
    receiver = await startReceiver({ protocol });
    const file = join(testFolder(), "token");
    writeFileSync(file, "canary-one\n");
    await using telemetry = await startTelemetry({
      pull: false,
      metrics: {
        protocol,
        endpoint: receiver.endpoint,
        intervalMs: NEVER_MS,
        headers: { "x-token": "canary-one" },
        reload: { everyMs: 20, headerFiles: { "x-token": file } },
      },
    });
    telemetry.scope(spec()).gauge(plainLevel, 1, {});
    await telemetry.flush(30_000);
    expect(receiver.headers["x-token"]).toBe("canary-one");
    replaceFile(file, "canary-two\n");
    await until(() =>
      telemetry.log.lines.some((line) =>
        line.startsWith("info reloaded the credentials for exporting metrics"),
      ),
    );
    await telemetry.flush(30_000);
    expect(receiver.headers["x-token"]).toBe("canary-two");
    replaceFile(file, "canary\u0000three");
    await until(() =>
      telemetry.log.lines.some((line) =>
        line.startsWith("warn credentials for exporting metrics cannot be used"),
      ),
    );
    await telemetry.flush(30_000);
    await telemetry.flush(30_000);
    expect(receiver.headers["x-token"]).toBe("canary-two");
    expect(telemetry.log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
    expect(telemetry.log.lines.join("\n")).not.toContain("canary");
    expect(telemetry.status().ledger?.signals.metrics).toMatchObject({ failures: 0, requests: 4 });
  });

  it.skipIf(!hasOpenssl)("may be another authority", async () => {
    using first = createAuthority();
    using second = createAuthority();
    receiver = await startReceiver({ protocol, tls: second.sign("receiver", "server") });
    const file = join(testFolder(), "ca.pem");
    writeFileSync(file, first.cert);
    await using telemetry = await startTelemetry({
      pull: false,
      metrics: {
        protocol,
        endpoint: receiver.endpoint,
        intervalMs: NEVER_MS,
        timeoutMs: 10_000,
        retry: { enabled: false },
        tls: { ca: first.cert },
        reload: { everyMs: 20, caFile: file },
      },
    });
    telemetry.scope(spec()).gauge(plainLevel, 1, {});
    await telemetry.flush(30_000);
    expect(telemetry.status().ledger?.signals.metrics).toMatchObject({ failures: 1, items: 0 });
    replaceFile(file, second.cert);
    await until(() =>
      telemetry.log.lines.some((line) => line.startsWith("info reloaded the credentials")),
    );
    await telemetry.flush(30_000);
    expect(telemetry.status().ledger?.signals.metrics).toMatchObject({ failures: 1, items: 1 });
  });

  it("are not needed for a bound on requests: a larger one is not sent, counted as invalid, and said once", async () => {
    receiver = await startReceiver({ protocol });
    await using telemetry = await startTelemetry({
      pull: false,
      metrics: {
        protocol,
        endpoint: receiver.endpoint,
        intervalMs: NEVER_MS,
        maxRequestBytes: 2_000,
      },
    });
    const scope = telemetry.scope(spec());
    scope.gauge(plainLevel, 1, {});
    await telemetry.flush(30_000);
    expect(telemetry.status().ledger?.signals.metrics).toMatchObject({ items: 1, failures: 0 });
    for (let index = 0; index < 100; index++)
      scope.gauge(level, index, { "host.name": `host-${index}`, state: "on" });
    for (let round = 0; round < 3; round++) await telemetry.flush(30_000);
    expect(telemetry.status().ledger?.signals.metrics).toMatchObject({
      items: 1,
      failures: 3,
      failuresByClass: { invalid: 3 },
      itemsLost: 303,
    });
    expect(receiver.batches).toHaveLength(1);
    expect(telemetry.log.lines.filter((line) => line.startsWith("warn"))).toEqual([
      expect.stringMatching(/max_request_size, which is 2000/),
    ]);
    expect(telemetry.status().suppressed).toEqual([
      { signal: "metrics", errorClass: "invalid", lines: 2 },
    ]);
  });
});

describe("A connection of gRPC", () => {
  it("is made anew after its time, without a failure", async () => {
    const running = await startReceiver({ protocol: "grpc" });
    receiver = running;
    const accepted: unknown[] = [];
    const between = createServer((socket) => {
      accepted.push(socket);
      const onward = connect(running.port, "127.0.0.1");
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ] as const)
        from.on("error", () => to.destroy()).pipe(to);
    });
    await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
    await using telemetry = await startTelemetry({
      pull: false,
      metrics: {
        protocol: "grpc",
        endpoint: `http://127.0.0.1:${(between.address() as AddressInfo).port}`,
        intervalMs: NEVER_MS,
        reconnectMs: 20,
      },
      // It keeps its connection, which must not be taken for that of the metrics.
      logs: {
        protocol: "grpc",
        endpoint: `http://127.0.0.1:${(between.address() as AddressInfo).port}`,
        batchDelayMs: NEVER_MS,
      },
    });
    const scope = telemetry.scope(spec());
    scope.log(happened, "x", { who: "a", count: 1 });
    scope.gauge(plainLevel, 1, {});
    while (accepted.length < 4) await telemetry.flush(30_000);
    expect(telemetry.status().ledger?.signals.metrics.failures).toBe(0);
    between.close();
  });
});
