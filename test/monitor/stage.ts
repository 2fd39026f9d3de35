/**
 * A network of the monitor as the process has it, on a clock that moves by hand: engine, provider
 * and every collector over real HTTP to a simulator. What a run sets off has come to rest before
 * time goes on, so that weeks pass in seconds and always alike.
 */
import { performance } from "node:perf_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Clock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { familyName, labelName } from "../../src/kernel/telemetry/exposition/naming.ts";
import type { SeriesScope } from "../../src/kernel/telemetry/writer/scope.ts";
import type { AnyRow, AttributeValue } from "../../src/kernel/telemetry/types.ts";
import { defaultLogLimits } from "../../src/kernel/telemetry/writer/log-record.ts";
import { createTelemetryWriter } from "../../src/kernel/telemetry/writer/writer.ts";
import { noAnnotations } from "../../src/monitor/annotations/annotator.ts";
import { createMemoryStore } from "../../src/monitor/checkpoints/memory-store.ts";
import type { NetworkMemory } from "../../src/monitor/checkpoints/types.ts";
import { allCollectors } from "../../src/monitor/collectors/all.ts";
import type { Collect, Collector, CollectWindow } from "../../src/monitor/collectors/collector.ts";
import { createNetwork } from "../../src/monitor/network/network.ts";
import { openProvider } from "../../src/monitor/network/open-provider.ts";
import type { NetworkOptions, PrivacyOptions } from "../../src/monitor/options.ts";
import type { CollectorStatus } from "../../src/monitor/runner/collector-runner.ts";
import type { NetworkStatus } from "../../src/monitor/status.ts";

/** More than a test writes. */
const KEPT_RECORDS = 100_000;

/** A clock that moves by hand; the wall clock can step. */
export interface StageClock extends Clock {
  /** Sets the wall clock ahead or back, as a person or NTP would. */
  step(ms: number): void;
  /** Moves on, timer after timer. */
  advance(ms: number): Promise<void>;
  /** Told before time moves on. */
  settle: () => Promise<void>;
}

/** A network that runs. */
export interface Stage extends AsyncDisposable {
  readonly clock: StageClock;
  readonly scope: () => SeriesScope;
  readonly status: () => NetworkStatus;
  readonly collector: (name: string) => CollectorStatus;
  /** Live series of the metrics that `of` admits, as the text of an exposition, sorted. */
  readonly exposition: (of?: (row: AnyRow) => boolean) => string[];
  /**
   * Value of the only series of a metric whose line has the text in it; undefined when there is
   * none. Throws for several.
   */
  readonly value: (metric: string, having?: string) => number | undefined;
  /** Names and bodies of records since the last call. */
  readonly records: () => string[];
  /** Lines of the log, all of them. */
  readonly lines: string[];
  readonly memory: NetworkMemory;
}

/** Of 2026-11-16, a Monday. */
export const STAGE_BEGINS_MS: number = Date.UTC(2026, 10, 16, 9);
/**
 * How it is found out that runs wait for the clock: looks, their distance, and the share of time in
 * which an idle loop works. What is compressed is worked on in other threads, so simulators of a
 * stage send plain.
 */
const STILL_LOOKS = 5;
const LOOK_MS = 5;
const IDLE = 0.3;
const EAGER_TURNS = 200;

/** A clock at the beginning. */
export function createStageClock(): StageClock {
  let nowMs = 0;
  let wallMs = STAGE_BEGINS_MS;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const due = (untilMs: number) =>
    [...timers]
      .filter((timer) => timer.atMs <= untilMs)
      .toSorted((left, right) => left.atMs - right.atMs)[0];
  const moveTo = (atMs: number): void => {
    wallMs += Math.max(0, atMs - nowMs);
    nowMs = Math.max(nowMs, atMs);
  };
  const clock: StageClock = {
    now: () => wallMs,
    monotonic: () => nowMs,
    step: (ms) => void (wallMs += ms),
    settle: () => setImmediate(),
    timer(atMs, run) {
      const timer = { atMs, run };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      await clock.settle();
      for (let timer = due(untilMs); timer !== undefined; timer = due(untilMs)) {
        timers.delete(timer);
        moveTo(timer.atMs);
        timer.run();
        await clock.settle();
      }
      moveTo(untilMs);
    },
  };
  return clock;
}

/** Everything is shown. */
const unhidden: PrivacyOptions = {
  emails: true,
  user_display_names: true,
  user_ids: true,
  hostnames: true,
  node_ids: true,
  vpn_ips: true,
  internal_ips: true,
  external_ips: true,
  service_addrs: true,
  endpoint_paths: true,
  network_topology: true,
  network_name: true,
  free_text_details: true,
  command_text: true,
};

/** Counts runs, so that the clock knows whether any goes on. */
function watched(collectors: readonly Collector[], running: { runs: number }): Collector[] {
  // One that reads no window leaves the second argument alone.
  const counting =
    (collect: Collect | CollectWindow): CollectWindow =>
    async (tick, window) => {
      running.runs += 1;
      try {
        return await collect(tick, window);
      } finally {
        running.runs -= 1;
      }
    };
  return collectors.map((collector) => ({
    ...collector,
    prepare(options) {
      const prepared = collector.prepare(options);
      return prepared && { ...prepared, open: (deps) => counting(prepared.open(deps)) };
    },
  }));
}

/**
 * Starts the network and lets its first runs come. `progress` grows while the control plane is
 * asked.
 */
export async function startStage(
  clock: StageClock,
  options: NetworkOptions,
  {
    progress,
    latestClient = "1.99.1",
    memory = createMemoryStore(clock)(options.name),
  }: {
    readonly progress: () => number;
    readonly latestClient?: string;
    readonly memory?: NetworkMemory;
  },
): Promise<Stage> {
  const running = { runs: 0 };
  const lines: string[] = [];
  const records: string[] = [];
  const log = createLog({
    level: "debug",
    format: "text",
    write: (line) => void lines.push(line),
    now: () => clock.now(),
  });
  const writer = createTelemetryWriter({
    clock,
    logs: { capacity: KEPT_RECORDS, limits: defaultLogLimits },
  });
  let scope: SeriesScope | undefined;
  const network = createNetwork(
    {
      clock,
      log,
      facts: {
        privacy: unhidden,
        resource: {},
        several: false,
        version: "1.0.0",
        selfObservability: { enabled: true, instanceId: "" },
        metricIntervalMs: 60_000,
      },
      openScope: (spec) =>
        (scope = writer.scope({
          ...spec,
          redact: {
            metric: (_row, values) => values,
            log: (row, record) => (
              records.push(`${record.severity ?? row.severity} ${row.name} ${record.body}`),
              record
            ),
          },
        }) as SeriesScope),
      openProvider: openProvider({ clock, ids: systemIds }, { version: "1.0.0" }),
      collectors: watched(allCollectors, running),
      memory: () => memory,
      annotations: noAnnotations,
      events: { record: () => undefined },
      latestClientVersion: () => latestClient,
      registered: () => undefined,
      succeeded: () => undefined,
      needs: [],
    },
    options,
  );
  clock.settle = () => atRest(running, progress);
  const { component } = network;
  await component.start(new AbortController().signal, () => undefined);
  await atRest(
    {
      get runs() {
        return scope === undefined ? 1 : 0;
      },
    },
    progress,
  );
  const opened = (): SeriesScope => scope ?? fail("the network was not opened");
  const known = (): NetworkStatus => network.status() ?? fail("the network was not started");
  const exposition: Stage["exposition"] = (of = () => true) => expositionOf(opened(), of);
  return {
    clock,
    scope: opened,
    status: known,
    exposition,
    lines,
    memory,
    records: () => records.splice(0),
    collector: (name) =>
      known().collectors.find((each) => each.name === name) ?? fail(`no collector ${name} runs`),
    value(metric, having = "") {
      const found = exposition(({ name }) => name === metric).filter((line) =>
        line.includes(having),
      );
      return found.length > 1
        ? fail(`${metric} with ${having} has ${found.length} series`)
        : found.map((line) => Number(line.slice(line.lastIndexOf(" "))))[0];
    },
    async [Symbol.asyncDispose]() {
      const stopping = component.stop(1_000);
      await clock.advance(2_000);
      await stopping;
      writer.scope({ name: "end", resource: {}, constants: {} }).close();
    },
  };
}

function fail(message: string): never {
  throw new Error(message);
}

/**
 * Until no run goes on, or those that do wait for the clock: then nothing is asked and the loop has
 * had nothing to do for a while.
 */
async function atRest(running: { readonly runs: number }, progress: () => number): Promise<void> {
  // Several turns: a run ends before what follows it does.
  for (let calm = 0; calm < 3; calm++) await setImmediate();
  let seen = progress();
  let busy = performance.eventLoopUtilization();
  for (let turn = 0, still = 0; running.runs > 0 && still < STILL_LOOKS; turn++) {
    // Most runs are over within a millisecond or two of turns.
    if (turn < EAGER_TURNS) {
      await setImmediate();
      continue;
    }
    await setTimeout(LOOK_MS);
    const worked = performance.eventLoopUtilization(busy).utilization;
    busy = performance.eventLoopUtilization();
    still = progress() === seen && worked < IDLE ? still + 1 : 0;
    seen = progress();
  }
  for (let calm = 0; calm < 3; calm++) await setImmediate();
}

function expositionOf(scope: SeriesScope, of: (row: AnyRow) => boolean): string[] {
  scope.snapshot(() => undefined);
  return [...scope.table.indexes()]
    .filter(({ row }) => of(row))
    .flatMap((index) => [...index.numbers()].flatMap((number) => linesOf(scope, index.row, number)))
    .toSorted();
}

function linesOf(scope: SeriesScope, row: AnyRow, number: number): string[] {
  const values = scope.table.describe([number]).values[0];
  const given: readonly (AttributeValue | null | undefined)[] = Array.isArray(values)
    ? (values as readonly AttributeValue[])
    : [];
  const labels = row.attributes.flatMap((name, at) =>
    given[at] == null ? [] : [`${labelName(name)}=${JSON.stringify(String(given[at]))}`],
  );
  if (!Array.isArray(values)) labels.push('otel_metric_overflow="true"');
  const family = familyName(row);
  const set = labels.length === 0 ? "" : `{${labels.join(",")}}`;
  const value = scope.table.columns.value[number] ?? 0;
  if (row.kind !== "histogram") return [`${family}${set} ${value}`];
  const cells = scope.table.columns.slab.copy().subarray(value, value + row.bounds.length + 2);
  const count = cells.subarray(0, -1).reduce((sum, each) => sum + each, 0);
  return [`${family}_count${set} ${count}`, `${family}_sum${set} ${cells.at(-1)}`];
}
