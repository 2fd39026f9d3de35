/** Windows that fail in the middle of their body, through the runner, a collector and its intake. */
import { describe, expect, it } from "vitest";
import { failed } from "../../../src/kernel/client/failure.ts";
import { createAuditIntake } from "../../../src/monitor/audit/intake.ts";
import { createCapabilityTracker } from "../../../src/monitor/capability/tracker.ts";
import { createMemoryStore } from "../../../src/monitor/checkpoints/memory-store.ts";
import { auditlogs } from "../../../src/monitor/collectors/auditlogs.ts";
import type { Collector } from "../../../src/monitor/collectors/collector.ts";
import { flowlogs } from "../../../src/monitor/collectors/flowlogs.ts";
import type { LogOptions } from "../../../src/monitor/options.ts";
import type { TimeWindow } from "../../../src/monitor/providers/model.ts";
import { createCollectorRunner } from "../../../src/monitor/runner/collector-runner.ts";
import { memoryLog } from "../../kernel/telemetry/fixtures.ts";
import {
  connection,
  flowLogOptions,
  keepingScope,
  openIntake,
  record,
  type KeepingScope,
} from "../flows/fixtures.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { networkOptions, openCollector, type HarnessOptions } from "./harness.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** The first window has five minutes: these, less the lag of two, and the minute of the first run. */
const BEHIND_MS = 6 * MINUTE_MS;
const auditLogOptions: LogOptions = {
  intervalMs: MINUTE_MS,
  source: "poll",
  lagMs: 2 * MINUTE_MS,
  initialLookbackMs: 5 * MINUTE_MS,
  maxWindowMs: 0,
  objectStore: undefined,
};

/** A simulated log of an API: its density of records, and after how many a read fails. */
interface Upstream {
  readonly perSecond: number;
  /** The read fails after this many records; undefined: not. */
  failsAfter: number | undefined;
  /** Fails by the size of the body, so that windows become smaller; else by an error of the server. */
  readonly tooLarge: boolean;
  /** Records that came, once each, and all that came. */
  readonly given: Set<string>;
  reads: number;
  readonly windows: TimeWindow[];
}

function upstream(perSecond: number, tooLarge: boolean, failsAfter: number): Upstream {
  return { perSecond, tooLarge, failsAfter, given: new Set(), reads: 0, windows: [] };
}

/** One batch per second of the window, its last second included. */
async function* read<T>(
  from: Upstream,
  window: TimeWindow,
  recordAt: (at: string, index: number) => T,
): AsyncGenerator<T[]> {
  from.windows.push(window);
  let records = 0;
  const firstMs = Math.floor(window.fromMs / SECOND_MS) * SECOND_MS;
  for (let atMs = firstMs; atMs <= window.toMs; atMs += SECOND_MS) {
    const at = new Date(atMs).toISOString();
    yield Array.from({ length: from.perSecond }, (_, index) => {
      from.given.add(`${at} ${index}`);
      return recordAt(at, index);
    });
    from.reads += from.perSecond;
    records += from.perSecond;
    if (from.failsAfter !== undefined && records >= from.failsAfter)
      throw from.tooLarge ? failed({ class: "too_large", status: 0 }) : failing(500);
  }
}

function running(
  collector: Collector,
  { clock }: Pick<KeepingScope, "clock">,
  {
    collectors = {},
    deps = {},
    provider,
  }: HarnessOptions & { provider: ReturnType<typeof createFakeProvider> },
) {
  const { scope, deps: all } = openCollector(collector, provider, {
    collectors,
    deps: { clock, memory: createMemoryStore(clock)("n"), ...deps },
  });
  const prepared = collector.prepare(networkOptions({ collectors }));
  if (prepared === undefined) throw new Error("it is on");
  const runner = createCollectorRunner(
    {
      clock,
      log: memoryLog(),
      scope,
      tracker: createCapabilityTracker({ clock, scope }),
      memory: all.memory,
      selfObservability: false,
      succeeded: () => undefined,
    },
    collector,
    prepared,
    prepared.open(all),
  );
  // Where the window begins does not depend on when it is read.
  void all.memory.marks.set(collector.name, clock.now() - BEHIND_MS);
  return async () => {
    await clock.advance(MINUTE_MS);
    return (await runner.runNow(new AbortController().signal)).error === undefined;
  };
}

/** The value of a series, or the sum of several. */
function sum(series: readonly string[]): number {
  return series.reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
}

function auditOf(from: Upstream) {
  const kept = keepingScope();
  let stored = 0;
  const audit = createAuditIntake({
    options: { name: "corp.test", selfObservability: false },
    scope: kept.scope,
    clock: kept.clock,
    log: memoryLog(),
    annotations: { publish: () => undefined },
    events: { record: () => void (stored += 1) },
  });
  const provider = createFakeProvider(
    {},
    {
      auditLogs: (window: TimeWindow) =>
        read(from, window, (at, index) => ({
          eventTime: at,
          eventGroupID: `${at} ${index}`,
          origin: "CONFIG_API",
          action: "UPDATE",
          actor: { id: "u-5", type: "USER" },
          target: { id: "n-1", type: "NODE", property: "KEY_EXPIRY" },
        })),
    },
  );
  return {
    run: running(auditlogs, kept, {
      collectors: { auditlogs: auditLogOptions },
      deps: { audit },
      provider,
    }),
    counted: () => ({
      counted: sum(kept.series("vpn.config.audit.events")),
      logged: kept.logged.length,
      stored,
    }),
  };
}

function flowsOf(from: Upstream, replayOverlapMs: number) {
  const collectors = {
    flowlogs: {
      ...flowLogOptions,
      logMode: "off" as const,
      replayOverlapMs,
      replaySeenCapacity: 1_000,
    },
  };
  const kept = keepingScope();
  const { intake, series } = openIntake({ log: collectors.flowlogs, clock: kept.clock });
  const provider = createFakeProvider(
    {},
    {
      flowLogs: (window: TimeWindow) =>
        read(from, window, (at, index) =>
          record({
            start: at,
            end: at,
            logged: at,
            virtualTraffic: [connection({ src: `100.64.0.7:${1_024 + index}` })],
          }),
        ),
    },
  );
  return {
    run: running(flowlogs, kept, { collectors, deps: { flows: intake }, provider }),
    counted: () => ({ counted: sum(series("vpn.network.flows")) }),
  };
}

describe.each([
  {
    log: "the audit log",
    perSecond: 50,
    failsAfter: 10_000,
    open: auditOf,
    count: (all: number) => ({ counted: all, logged: all, stored: all }),
  },
  ...[0, MINUTE_MS].map((overlapMs) => ({
    log: `flow logs with an overlap of ${overlapMs / SECOND_MS} s`,
    perSecond: 90,
    failsAfter: 25_000,
    open: (from: Upstream) => flowsOf(from, overlapMs),
    count: (all: number) => ({ counted: all }),
  })),
])("A window of $log that fails in its middle", ({ perSecond, failsAfter, open, count }) => {
  it("counts once what is read again", async () => {
    const from = upstream(perSecond, false, failsAfter);
    const { run, counted } = open(from);
    expect([await run(), await run()]).toEqual([false, false]);
    from.failsAfter = undefined;
    expect([await run(), await run()]).toEqual([true, true]);
    expect(from.reads).toBeGreaterThan(from.given.size + failsAfter);
    expect(counted()).toEqual(count(from.given.size));
  });

  it("counts once what is read again in parts", async () => {
    const from = upstream(perSecond, true, failsAfter);
    const { run, counted } = open(from);
    expect(await run()).toBe(false);
    for (let runs = 0; runs < 5; runs += 1) expect(await run()).toBe(true);
    const [whole, part] = from.windows;
    expect(part?.toMs).toBeLessThan(whole?.toMs ?? 0);
    expect(from.windows.at(-1)?.toMs).toBeGreaterThan(whole?.toMs ?? 0);
    expect(from.reads).toBeGreaterThan(from.given.size + failsAfter / 2);
    expect(counted()).toEqual(count(from.given.size));
  });
});
