import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../../../../src/kernel/base/secret.ts";
import type { OtlpTarget, TlsOptions } from "../../../../../src/kernel/telemetry/options.ts";
import type { TelemetryStatus } from "../../../../../src/kernel/telemetry/status.ts";
import { createAuthority, hasOpenssl } from "../../../../support/otlp/authority.ts";
import type { Authority, Signed } from "../../../../support/otlp/authority.ts";
import { startReceiver } from "../../../../support/otlp/receiver.ts";
import type { Receiver, ReceiverTls } from "../../../../support/otlp/receiver.ts";
import { happened, NEVER_MS, plainLevel, spec, startTelemetry } from "../../fixtures.ts";

if (!hasOpenssl)
  process.stderr.write("skipped: TLS of the exporters (no openssl to make certificates with)\n");

describe.skipIf(!hasOpenssl).each(["grpc", "http"] as const)("An exporter over %s", (protocol) => {
  let authority: Authority;
  let stranger: Authority;
  let server: Signed;
  let client: Signed;
  let receiver: Receiver | undefined;
  beforeAll(() => {
    [authority, stranger] = [createAuthority(), createAuthority()];
    server = authority.sign("receiver", "server");
    client = authority.sign("steward", "client");
  });
  afterEach(async () => {
    await receiver?.close();
    receiver = undefined;
  });
  afterAll(() => {
    authority[Symbol.dispose]();
    stranger[Symbol.dispose]();
  });

  /** What became of one point and one record sent to a receiver with that TLS. */
  async function send(
    receiverTls: ReceiverTls | undefined,
    tls: TlsOptions,
    endpoint?: (port: number) => string,
  ): Promise<TelemetryStatus & { readonly lines: readonly string[] }> {
    const running = await startReceiver({
      protocol,
      ...(receiverTls === undefined ? {} : { tls: receiverTls }),
    });
    receiver = running;
    const target: OtlpTarget = {
      protocol,
      endpoint: endpoint?.(running.port) ?? running.endpoint,
      tls,
      timeoutMs: 3_000,
      retry: { enabled: false },
    };
    await using telemetry = await startTelemetry({
      metrics: { ...target, intervalMs: NEVER_MS },
      logs: target,
      pull: false,
    });
    const scope = telemetry.scope(spec());
    scope.gauge(plainLevel, 1, {});
    scope.log(happened, "x", { who: "a", count: 1 });
    await telemetry.flush(30_000);
    return { ...telemetry.status(), lines: telemetry.log.lines };
  }

  it("trusts a receiver whose certificate a private authority signed, when it is told of that", async () => {
    const { ledger } = await send(server, { ca: authority.cert });
    expect([ledger?.signals.metrics, ledger?.signals.logs]).toMatchObject([
      { failures: 0, items: 1 },
      { failures: 0, items: 1 },
    ]);
    // The stop of telemetry has sent the point once more.
    expect([receiver?.points().at(0)?.value, receiver?.logs().at(0)?.body]).toEqual([1, "x"]);
  });

  it.each([
    ["nobody", () => ({})],
    ["another one", () => ({ ca: stranger.cert })],
  ])("sends nothing to that receiver when it trusts %s", async (_who, tls) => {
    const { ledger } = await send(server, tls());
    expect([ledger?.signals.metrics, ledger?.signals.logs]).toMatchObject([
      { failuresByClass: { unavailable: 1 }, itemsLost: 1, items: 0 },
      { failuresByClass: { unavailable: 1 }, itemsLost: 1, items: 0 },
    ]);
    expect(receiver?.sizes).toEqual([]);
  });

  it("does not look at the certificate when it is told so", async () => {
    const { ledger } = await send(server, { insecureSkipVerify: true });
    expect(ledger?.signals.metrics).toMatchObject({ failures: 0, items: 1 });
  });

  it("shows its own certificate to a receiver that asks for one", async () => {
    const { ledger } = await send(
      { ...server, clientCa: authority.cert },
      { ca: authority.cert, cert: client.cert, key: Secret.of(client.key, "test") },
    );
    expect([ledger?.signals.metrics, ledger?.signals.logs]).toMatchObject([
      { failures: 0, items: 1 },
      { failures: 0, items: 1 },
    ]);
  });

  it("is refused there without one, and with a stranger's, and never says the key", async () => {
    const other = stranger.sign("stranger", "client");
    for (const own of [{}, { cert: other.cert, key: Secret.of(other.key, "test") }]) {
      const { ledger, lines } = await send(
        { ...server, clientCa: authority.cert },
        { ca: authority.cert, ...own },
      );
      expect(ledger?.signals.metrics).toMatchObject({ failures: 1, items: 0 });
      expect(lines.join("\n") + JSON.stringify(ledger)).not.toMatch(/PRIVATE KEY|BEGIN/);
      await receiver?.close();
    }
  });

  it("that speaks TLS gets nowhere at a plain receiver", async () => {
    const { ledger } = await send(
      undefined,
      { ca: authority.cert },
      (port) => `https://127.0.0.1:${port}`,
    );
    expect(ledger?.signals.metrics).toMatchObject({ failures: 1, items: 0 });
    expect(receiver?.sizes).toEqual([]);
  });
});

describe.skipIf(!hasOpenssl)("A gRPC endpoint without a scheme", () => {
  it("means TLS, and plain only when that is said", async () => {
    const plain = await startReceiver({ protocol: "grpc" });
    for (const [insecure, failures] of [
      [false, 1],
      [true, 0],
    ] as const) {
      await using telemetry = await startTelemetry({
        metrics: {
          protocol: "grpc",
          endpoint: `127.0.0.1:${plain.port}`,
          intervalMs: NEVER_MS,
          timeoutMs: insecure ? 30_000 : 1_000,
          retry: { enabled: false },
          tls: { insecure },
        },
        pull: false,
      });
      telemetry.scope(spec()).gauge(plainLevel, 1, {});
      await telemetry.flush(30_000);
      expect(telemetry.status().ledger?.signals.metrics.failures).toBe(failures);
    }
    await plain.close();
  });
});
