import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_ROW } from "../../../../src/kernel/telemetry/series/columns.ts";
import type { SeriesScope } from "../../../../src/kernel/telemetry/writer/scope.ts";
import type { Redaction, ScopeSpec } from "../../../../src/kernel/telemetry/types.ts";
import { createTelemetryWriter } from "../../../../src/kernel/telemetry/writer/writer.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";
import {
  duration,
  idleRequests,
  inFlight,
  level,
  plainLevel,
  requests,
  spec,
} from "../fixtures.ts";

function openScope(
  more: Partial<ScopeSpec> = {},
  ceiling = { series: 1_000_000, labelBytes: 1e9 },
) {
  const clock = createManualClock();
  const writer = createTelemetryWriter({ clock, ceiling });
  const scope = writer.scope(spec("process", more)) as SeriesScope;
  return { clock, writer, scope };
}

/** The live values of a scope, largest first. */
function values(scope: SeriesScope): number[] {
  const { row, value } = scope.snapshot(() => undefined);
  return [...value]
    .filter((_, number) => row[number] !== NO_ROW)
    .toSorted((left, right) => right - left);
}

describe("A scope", () => {
  it("keeps one series for equal attributes, whatever their order, and another for absent than for empty ones", () => {
    const { scope } = openScope();
    scope.gauge(level, 1, { "host.name": "a", state: "on" });
    scope.gauge(level, 2, { state: "on", "host.name": "a" });
    scope.gauge(level, 3, { "host.name": "a", state: "" });
    scope.gauge(level, 4, { "host.name": "a", state: undefined });
    expect(scope.series(level)).toBe(3);
    expect(values(scope)).toEqual([4, 3, 2]);
  });

  it("never mixes up two different combinations of attributes", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.tuple(
            fc.option(fc.string(), { nil: undefined }),
            fc.option(fc.string(), { nil: undefined }),
          ),
          { selector: (pair) => JSON.stringify(pair.map((each) => each ?? null)) },
        ),
        (pairs) => {
          const { scope } = openScope();
          for (const [host, state] of pairs) scope.gauge(level, 1, { "host.name": host, state });
          expect(scope.series(level)).toBe(pairs.length);
        },
      ),
    );
  });

  it("cuts long attributes and keeps their series apart, as it does those that no encoder could tell apart", () => {
    const { scope } = openScope();
    const long = "é".repeat(500_000);
    for (const name of [`${long}1`, `${long}2`, "a\ud800", "a\udc00", "a\ufffd", `${long}1`])
      scope.gauge(level, 1, { "host.name": name, state: "on" });
    expect(scope.series(level)).toBe(5);
    const { values } = scope.table.describe([0, 1, 2, 3, 4]);
    for (const [name] of values as [string][])
      expect([Buffer.byteLength(name) <= 1_024, name.isWellFormed()]).toEqual([true, true]);
    expect(scope.end(level, { "host.name": `${long}2`, state: "on" })).toBe(true);
    expect(scope.series(level)).toBe(4);
  });

  it("ignores and counts what is no measurement", () => {
    const { scope } = openScope();
    scope.gauge(plainLevel, Number.NaN, {});
    scope.add(requests, -1, { route: "/" });
    scope.add(requests, Number.POSITIVE_INFINITY, { route: "/" });
    scope.total(requests, -5, { route: "/" });
    scope.record(duration, Number.NaN, { route: "/" });
    expect(scope.cardinality()).toMatchObject({ series: 0, refused: { invalid: 5 } });
    scope.add(inFlight, -1, {});
    expect(values(scope)).toEqual([-1]);
  });

  it("takes over a foreign total, and starts anew when it falls", async () => {
    const { scope, clock } = openScope();
    scope.total(requests, 100, { route: "/" });
    const first = scope.snapshot(() => undefined).start[0];
    await clock.advance(5_000);
    scope.total(requests, 120, { route: "/" });
    expect(scope.snapshot(() => undefined).start[0]).toBe(first);
    scope.total(requests, 3, { route: "/" });
    expect(scope.snapshot(() => undefined).start[0]).toBe(clock.now());
    expect(values(scope)).toEqual([3]);
  });

  it("puts observations into buckets by inclusive upper bounds", () => {
    const { scope } = openScope();
    for (const value of [0, 0.1, 0.10001, 1, 10, 10.1, 1e9])
      scope.record(duration, value, { route: "/" });
    const { slab } = scope.snapshot(() => undefined);
    expect([...slab.subarray(0, 4)]).toEqual([2, 2, 1, 2]);
  });

  it("gives a reused histogram block zeroed", () => {
    const { scope } = openScope();
    scope.record(duration, 5, { route: "/a" });
    scope.end(duration, { route: "/a" });
    scope.record(duration, 0.05, { route: "/b" });
    expect([...scope.snapshot(() => undefined).slab]).toEqual([1, 0, 0, 0, 0.05]);
  });

  it("ends sums that were idle for their time, and starts them anew when they return", async () => {
    const { scope, clock } = openScope();
    scope.add(idleRequests, 5, { route: "/a" });
    scope.add(requests, 1, { route: "/never-idle" });
    await clock.advance(40_000);
    scope.add(idleRequests, 1, { route: "/b" });
    await clock.advance(40_000);
    expect(values(scope)).toEqual([1, 1]);
    scope.add(idleRequests, 2, { route: "/a" });
    expect(values(scope)).toEqual([2, 1, 1]);
  });

  it("asks its observers just before a snapshot, until they are disposed", () => {
    const { scope } = openScope();
    let calls = 0;
    const observer = scope.observe(() => scope.gauge(plainLevel, (calls += 1), {}));
    expect(values(scope)).toEqual([1]);
    expect(values(scope)).toEqual([2]);
    observer[Symbol.dispose]();
    expect(values(scope)).toEqual([2]);
  });

  it("ends everything when closed, ignores later writes, and frees its name", () => {
    const { scope, writer } = openScope();
    expect(() => writer.scope(spec())).toThrow("telemetry scope process is open once");
    scope.gauge(plainLevel, 1, {});
    scope.record(duration, 1, { route: "/" });
    scope.close();
    scope.gauge(plainLevel, 2, {});
    scope.add(requests, 1, { route: "/" });
    expect(writer.status()).toMatchObject({ series: 0, labelBytes: 0 });
    expect(writer.scope(spec()).series(plainLevel)).toBe(0);
  });
});

describe("A sweep", () => {
  const host = (name: string) => ({ "host.name": name, state: undefined });

  it("ends what its owner does not say again, and nothing of others", () => {
    const { scope } = openScope();
    scope.gauge(level, 9, host("plain"));
    const first = scope.sweep("devices");
    first.gauge(level, 1, host("a"));
    first.gauge(level, 2, host("b"));
    expect(first.commit()).toEqual({ kept: 0, added: 2, ended: 0 });
    const other = scope.sweep("users");
    other.gauge(level, 5, host("u"));
    other.commit();
    const second = scope.sweep("devices");
    second.gauge(level, 3, host("b"));
    second.gauge(level, 4, host("b"));
    second.gauge(level, 6, host("c"));
    expect(second.commit()).toEqual({ kept: 1, added: 1, ended: 1 });
    expect(values(scope)).toEqual([9, 6, 5, 4]);
    expect(second.commit()).toEqual({ kept: 0, added: 0, ended: 0 });
  });

  it("that is abandoned ends nothing, and the next complete one ends what is left over of both", () => {
    const { scope } = openScope();
    const round = (names: readonly string[]) => {
      const sweep = scope.sweep("devices");
      for (const name of names) sweep.gauge(level, 1, host(name));
      return sweep;
    };
    round(["a", "b"]).commit();
    round(["b", "new"]).abandon();
    expect(scope.series(level)).toBe(3);
    expect(round(["b"]).commit()).toEqual({ kept: 1, added: 0, ended: 2 });
    expect(scope.series(level)).toBe(1);
    // A round left open is abandoned by the next.
    const open = round(["x"]);
    round(["y"]).commit();
    open.gauge(level, 1, host("late"));
    expect(open.commit()).toEqual({ kept: 0, added: 0, ended: 0 });
    expect(scope.series(level)).toBe(2);
  });

  it("whose owner failed for longer than its freshness allows loses its series", async () => {
    const { scope, clock } = openScope();
    const sweep = scope.sweep("devices", { staleMs: 60_000 });
    sweep.gauge(level, 1, host("a"));
    sweep.commit();
    await clock.advance(50_000);
    scope.sweep("devices", { staleMs: 60_000 }).abandon();
    expect(scope.series(level)).toBe(1);
    await clock.advance(11_000);
    expect(values(scope)).toEqual([]);
  });

  it("whose owner fails in part for long keeps what it says, and loses what it says no more when that alone is too old", async () => {
    const { scope, clock } = openScope();
    const round = (names: readonly string[]) => {
      const sweep = scope.sweep("devices", { staleMs: 60_000 });
      for (const name of names) sweep.gauge(level, 1, host(name));
      return sweep;
    };
    round(["a", "b", "c"]).commit();
    for (let minute = 0; minute < 5; minute += 1) {
      await clock.advance(30_000);
      round(minute === 0 ? ["a", "b"] : ["a"]).abandon();
      // "c" is 30 seconds old, then 60, then gone; "b" half a minute later.
      expect(scope.series(level)).toBe([3, 3, 2, 1, 1][minute]);
    }
    expect(round(["a", "d"]).commit()).toEqual({ kept: 1, added: 1, ended: 0 });
    await clock.advance(61_000);
    expect(values(scope)).toEqual([]);
  });

  it("leaves exactly the series of the last committed round, by a model", () => {
    const step = fc.record({
      owner: fc.constantFrom("p", "q"),
      hosts: fc.array(fc.integer({ min: 0, max: 9 })),
      commit: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { scope } = openScope();
        const model = new Map<string, Set<string>>([
          ["p", new Set()],
          ["q", new Set()],
        ]);
        for (const { owner, hosts, commit } of steps) {
          const sweep = scope.sweep(owner);
          const said = new Set(hosts.map((each) => `${owner}${each}`));
          for (const name of said) sweep.gauge(level, 1, host(name));
          if (commit) sweep.commit();
          else sweep.abandon();
          model.set(owner, commit ? said : new Set([...(model.get(owner) ?? []), ...said]));
        }
        expect(scope.series(level)).toBe(
          [...model.values()].reduce((sum, set) => sum + set.size, 0),
        );
        expect(values(scope)).toHaveLength(scope.series(level));
      }),
    );
  });
});

describe("Limits", () => {
  it("let counters and histograms meet in an overflow series, so that sums stay exact", () => {
    const { scope } = openScope({ limits: { perMetric: 3 } });
    for (let index = 0; index < 100; index++) {
      scope.add(requests, 1, { route: `/${index}` });
      scope.record(duration, 0.5, { route: `/${index}` });
    }
    expect(scope.cardinality()).toMatchObject({
      series: 8,
      refused: { overflowed: 194, limit: 0 },
      metrics: [
        { name: "test.requests", series: 3, overflowing: true },
        { name: "test.duration", series: 3, overflowing: true },
      ],
    });
    expect(values(scope).slice(0, 1)).toEqual([97]);
  });

  it("drop gauges and count them, and take new ones when others have gone", () => {
    const { scope } = openScope({ limits: { perMetric: 2 } });
    const round = (names: readonly string[]): void => {
      const sweep = scope.sweep("devices");
      for (const name of names) sweep.gauge(level, 1, { "host.name": name, state: undefined });
      sweep.commit();
    };
    round(["a", "b", "c"]);
    expect(scope.cardinality()).toMatchObject({ series: 2, refused: { limit: 1 } });
    round(["a"]);
    round(["a", "c"]);
    expect(scope.cardinality()).toMatchObject({
      series: 2,
      refused: { limit: 1 },
      metrics: [{ overflowing: false }],
    });
  });

  it("of the process hold over all scopes, in series and in label bytes", () => {
    const { scope, writer } = openScope(
      { limits: { perMetric: 0 } },
      { series: 5, labelBytes: 40 },
    );
    const other = writer.scope(spec("net"));
    for (let index = 0; index < 10; index++) {
      scope.add(requests, 1, { route: `${index}` });
      other.gauge(level, 1, { "host.name": `${index}`, state: undefined });
    }
    expect(writer.status()).toMatchObject({ ceilingReached: true });
    expect(scope.series(requests) + other.series(level)).toBe(5);
    expect(values(scope).reduce((sum, value) => sum + value, 0)).toBe(10);
    const wide = openScope({}, { series: 1_000, labelBytes: 40 });
    wide.scope.gauge(level, 1, { "host.name": "x".repeat(100), state: undefined });
    expect(wide.scope.series(level)).toBe(0);
    expect(wide.writer.status().ceilingReached).toBe(true);
  });

  it("bound the memory of combinations that were turned away", () => {
    const { scope } = openScope({ limits: { perMetric: 10 } });
    for (let index = 0; index < 10_000; index++) scope.add(requests, 1, { route: `/${index}` });
    const index = scope.table.index(requests) as unknown as { readonly size: number };
    expect(index.size).toBe(10);
    expect(values(scope).reduce((sum, value) => sum + value, 0)).toBe(10_000);
  });
});

describe("Redaction", () => {
  const noHosts: Redaction = {
    metric: (row, raw) => {
      const shown = raw.map((value, index) =>
        row.attributes[index] === "host.name" ? undefined : value,
      );
      return row.kind === "gauge" && shown.every((value) => value === undefined)
        ? "suppress"
        : shown;
    },
  };

  it("is asked once per new combination; hidden gauges are suppressed, what looks alike meets in one series", () => {
    let asked = 0;
    const { scope } = openScope({
      redact: { metric: (row, raw) => ((asked += 1), noHosts.metric(row, raw)) },
    });
    for (let round = 0; round < 3; round++) {
      for (const name of ["a", "b"]) {
        scope.gauge(level, 1, { "host.name": name, state: undefined });
        scope.gauge(level, 2, { "host.name": name, state: "on" });
      }
    }
    expect(asked).toBe(4);
    expect(scope.series(level)).toBe(1);
    expect(scope.cardinality().refused.suppressed).toBe(6);
  });

  it("makes counters add up", () => {
    const hidden: Redaction = { metric: () => [undefined] };
    const { scope } = openScope({ redact: hidden });
    for (const route of ["/a", "/b", "/c"]) scope.add(requests, 2, { route });
    expect(values(scope)).toEqual([6]);
    expect(scope.end(requests, { route: "/a" })).toBe(false);
  });

  it("never lets a value through that it hid, whatever is written", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.string({ minLength: 3 }),
            fc.option(fc.constantFrom("on", "off"), { nil: undefined }),
          ),
        ),
        (writes) => {
          const { scope } = openScope({ redact: noHosts });
          for (const [host, state] of writes)
            scope.gauge(level, 1, { "host.name": `secret-${host}`, state });
          const live = scope.table.attach();
          expect(JSON.stringify(scope.table.describe(live))).not.toContain("secret-");
        },
      ),
    );
  });
});
