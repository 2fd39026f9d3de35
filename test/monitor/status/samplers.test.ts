import { describe, expect, it } from "vitest";
import { CardinalityLevel } from "../../../src/gen/steward/monitor/v1/cardinality_pb.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { CardinalityInfo } from "../../../src/kernel/telemetry/types.ts";
import {
  createCardinalitySampler,
  type SampledDeps,
} from "../../../src/monitor/status/samplers/cardinality-sampler.ts";
import { createFleetSampler } from "../../../src/monitor/status/samplers/fleet.ts";
import type { MetricFacts } from "../../../src/monitor/status/process/process-status.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });

/** Metrics of a scope: name to series, and values of its one label. */
function scope(
  metrics: Readonly<Record<string, readonly [series: number, values?: readonly string[]]>>,
  limitPerMetric = 10,
): CardinalityInfo {
  return {
    series: 0,
    limitPerMetric,
    refused: { limit: 0, suppressed: 0, invalid: 0, overflowed: 0 },
    metrics: Object.entries(metrics).map(([name, [series, values = []]]) => ({
      name,
      group: "g",
      series,
      overflowing: false,
      labels: () => [
        {
          name: "host.name",
          distinct: values.length,
          capped: values.length >= 3,
          examples: values.toSorted(),
        },
      ],
    })),
  };
}

function sampled(given: Partial<SampledDeps> = {}) {
  const clock = createManualClock();
  const state = {
    own: scope({ "svc.series.active": [50] }),
    network: scope({ "vpn.device.online": [4, ["a", "b"]], "vpn.users.count": [2] }),
    processStatus: [] as MetricFacts[],
  };
  const sampler = createCardinalitySampler({
    clock,
    log,
    own: () => [state.own],
    networks: () => new Map([["home", state.network]]),
    processStatus: () => Promise.resolve(state.processStatus),
    intervalMs: 60_000,
    enabled: true,
    rows: () => ({
      thresholds: { warningThreshold: 4, criticalThreshold: 8 },
      expositionName: (metric) => metric.replaceAll(".", "_"),
    }),
    ...given,
  });
  return { clock, state, sampler };
}

describe("the samples of series", () => {
  it("are not there before an interval has passed, but for the count of the whole", async () => {
    const { clock, sampler } = sampled();
    sampler.start();
    await sampler.settled();
    expect(sampler.whole()).toMatchObject({
      schemaVersion: 1,
      available: false,
      total: 0,
      totalSeries: [6],
      thresholds: { warning: 4, critical: 8 },
      series: [],
    });
    expect(sampler.network("home")).toMatchObject({
      schemaVersion: 1,
      available: false,
      totalSeries: [],
    });
    await clock.advance(60_000);
    await sampler.settled();
    expect(sampler.whole()).toMatchObject({
      available: true,
      total: 6,
      totalMetrics: 2,
      totalSeries: [6, 6],
    });
  });

  it("are merged by name over networks and process, with levels, alerts, growth and labels", async () => {
    const { clock, state, sampler } = sampled();
    sampler.start();
    await sampler.settled();
    state.network = scope({
      "vpn.device.online": [6, ["a", "b", "c"]],
      "vpn.users.count": [1],
      "vpn.nothing": [0],
    });
    state.own = scope({
      "svc.series.active": [50],
      "vpn.device.online": [3, ["c", "d"]],
      "svc.config.valid": [1],
    });
    state.processStatus = [
      {
        name: "svc.pool.threads",
        series: 5,
        overflowing: true,
        labels: [{ label: "host.name", distinct: 1, capped: false, examples: ["a"] }],
      },
    ];
    await clock.advance(60_000);
    await sampler.settled();
    const whole = sampler.whole();
    expect(
      whole.series.map(({ metric, count, level, capped }) => [metric, count, level, capped]),
    ).toEqual([
      ["vpn.device.online", 9, CardinalityLevel.CRITICAL, false],
      ["svc.pool.threads", 5, CardinalityLevel.WARNING, true],
      ["svc.config.valid", 1, 0, false],
      ["vpn.users.count", 1, 0, false],
    ]);
    expect(whole).toMatchObject({
      total: 16,
      totalMetrics: 4,
      totalSeries: [6, 16],
      alerts: [
        { metric: "vpn.device.online", count: 9 },
        { metric: "svc.pool.threads", count: 5 },
      ],
    });
    expect(whole.labels).toMatchObject([
      {
        label: "host_name",
        totalDistinct: 5,
        capped: true,
        metrics: [
          {
            metric: "vpn.device.online",
            expositionName: "vpn_device_online",
            distinct: 4,
            capped: true,
            examples: ["a", "b", "c", "d"],
          },
          { metric: "svc.pool.threads", distinct: 1, capped: false, examples: ["a"] },
        ],
      },
    ]);
    expect(
      whole.growth.map(({ metric, current, deltaPct, series }) => [
        metric,
        current,
        deltaPct,
        series,
      ]),
    ).toEqual([
      ["vpn.device.online", 9, 125, [4, 9]],
      ["vpn.users.count", 1, -50, [2, 1]],
      ["svc.config.valid", 1, 0, [0, 1]],
      ["svc.pool.threads", 5, 0, [0, 5]],
    ]);
    const own = sampler.network("home");
    expect(own).toMatchObject({ available: true, total: 7, growth: [], totalSeries: [] });
    expect(sampler.whole()).toBe(whole);
    expect(sampler.network("elsewhere").available).toBe(false);
  });

  it("say that a metric is capped when it reached the limit of its scope, 10,000 where there is none", async () => {
    const { clock, state, sampler } = sampled();
    state.network = scope({ full: [10], room: [9] });
    state.own = scope({ many: [10_000], few: [9_999] }, 0);
    sampler.start();
    await clock.advance(60_000);
    await sampler.settled();
    expect(
      sampler
        .whole()
        .series.filter(({ capped }) => capped)
        .map(({ metric }) => metric),
    ).toEqual(["many", "full"]);
  });

  it("stay at sixty, have levels only where thresholds are set, and are not taken without self-observability", async () => {
    const { clock, sampler } = sampled({
      rows: () => ({
        thresholds: { warningThreshold: 0, criticalThreshold: 0 },
        expositionName: String,
      }),
    });
    sampler.start();
    for (let at = 0; at < 65; at += 1) await clock.advance(60_000);
    await sampler.settled();
    expect([
      sampler.whole().totalSeries.length,
      sampler.whole().growth[0]?.series.length,
      sampler.whole().alerts,
    ]).toEqual([60, 60, []]);
    sampler.stop();
    expect(clock.timers()).toBe(0);
    const off = sampled({ enabled: false });
    off.sampler.start();
    await off.clock.advance(600_000);
    expect(off.sampler.whole()).toMatchObject({ available: false, totalSeries: [] });
  });

  it("go on after a look that failed, and none overtakes another", async () => {
    const clock = createManualClock();
    let pending = 0;
    const { sampler } = sampled({
      clock,
      processStatus: () =>
        pending++ === 0 ? Promise.reject(new Error("gone")) : Promise.resolve([]),
    });
    sampler.start();
    await sampler.settled();
    await clock.advance(120_000);
    await sampler.settled();
    expect([pending, sampler.whole().available]).toEqual([3, true]);
  });
});

describe("the samples of collectors", () => {
  const ran = (tookMs: number, error?: string) => ({
    last: { startedMs: 0, finishedMs: 1, tookMs, error },
  });

  it("count those that have run, at once and every ten seconds", async () => {
    const clock = createManualClock();
    let collectors: { last: ReturnType<typeof ran>["last"] | undefined }[] = [{ last: undefined }];
    const fleet = createFleetSampler(clock, () => collectors);
    expect(fleet.view()).toMatchObject({
      active: 0,
      failing: 0,
      meanDurationMs: 0,
      failingSeries: [],
    });
    fleet.start();
    collectors = [ran(10), ran(30, "why"), { last: undefined }];
    await clock.advance(9_999);
    expect(fleet.view()).toMatchObject({
      active: 2,
      failing: 1,
      meanDurationMs: 20,
      failingSeries: [0],
      meanDurationMsSeries: [0],
    });
    await clock.advance(1);
    expect(fleet.view()).toMatchObject({ failingSeries: [0, 1], meanDurationMsSeries: [0, 20] });
    for (let at = 0; at < 70; at += 1) await clock.advance(10_000);
    expect(fleet.view().failingSeries).toHaveLength(60);
    fleet.stop();
    expect(clock.timers()).toBe(0);
  });
});
