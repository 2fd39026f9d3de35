/** Exemplars from the measurement to what a scraper and a receiver of OTLP get. */
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../../../src/kernel/base/clock.ts";
import { defineMetric } from "../../../../../src/kernel/telemetry/catalogue.ts";
import { ExpositionCheck } from "../../../../../src/kernel/telemetry/exposition/check.ts";
import { createTelemetry, type Telemetry } from "../../../../../src/kernel/telemetry/telemetry.ts";
import type { Scope } from "../../../../../src/kernel/telemetry/types.ts";
import { createTelemetryWriter } from "../../../../../src/kernel/telemetry/writer/writer.ts";
import { startReceiver } from "../../../../support/otlp/receiver.ts";
import { parseExposition, type Sample } from "../../exposition-parser.ts";
import { duration, memoryLog, requests, scrape, spec, startTelemetry } from "../../fixtures.ts";

const traced = defineMetric({
  name: "test.traced",
  kind: "histogram",
  unit: "s",
  attributes: ["route"],
  bounds: [0.1, 1, 10],
  exemplars: true,
  group: "Test",
  help: "For a test.",
});
const PATIENTLY = { timeout: 60_000, interval: 50 };
const [TRACE, SPAN] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
const span = (digit: string) => ({ trace_id: TRACE, span_id: digit + SPAN.slice(1) });

/** A scope of a thread that traces; `at` is the span that runs. */
function openTraced(telemetry: Telemetry): {
  readonly scope: Scope;
  at: Readonly<Record<string, string>>;
} {
  const state = { at: {} };
  const writer = createTelemetryWriter({ clock: systemClock, related: () => state.at });
  const port = telemetry.port();
  if (!port) throw new Error("the telemetry thread does not run");
  writer.attach(port, { logs: false });
  return Object.assign(state, { scope: writer.scope(spec("traced")) });
}

/**
 * One observation in a bucket without a span, two in the next, one above all bounds; and what must
 * have none.
 */
function measure(opened: ReturnType<typeof openTraced>): void {
  const { scope } = opened;
  scope.record(traced, 0.0625, { route: "/a" });
  for (const [digit, value] of [
    ["1", 0.5],
    ["2", 0.75],
    ["3", 20],
  ] as const) {
    opened.at = span(digit);
    scope.record(traced, value, { route: "/a" });
  }
  scope.record(duration, 0.5, { route: "/a" });
  scope.add(requests, 1, { route: "/a" });
  opened.at = {};
  scope.record(traced, 0.625, { route: "/a" });
}

/** Waits until the other thread knows the scope: a flush waits for the host's own series alone. */
async function arrived(telemetry: Telemetry): Promise<void> {
  await vi.waitFor(
    async () => expect(bucketsOf(await scrape(telemetry)).length).toBeGreaterThan(0),
    PATIENTLY,
  );
}

const bucketsOf = (text: string): readonly Sample[] =>
  parseExposition(text).samples.filter(({ name }) => name === "test_traced_seconds_bucket");

describe("Exemplars", () => {
  it("stand behind the buckets in OpenMetrics, the latest in a span of each, and nowhere in plain text", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    const before = Date.now();
    const opened = openTraced(telemetry);
    measure(opened);
    await arrived(telemetry);
    const open = await scrape(telemetry, { format: "openmetrics" });
    const [low, middle, high, above] = bucketsOf(open);
    expect([low?.value, middle?.value, high?.value, above?.value]).toEqual([1, 4, 4, 5]);
    expect([low?.exemplar, high?.exemplar]).toEqual([undefined, undefined]);
    expect(middle?.exemplar).toMatchObject({ labels: span("2"), value: 0.75 });
    expect(above?.exemplar).toMatchObject({ labels: span("3"), value: 20 });
    expect(middle?.exemplar?.seconds).toBeGreaterThanOrEqual(before / 1_000);
    expect(middle?.exemplar?.seconds).toBeLessThanOrEqual(Date.now() / 1_000);
    expect(open.split("\n").filter((line) => line.includes(" # {"))).toHaveLength(2);
    const check = new ExpositionCheck("openmetrics");
    check.add(Buffer.from(open));
    expect(check.end().errors).toEqual([]);
    const plain = await scrape(telemetry);
    expect(plain).not.toContain(" # ");
    expect(
      open
        .replaceAll(/ # \{.*$/gm, "")
        .split("\n")
        .filter((line) => line.startsWith("test_traced"))
        .map((line) => line.replace('.0"}', '"}')),
    ).toEqual(plain.split("\n").filter((line) => line.startsWith("test_traced")));
  });

  it.each(["http", "grpc"] as const)(
    "are part of the data points of OTLP over %s, of the right series, with all that was there before",
    async (protocol) => {
      const receiver = await startReceiver({ protocol });
      await using telemetry = await startTelemetry({
        pull: false,
        metrics: { protocol, endpoint: receiver.endpoint, intervalMs: 3_600_000, batchSize: 3 },
      });
      const opened = openTraced(telemetry);
      for (const route of ["/0", "/1"]) opened.scope.record(traced, 0.5, { route });
      measure(opened);
      opened.at = span("4");
      opened.scope.record(traced, 3, { route: "/z".repeat(100) });
      const pointsOf = (name: string) => receiver.points().filter(({ metric }) => metric === name);
      await vi.waitFor(async () => {
        receiver.clear();
        await telemetry.flush(30_000);
        expect(pointsOf("test.traced")).toHaveLength(4);
      }, PATIENTLY);
      const points = pointsOf("test.traced");
      const near = expect.closeTo(Date.now(), -5) as number;
      const at = (digit: string, value: number) => ({
        value,
        timeMs: near,
        traceId: TRACE,
        spanId: span(digit).span_id,
      });
      expect(
        points.map(({ attributes, histogram, exemplars }) => ({
          route: attributes["route"],
          counts: histogram?.counts,
          sum: histogram?.sum,
          exemplars,
        })),
      ).toEqual([
        { route: "/0", counts: [0, 1, 0, 0], sum: 0.5, exemplars: undefined },
        { route: "/1", counts: [0, 1, 0, 0], sum: 0.5, exemplars: undefined },
        {
          route: "/a",
          counts: [1, 3, 0, 1],
          sum: 21.9375,
          exemplars: [at("2", 0.75), at("3", 20)],
        },
        { route: "/z".repeat(100), counts: [0, 0, 1, 0], sum: 3, exemplars: [at("4", 3)] },
      ]);
      expect(pointsOf("test.duration")[0]?.exemplars).toBeUndefined();
      expect(pointsOf("test.requests")).toMatchObject([
        { value: 1, attributes: { route: "/a" }, resource: { "service.instance.id": "traced" } },
      ]);
      await receiver.close();
    },
  );

  it("are part of OTLP's JSON on standard output", async () => {
    const texts: string[] = [];
    const output = (text: string, written: () => void): void => {
      texts.push(text);
      written();
    };
    const telemetry = createTelemetry(
      { clock: systemClock, log: memoryLog(), output },
      { pull: false, metrics: { protocol: "stdout", endpoint: "", intervalMs: 3_600_000 } },
    );
    await telemetry.component.start(new AbortController().signal, () => undefined);
    telemetry.openOutput();
    measure(openTraced(telemetry));
    await vi.waitFor(async () => {
      texts.length = 0;
      await telemetry.flush(30_000);
      expect(texts.join("")).toContain("test.traced");
    }, PATIENTLY);
    const exemplars = texts.flatMap((text) =>
      [...text.matchAll(/"exemplars":(\[[^\]]*\])/g)].map(
        ([, json = ""]) => JSON.parse(json) as unknown,
      ),
    );
    const at = (digit: string, asDouble: number) => ({
      timeUnixNano: expect.stringMatching(/^\d{13}000000$/) as string,
      asDouble,
      spanId: span(digit).span_id,
      traceId: TRACE,
    });
    expect(exemplars).toEqual([[at("2", 0.75), at("3", 20)]]);
    await telemetry.component.stop(5_000);
  });

  it("are asked of nobody while nothing is traced, and the request of OTLP is the serializer's own", async () => {
    const receiver = await startReceiver({ protocol: "http" });
    await using telemetry = await startTelemetry({
      pull: true,
      metrics: { protocol: "http", endpoint: receiver.endpoint, intervalMs: 3_600_000 },
    });
    const scope = telemetry.scope(spec());
    scope.record(traced, 0.5, { route: "/a" });
    await telemetry.flush(30_000);
    expect(await scrape(telemetry, { format: "openmetrics" })).not.toContain(" # {");
    expect(
      receiver
        .points()
        .filter(({ metric }) => metric === "test.traced")
        .map(({ exemplars }) => exemplars),
    ).toEqual([undefined]);
    await receiver.close();
  });
});
