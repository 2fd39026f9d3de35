/** Overlapping windows of flow logs, through the runner and the intake. */
import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createCapabilityTracker } from "../../../src/monitor/capability/tracker.ts";
import { createMemoryStore } from "../../../src/monitor/checkpoints/memory-store.ts";
import type { NetworkMemory } from "../../../src/monitor/checkpoints/types.ts";
import type { CollectorReport } from "../../../src/monitor/collectors/collector-report.ts";
import { flowlogs } from "../../../src/monitor/collectors/flowlogs.ts";
import { createSharedPositions } from "../../../src/monitor/coordination/shared-positions.ts";
import { reportNetwork } from "../../../src/monitor/network/network-report.ts";
import type { TimeWindow } from "../../../src/monitor/providers/model.ts";
import { createCollectorRunner } from "../../../src/monitor/runner/collector-runner.ts";
import { createManualClock, type ManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { connection, flowLogOptions, openIntake, record } from "../flows/fixtures.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { networkOptions, openCollector } from "./harness.ts";

const MINUTE_MS = 60_000;

/** A collector that reads a log with so many new connections per second. */
function reading({
  perSecond,
  capacity,
  clock = createManualClock(),
  memory = createMemoryStore(clock)("n"),
}: {
  readonly perSecond: number;
  readonly capacity: number;
  readonly clock?: ManualClock;
  readonly memory?: NetworkMemory;
}) {
  const { intake, series } = openIntake({ log: { logMode: "off" }, clock });
  const windows: TimeWindow[] = [];
  const lines: string[] = [];
  const state = { fails: false };
  const connectionsAt = (atMs: number): Record<string, unknown> => {
    const at = new Date(atMs).toISOString();
    return record({
      start: at,
      end: at,
      logged: at,
      virtualTraffic: Array.from({ length: perSecond }, (_, index) =>
        connection({ src: `100.64.0.7:${1_024 + index}` }),
      ),
    });
  };
  const provider = createFakeProvider(
    {},
    {
      async *flowLogs(window: TimeWindow) {
        windows.push(window);
        for (let atMs = window.fromMs; atMs < window.toMs; atMs += 1_000)
          yield [connectionsAt(atMs)];
        if (state.fails) throw failing(500);
      },
    },
  );
  const collectors = {
    flowlogs: { ...flowLogOptions, logMode: "off" as const, replaySeenCapacity: capacity },
  };
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => void lines.push(line),
    now: () => 0,
  });
  let report: CollectorReport = {};
  const harness = openCollector(flowlogs, provider, {
    collectors,
    deps: {
      clock,
      flows: intake,
      log,
      memory,
      report: (values) => void (report = { ...report, ...values }),
    },
  });
  const { scope, deps } = harness;
  const prepared = flowlogs.prepare(networkOptions({ collectors }));
  if (prepared === undefined) throw new Error("it is on");
  reportNetwork(scope, {
    devices: undefined,
    dedupSets: () => [],
    replayEvictions: () => report.replayEvictions ?? 0,
  });
  const runner = createCollectorRunner(
    {
      clock,
      log,
      scope,
      tracker: createCapabilityTracker({ clock, scope }),
      memory,
      selfObservability: false,
      succeeded: () => undefined,
    },
    flowlogs,
    prepared,
    prepared.open(deps),
  );
  return {
    clock,
    windows,
    lines,
    state,
    evictions: () => {
      scope.snapshot(() => undefined);
      return harness.series("svc.dedup.evictions");
    },
    run: async () => {
      await clock.advance(MINUTE_MS);
      return await runner.runNow(new AbortController().signal);
    },
    /** Connections counted, and those between the beginning of the first window and the last end. */
    counted: () => {
      const [flows = ""] = series("vpn.network.flows");
      const seconds = ((windows.at(-1)?.toMs ?? 0) - (windows[0]?.fromMs ?? 0)) / 1_000;
      return { counted: Number(flows.split(" ").at(-1)), there: seconds * perSecond };
    },
  };
}

describe("The overlap of flow logs", () => {
  it("counts no connection twice when more are in it than can be remembered", async () => {
    const { run, windows, lines, evictions, counted } = reading({ perSecond: 80, capacity: 8_000 });
    for (let runs = 0; runs < 8; runs += 1) await run();
    const { counted: flows, there } = counted();
    expect(flows).toBe(there);
    expect(there).toBe(80 * 60 * 12);
    const [last, before] = [windows.at(-1), windows.at(-2)];
    expect((before?.toMs ?? 0) - (last?.fromMs ?? 0)).toBe(MINUTE_MS);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("collectors.flowlogs.replay_seen_capacity");
    expect(evictions()).toEqual([`svc.dedup.evictions{dedup.set="flow_replay"} ${there - 8_000}`]);
  });

  it("counts none twice after a window that failed at its end", async () => {
    const { run, state, counted } = reading({ perSecond: 80, capacity: 8_000 });
    for (let runs = 0; runs < 4; runs += 1) await run();
    state.fails = true;
    expect((await run()).error).toBeDefined();
    state.fails = false;
    for (let runs = 0; runs < 3; runs += 1) await run();
    const { counted: flows, there } = counted();
    expect(flows).toBe(there);
  });

  it("is read again as a whole while everything in it is remembered", async () => {
    const { run, windows, lines, evictions, counted } = reading({ perSecond: 2, capacity: 8_000 });
    for (let runs = 0; runs < 8; runs += 1) await run();
    const { counted: flows, there } = counted();
    expect(flows).toBe(there);
    expect((windows.at(-2)?.toMs ?? 0) - (windows.at(-1)?.fromMs ?? 0)).toBe(5 * MINUTE_MS);
    expect([lines, evictions()]).toEqual([[], []]);
  });

  it("is not read again by a replica that takes over, which knows none of its records", async () => {
    const clock = createManualClock();
    const own = { a: createMemoryStore(clock)("n"), b: createMemoryStore(clock)("n") };
    let positions: string | undefined;
    const hold = (memory: NetworkMemory) => {
      const shared = createSharedPositions(clock, positions, (text) => (positions = text));
      return {
        ...reading({ perSecond: 2, capacity: 8_000, clock, memory: shared.of("n", memory) }),
        release: () => shared.flush(),
      };
    };
    const reads = async (memory: NetworkMemory, runs: number) => {
      const holder = hold(memory);
      for (let run = 0; run < runs; run += 1) await holder.run();
      holder.release();
      return { windows: holder.windows, counted: holder.counted().counted };
    };
    const first = await reads(own.a, 2);
    const second = await reads(own.b, 3);
    // A holder that restarts and holds the lease again is no other replica.
    const third = await reads(own.b, 3);
    const fourth = await reads(own.a, 8);
    const all = [first, second, third, fourth];
    const [beganMs = 0, endedMs = 0] = [first.windows[0]?.fromMs, fourth.windows.at(-1)?.toMs];
    expect(all.reduce((sum, { counted }) => sum + counted, 0)).toBe(
      2 * ((endedMs - beganMs) / 1_000),
    );
    expect([second, third, fourth].map(({ windows }) => windows.at(0)?.fromMs)).toEqual([
      first.windows.at(-1)?.toMs,
      first.windows.at(-1)?.toMs,
      third.windows.at(-1)?.toMs,
    ]);
    expect((fourth.windows.at(-2)?.toMs ?? 0) - (fourth.windows.at(-1)?.fromMs ?? 0)).toBe(
      5 * MINUTE_MS,
    );
  });
});
