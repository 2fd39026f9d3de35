/** Rows, scopes and a started telemetry for the tests of this folder. */
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { Log } from "../../../src/kernel/base/log.ts";
import { defineLogRecord, defineMetric } from "../../../src/kernel/telemetry/catalogue.ts";
import type { WireSpan, ScopeSpec } from "../../../src/kernel/telemetry/types.ts";
import type { TelemetryOptions } from "../../../src/kernel/telemetry/options.ts";
import { createTelemetry } from "../../../src/kernel/telemetry/telemetry.ts";
import type { Telemetry } from "../../../src/kernel/telemetry/telemetry.ts";

const common = { group: "Test", help: "For a test." } as const;

export const level = defineMetric({
  ...common,
  name: "test.level",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "state"],
});
export const plainLevel = defineMetric({ ...common, name: "test.plain", kind: "gauge", unit: "s" });
export const requests = defineMetric({
  ...common,
  name: "test.requests",
  kind: "counter",
  unit: "{request}",
  attributes: ["route"],
});
export const idleRequests = defineMetric({
  ...common,
  name: "test.idle",
  kind: "counter",
  unit: "{request}",
  attributes: ["route"],
  idleMs: 60_000,
});
export const inFlight = defineMetric({
  ...common,
  name: "test.in_flight",
  kind: "updown",
  unit: "{request}",
});
export const duration = defineMetric({
  ...common,
  name: "test.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["route"],
  bounds: [0.1, 1, 10],
});
export const happened = defineLogRecord({
  name: "test.happened",
  severity: "warn",
  attributes: ["who", "count"],
  group: "Test",
  help: "For a test.",
});

/** A scope's spec with little in it. */
export function spec(name = "process", more: Partial<ScopeSpec> = {}): ScopeSpec {
  return {
    name,
    resource: { "service.name": "steward", "service.instance.id": name },
    constants: {},
    ...more,
  };
}

/** A log that keeps its lines. */
export function memoryLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write =
    (level: string) =>
    (message: string, fields?: object): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  const log: Log & { readonly lines: string[] } = {
    lines,
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: () => log,
  };
  return log;
}

/** A span of a request that took a second and a half. */
export function span(name: string): Omit<WireSpan, "scope"> {
  return {
    tracer: "steward",
    name,
    kind: 1,
    context: {
      traceId: "a".repeat(32),
      spanId: "b".repeat(16),
      traceFlags: 1,
      traceState: undefined,
      isRemote: false,
    },
    parent: undefined,
    start: [1_700_000_000, 0],
    end: [1_700_000_001, 500_000_000],
    duration: [1, 500_000_000],
    status: { code: 0 },
    attributes: { "http.route": "/a" },
    links: [],
    droppedAttributes: 0,
  };
}

/** An hour: nothing is exported but by a flush. */
export const NEVER_MS = 3_600_000;

/** Telemetry whose component runs; disposing stops it. */
export async function startTelemetry(
  options: TelemetryOptions,
): Promise<
  Telemetry &
    AsyncDisposable & { readonly log: ReturnType<typeof memoryLog>; readonly failures: unknown[] }
> {
  const log = memoryLog();
  const failures: unknown[] = [];
  const telemetry = createTelemetry({ clock: systemClock, log }, options);
  await telemetry.component.start(
    new AbortController().signal,
    (error) => void failures.push(error),
  );
  // Methods keep their object: a spread would lose them.
  return Object.assign(telemetry, {
    log,
    failures,
    [Symbol.asyncDispose]: () => telemetry.component.stop(5_000),
  });
}

/** The whole text of an exposition. */
export async function scrape(
  telemetry: Telemetry,
  query: Parameters<Telemetry["expose"]>[0] = { format: "text" },
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of telemetry.expose(query, new AbortController().signal).body)
    chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
