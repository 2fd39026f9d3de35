import { describe, expect, it } from "vitest";
import type { Job, JobStatus } from "../../../../src/kernel/jobs/types.ts";
import type { Env, EnvStatus, StateFactory } from "../../../../src/kernel/state/types.ts";
import * as self from "../../../../src/kernel/telemetry/report/self-metrics.ts";
import * as house from "../../../../src/kernel/telemetry/report/service-metrics.ts";
import { createJobsReport } from "../../../../src/kernel/telemetry/report/jobs-report.ts";
import {
  createRequestObserver,
  reportPort,
} from "../../../../src/kernel/telemetry/report/requests.ts";
import { NO_ROW } from "../../../../src/kernel/telemetry/series/columns.ts";
import { reportState } from "../../../../src/kernel/telemetry/report/state-report.ts";
import type { SeriesScope } from "../../../../src/kernel/telemetry/writer/scope.ts";
import type { AnyRow } from "../../../../src/kernel/telemetry/types.ts";
import { reportSeries } from "../../../../src/kernel/telemetry/report/telemetry-report.ts";
import { createTelemetryWriter } from "../../../../src/kernel/telemetry/writer/writer.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";
import { spec } from "../fixtures.ts";

function open() {
  const clock = createManualClock();
  const scope = createTelemetryWriter({ clock }).scope(spec()) as SeriesScope;
  /** Every series of a row as `values=number`, of a histogram its count. */
  const shown = (row: AnyRow): string[] => {
    const columns = scope.snapshot(() => undefined);
    const index = scope.table.index(row);
    return [...index.numbers()].map((number) => {
      expect(columns.row[number]).not.toBe(NO_ROW);
      const { values } = scope.table.describe([number]);
      const value = columns.value[number] ?? 0;
      const total =
        row.kind === "histogram"
          ? columns.slab
              .slice(value, value + row.bounds.length + 1)
              .reduce((sum, count) => sum + count, 0)
          : value;
      return `${String(values[0])}=${total}`;
    });
  };
  return { clock, scope, shown };
}

describe("the report of requests", () => {
  it("counts and times each, in labels that no client can multiply", async () => {
    const { clock, scope, shown } = open();
    const observer = createRequestObserver({ scope, clock });
    for (const method of ["GET", "BREW", "X".repeat(100)]) {
      const watch = observer.begin({
        protocol: "rest",
        route: "/a",
        method,
        requestId: "r",
        headers: {},
      });
      expect([watch.fields, watch.run(() => 7)]).toEqual([{}, 7]);
      await clock.advance(30);
      watch.end({ code: "200", failed: false });
    }
    observer
      .begin({ protocol: "grpc", route: "/p.S/M", method: "POST", requestId: "r", headers: {} })
      .end({ code: "ok", failed: false });
    observer.refused("denied");
    expect(shown(house.gatewayRequests)).toEqual([
      "/a,GET,rest,200=1",
      "/a,other,rest,200=2",
      "/p.S/M,,grpc,ok=1",
    ]);
    expect(shown(house.gatewayDuration)).toEqual([
      "/a,GET,rest=1",
      "/a,other,rest=2",
      "/p.S/M,,grpc=1",
    ]);
    expect(shown(house.gatewayRefused)).toEqual(["denied,=1"]);
  });

  it("reads the port when it is collected", () => {
    const { scope, shown } = open();
    const port = { busy: 0 };
    using _report = reportPort(scope, {
      inFlight: () => 2,
      streams: () => 5,
      connections: () => 3,
      refused: () => [
        { reason: "busy", share: "stranger", count: port.busy },
        { reason: "connections", count: 1 },
      ],
    });
    port.busy = 4;
    expect([
      shown(house.gatewayInFlight),
      shown(house.gatewayStreams),
      shown(house.gatewayConnections),
      shown(house.gatewayRefused),
    ]).toEqual([["=2"], ["=5"], ["=3"], ["busy,stranger=4", "connections,=1"]]);
  });
});

describe("the report of jobs", () => {
  const job = (id: string, status: JobStatus, more: Partial<Job> = {}): Job => ({
    id,
    type: "sync",
    status,
    progress: 0,
    phaseProgress: undefined,
    message: "",
    createdAtMs: 0,
    startedAtMs: 1_000,
    completedAtMs: 3_500,
    error: undefined,
    resultJson: undefined,
    exclusive: "sync",
    ...more,
  });

  it("follows each job from its start to its end", () => {
    const { scope, shown } = open();
    const changed = createJobsReport(scope);
    changed(job("a", "pending"));
    expect(shown(house.jobsRunning)).toEqual(["sync=0"]);
    changed(job("a", "running"));
    changed(job("a", "running"));
    changed(job("b", "running"));
    expect(shown(house.jobsRunning)).toEqual(["sync=2"]);
    changed(job("a", "completed"));
    changed(job("b", "failed"));
    changed(job("c", "cancelled", { startedAtMs: undefined }));
    expect(shown(house.jobsRunning)).toEqual(["sync=0"]);
    expect(shown(house.jobsTotal)).toEqual([
      "sync,completed=1",
      "sync,failed=1",
      "sync,cancelled=1",
    ]);
    expect(shown(house.jobsDuration)).toEqual(["sync=2"]);
  });

  it("takes a clock that was set back for no time at all", () => {
    const { scope, shown } = open();
    createJobsReport(scope)(job("a", "completed", { completedAtMs: 0 }));
    expect(shown(house.jobsDuration)).toEqual(["sync=1"]);
  });
});

describe("the report of stores", () => {
  const status: EnvStatus = {
    name: "dedup",
    path: "/x",
    bytes: 10,
    maxBytes: 100,
    rows: { documents: 3, jobs: 1 },
    queuedWrites: 2,
    lastCommitAtMs: undefined,
    healthy: true,
    reason: undefined,
  };

  function factory(write: Env["write"]): StateFactory {
    const env = {
      name: "dedup",
      keyring: undefined,
      write,
      status: () => status,
      close: () => Promise.resolve(),
      read: () => "read",
    } as unknown as Env;
    return { open: () => Promise.resolve(env) };
  }

  it("shows what is open as long as it is open", async () => {
    const { clock, scope, shown } = open();
    const env = await reportState(
      scope,
      factory(() => Promise.reject(new Error("unused"))),
      clock,
    ).open({ name: "dedup", tables: [], schema: 1, derived: false, maxBytes: 100 });
    expect([
      shown(house.stateQueue),
      shown(house.stateSize),
      shown(house.stateLimit),
      shown(house.stateRows),
    ]).toEqual([["dedup=2"], ["dedup=10"], ["dedup=100"], ["dedup,documents=3", "dedup,jobs=1"]]);
    expect(env.read(() => 1)).toBe("read");
    await env.close();
    expect([shown(house.stateSize), shown(house.stateRows)]).toEqual([[], []]);
  });

  it("times each change until it is durable, and counts none that failed", async () => {
    const { clock, scope, shown } = open();
    const outcomes = [Promise.resolve("stored"), Promise.reject(new Error("refused"))];
    const env = await reportState(
      scope,
      factory((() => outcomes.shift()) as Env["write"]),
      clock,
    ).open({ name: "dedup", tables: [], schema: 1, derived: false, maxBytes: 100 });
    expect(await env.write(() => undefined)).toBe("stored");
    await expect(env.write(() => undefined)).rejects.toThrow("refused");
    expect([shown(house.stateCommits), shown(house.stateCommitDuration)]).toEqual([
      ["dedup=1"],
      ["dedup=1"],
    ]);
  });
});

describe("the report of series", () => {
  it("adds up those of a metric that several threads write", () => {
    const { scope, shown } = open();
    const figures = (name: string, series: number, overflowing: boolean) =>
      ({ name, group: "Test", series, overflowing }) as const;
    using _report = reportSeries(scope, () => [
      figures("test.level", 7, true),
      figures("test.level", 2, false),
      figures("test.other", 1, false),
    ]);
    expect([
      shown(self.seriesActive),
      shown(self.seriesOverflowing),
      shown(self.seriesByGroup),
    ]).toEqual([["test.level=9", "test.other=1"], ["test.level=1", "test.other=0"], ["Test=10"]]);
  });
});
