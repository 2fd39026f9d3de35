import { describe, expect, expectTypeOf, it } from "vitest";
import {
  catalogue,
  defineLogRecord,
  defineMetric,
} from "../../../src/kernel/telemetry/catalogue.ts";
import { processMetricRows } from "../../../src/kernel/telemetry/report/service-metrics.ts";
import type { LogRow, Row, Scope } from "../../../src/kernel/telemetry/types.ts";
import { duration, happened, level, plainLevel, requests } from "./fixtures.ts";

const common = { name: "test.x", unit: "1", group: "Test", help: "Help." } as const;

describe("defineMetric", () => {
  it("refuses what is no row, saying which and why", () => {
    expect(() => defineMetric({ ...common, kind: "gauge", name: "Test X" })).toThrow(
      "metric Test X is a dotted name",
    );
    expect(() => defineMetric({ ...common, kind: "histogram" })).toThrow("bounds if and only if");
    expect(() => defineMetric({ ...common, kind: "histogram", bounds: [1, 1] })).toThrow(
      "bounds of test.x ascend",
    );
    expect(() => defineMetric({ ...common, kind: "gauge", attributes: ["le"] })).toThrow(
      "no attribute le",
    );
    expect(() => defineMetric({ ...common, kind: "gauge", attributes: ["a", "a"] })).toThrow(
      "each attribute once",
    );
    expect(() => defineMetric({ ...common, kind: "gauge", idleMs: 1 })).toThrow(
      "ends with its owner's sweep",
    );
    expect(() => defineMetric({ ...common, kind: "gauge", help: "two\nlines" })).toThrow(
      "one line",
    );
    expect(() =>
      defineLogRecord({ name: "x y", severity: "info", group: "Test", help: "x" }),
    ).toThrow("log record x y");
    expect(() => catalogue([level], [level])).toThrow("metric test.level is in the catalogue once");
  });

  it("made every row of the house, none of them under a prefix that is taken", () => {
    expect(processMetricRows.length).toBeGreaterThan(35);
    expect(processMetricRows.filter((row) => row.name.startsWith("svc.dedup."))).toEqual([]);
  });
});

describe("The compiler", () => {
  // Never called: what matters is whether it compiles.
  function uses(scope: Scope): void {
    scope.gauge(level, 1, { "host.name": "a", state: undefined });
    scope.gauge(plainLevel, 1, {});
    scope.add(requests, 1, { route: "/" });
    scope.log(happened, "x", { who: "a", count: 1 });
    // @ts-expect-error an attribute is missing
    scope.gauge(level, 1, { "host.name": "a" });
    // @ts-expect-error an attribute is not on the row
    scope.gauge(plainLevel, 1, { "host.name": "a" });
    // @ts-expect-error an attribute is not on the row, though all others are
    scope.add(requests, 1, { route: "/", method: "GET" });
    // @ts-expect-error a value that is no attribute value
    scope.add(requests, 1, { route: { path: "/" } });
    // @ts-expect-error a counter is no gauge
    scope.gauge(requests, 1, { route: "/" });
    // @ts-expect-error a histogram takes no additions
    scope.add(duration, 1, { route: "/" });
    const looks = {
      name: "x",
      kind: "gauge",
      unit: "1",
      attributes: [],
      group: "",
      help: "",
    } as const;
    // @ts-expect-error no row, only its looks
    scope.gauge({ ...looks, bounds: [], idleMs: undefined, verbatim: false }, 1, {});
    // @ts-expect-error no row, only a name
    scope.gauge("test.level", 1, {});
    // @ts-expect-error a field is not on the log row
    scope.log(happened, "x", { who: "a", count: 1, why: "b" });
    // @ts-expect-error a metric row is no log row
    scope.log(requests, "x", { route: "/" });
    // @ts-expect-error bounds belong to histograms
    defineMetric({ ...common, kind: "gauge", bounds: [1] });
    // @ts-expect-error a declared row must name exactly the attributes it has
    const wrong: Row<"a" | "b", "gauge"> = defineMetric({
      ...common,
      kind: "gauge",
      attributes: ["a"],
    });
    scope.gauge(wrong, 1, { a: "", b: "" });
  }

  it("knows the attributes of a row by their names", () => {
    expectTypeOf(uses).parameter(0).toEqualTypeOf<Scope>();
    expectTypeOf(defineMetric({ ...common, kind: "gauge", attributes: ["a", "b"] })).toEqualTypeOf<
      Row<"a" | "b", "gauge">
    >();
    expectTypeOf(
      defineLogRecord({ name: "x", severity: "info", attributes: ["a"], group: "Test", help: "x" }),
    ).toEqualTypeOf<LogRow<"a">>();
  });
});
