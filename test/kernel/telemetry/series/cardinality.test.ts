import { describe, expect, it } from "vitest";
import { CardinalityHistory } from "../../../../src/kernel/telemetry/series/cardinality-history.ts";
import { LabelValues } from "../../../../src/kernel/telemetry/series/label-values.ts";
import { reportSeries } from "../../../../src/kernel/telemetry/report/telemetry-report.ts";
import * as self from "../../../../src/kernel/telemetry/report/self-metrics.ts";
import type { SeriesScope } from "../../../../src/kernel/telemetry/writer/scope.ts";
import type { CardinalityInfo } from "../../../../src/kernel/telemetry/types.ts";
import { createTelemetryWriter } from "../../../../src/kernel/telemetry/writer/writer.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";
import { level, requests, spec } from "../fixtures.ts";

const open = (limits?: { perMetric: number; labelValues?: number }) =>
  createTelemetryWriter({ clock: createManualClock() }).scope(
    spec("process", limits === undefined ? {} : { limits }),
  ) as SeriesScope;
const labelsOf = (scope: SeriesScope, metric: string) =>
  scope
    .cardinality()
    .metrics.find(({ name }) => name === metric)
    ?.labels();

describe("Values of labels", () => {
  it("come and go with the series that have them", () => {
    const scope = open();
    for (const [host, state] of [
      ["a", "on"],
      ["a", "off"],
      ["b", "on"],
    ] as const)
      scope.gauge(level, 1, { "host.name": host, state });
    expect(labelsOf(scope, "test.level")).toEqual([
      { name: "host.name", distinct: 2, capped: false, examples: ["a", "b"] },
      { name: "state", distinct: 2, capped: false, examples: ["off", "on"] },
    ]);
    scope.end(level, { "host.name": "a", state: "off" });
    scope.end(level, { "host.name": "b", state: "on" });
    expect(labelsOf(scope, "test.level")).toEqual([
      { name: "host.name", distinct: 1, capped: false, examples: ["a"] },
      { name: "state", distinct: 1, capped: false, examples: ["on"] },
    ]);
  });

  it("are kept up to the limit, and say that there were more", () => {
    const scope = open({ perMetric: 0, labelValues: 3 });
    for (let index = 0; index < 10; index++) scope.add(requests, 1, { route: `/${index}` });
    expect(labelsOf(scope, "test.requests")).toEqual([
      { name: "route", distinct: 3, capped: true, examples: ["/0", "/1", "/2"] },
    ]);
    for (let index = 0; index < 10; index++) scope.end(requests, { route: `/${index}` });
    expect(labelsOf(scope, "test.requests")).toEqual([
      { name: "route", distinct: 0, capped: false, examples: [] },
    ]);
    expect(labelsOf(open({ perMetric: 0, labelValues: 0 }), "test.requests")).toBeUndefined();
  });

  it("are those that privacy shows", () => {
    const scope = createTelemetryWriter({ clock: createManualClock() }).scope(
      spec("process", { redact: { metric: (_row, [, state]) => [undefined, state] } }),
    ) as SeriesScope;
    scope.gauge(level, 1, { "host.name": "secret-host", state: "on" });
    expect(labelsOf(scope, "test.level")).toEqual([
      { name: "host.name", distinct: 0, capped: false, examples: [] },
      { name: "state", distinct: 1, capped: false, examples: ["on"] },
    ]);
  });

  it("that were never known are no loss when they end", () => {
    const values = new LabelValues("x", 1);
    values.add("a");
    values.add("b");
    values.remove("b");
    expect(values.view()).toEqual({ name: "x", distinct: 1, capped: true, examples: ["a"] });
  });
});

describe("The report of series", () => {
  it("counts each metric and each group, but not itself", () => {
    const scope = open({ perMetric: 2 });
    using _report = reportSeries(scope);
    for (let index = 0; index < 3; index++) scope.add(requests, 1, { route: `/${index}` });
    scope.gauge(level, 1, { "host.name": "a", state: "on" });
    scope.snapshot(() => undefined);
    scope.snapshot(() => undefined);
    expect([
      scope.series(self.seriesActive),
      scope.series(self.seriesByGroup),
      scope.series(self.seriesLimit),
    ]).toEqual([2, 1, 1]);
    expect(labelsOf(scope, "svc.series.by_group")).toEqual([
      { name: "metric.group", distinct: 1, capped: false, examples: ["Test"] },
    ]);
  });
});

describe("CardinalityHistory", () => {
  const info = (counts: Record<string, number>): CardinalityInfo => ({
    series: 0,
    limitPerMetric: 0,
    refused: { limit: 0, suppressed: 0, invalid: 0, overflowed: 0 },
    metrics: Object.entries(counts).map(([name, series]) => ({
      name,
      group: "g",
      series,
      overflowing: false,
      labels: () => [],
    })),
  });

  it("adds up scopes, leaves telemetry's own out, and keeps the last sixty", () => {
    const history = new CardinalityHistory();
    for (let index = 0; index < 70; index++)
      history.sample([
        info({ a: index, "svc.series.active": 99 }),
        info({ a: 1, b: index === 69 ? 5 : 0 }),
      ]);
    const { totals, metrics } = history.view();
    expect([totals.length, totals[0], totals.at(-1)]).toEqual([60, 11, 75]);
    expect(
      metrics.map(({ name, series }) => [name, series.length, series[0], series.at(-1)]),
    ).toEqual([
      ["a", 60, 11, 70],
      ["b", 60, 0, 5],
    ]);
  });
});
