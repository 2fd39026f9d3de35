import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../../src/kernel/base/clock.ts";
import { OutputGate } from "../../../../../src/kernel/telemetry/host/output-gate.ts";
import type { TelemetryOptions } from "../../../../../src/kernel/telemetry/options.ts";
import { createTelemetry } from "../../../../../src/kernel/telemetry/telemetry.ts";
import { happened, level, memoryLog, NEVER_MS, span, spec } from "../../fixtures.ts";

const stdout = { protocol: "stdout", endpoint: "" } as const;

/** Telemetry whose standard output is kept. */
async function start(
  options: TelemetryOptions,
  write?: (text: string, written: () => void) => void,
) {
  const texts: string[] = [];
  const telemetry = createTelemetry(
    {
      clock: systemClock,
      log: memoryLog(),
      output:
        write ??
        ((text, written) => {
          texts.push(text);
          written();
        }),
    },
    options,
  );
  await telemetry.component.start(new AbortController().signal, () => undefined);
  return {
    telemetry,
    texts,
    scope: telemetry.scope(spec()),
    [Symbol.asyncDispose]: () => telemetry.component.stop(2_000),
  };
}

describe("Export to standard output", () => {
  it("writes metrics, records and spans as lines of OTLP's JSON, and counts them as delivered", async () => {
    await using running = await start({
      metrics: { ...stdout, intervalMs: NEVER_MS },
      logs: stdout,
      traces: stdout,
      pull: false,
    });
    const { telemetry, texts, scope } = running;
    telemetry.openOutput();
    scope.gauge(level, 7, { "host.name": "a", state: "on" });
    scope.log(happened, "body", { who: "a", count: 1 });
    telemetry.span(() => span("GET /a"));
    expect(await telemetry.flush(30_000)).toBe(true);
    const documents = texts.map((text) => {
      expect(text.indexOf("\n")).toBe(text.length - 1);
      return JSON.parse(text) as object;
    });
    expect(documents).toHaveLength(3);
    const text = JSON.stringify(documents);
    expect(text).toMatch(/"resourceMetrics":.*"test\.level".*"asDouble":7/);
    expect(text).toMatch(/"resourceLogs":.*"body"/);
    expect(text).toMatch(/"resourceSpans":.*"GET \/a"/);
    expect(telemetry.status().ledger?.signals).toMatchObject({
      metrics: { items: 1, failures: 0 },
      logs: { items: 1 },
      traces: { items: 1 },
    });
  });

  it("spreads over lines when that is wanted", async () => {
    await using running = await start({
      metrics: { ...stdout, intervalMs: NEVER_MS, pretty: true },
      pull: false,
    });
    running.telemetry.openOutput();
    running.scope.gauge(level, 7, { "host.name": "a", state: "on" });
    await running.telemetry.flush(30_000);
    expect(running.texts[0]).toMatch(/^\{\n {2}"resourceMetrics": \[\n/);
  });

  it("sends records at once, without a flush", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    await using running = await start(
      { logs: { ...stdout, batchDelayMs: NEVER_MS }, pull: false },
      (text, written) => {
        resolve(text);
        written();
      },
    );
    running.telemetry.openOutput();
    running.scope.log(happened, "now", { who: "a", count: 1 });
    expect(await promise).toContain('"now"');
  });

  it("gives up on a reader that does not read, and enters it as a timeout", async () => {
    await using running = await start(
      { metrics: { ...stdout, intervalMs: NEVER_MS, timeoutMs: 50 }, pull: false },
      () => undefined,
    );
    running.telemetry.openOutput();
    running.scope.gauge(level, 7, { "host.name": "a", state: "on" });
    await running.telemetry.flush(30_000);
    expect(running.telemetry.status().ledger?.signals.metrics).toMatchObject({
      failuresByClass: { timeout: 1 },
      itemsLost: 1,
    });
  });
});

describe("OutputGate", () => {
  it("holds what comes before the process's first line, and keeps the order", () => {
    const [texts, written] = [[] as string[], [] as number[]];
    const gate = new OutputGate(
      (text, done) => {
        texts.push(text);
        done();
      },
      (id) => void written.push(id),
    );
    gate.take(1, "a");
    gate.take(2, "b");
    expect([texts, written]).toEqual([[], []]);
    gate.open();
    gate.take(3, "c");
    expect([texts, written]).toEqual([
      ["a", "b", "c"],
      [1, 2, 3],
    ]);
  });

  it("holds no more than sixteen, the newest", () => {
    const texts: string[] = [];
    const gate = new OutputGate(
      (text) => void texts.push(text),
      () => undefined,
    );
    for (let id = 0; id < 100; id++) gate.take(id, String(id));
    gate.open();
    expect([texts.length, texts[0], texts.at(-1)]).toEqual([16, "84", "99"]);
  });

  it("forgets what it held for a thread that is gone", () => {
    const texts: string[] = [];
    const gate = new OutputGate(
      (text) => void texts.push(text),
      () => undefined,
    );
    gate.take(1, "a");
    gate.forget();
    gate.open();
    expect(texts).toEqual([]);
  });
});
