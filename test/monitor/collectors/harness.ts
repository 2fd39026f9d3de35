/**
 * Runs one collector as the engine would, over a real telemetry scope, and gives what it said as
 * text: series as `vpn.users.count{vpn.user.role="admin",vpn.user.type="member"} 2`, histograms as
 * `vpn.users.age n=2 sum=120`, both sorted, and records as `warn vpn.key.expiring
 * {"vpn.key.id":"k1"} the body`, in order.
 */
import { createLog } from "../../../src/kernel/base/log.ts";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import type {
  AnyLogRow,
  AnyRow,
  LogFields,
  Redaction,
} from "../../../src/kernel/telemetry/types.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import type { AnnotationEvent } from "../../../src/monitor/annotations/types.ts";
import { stateOfError } from "../../../src/monitor/capability/operation.ts";
import type { ApiState, Operation } from "../../../src/monitor/capability/operation.ts";
import { createMemoryStore } from "../../../src/monitor/checkpoints/memory-store.ts";
import type { NetworkMemory, CappedDigests } from "../../../src/monitor/checkpoints/types.ts";
import type {
  Collect,
  Collector,
  CollectorDeps,
  CollectWindow,
  Tick,
} from "../../../src/monitor/collectors/collector.ts";
import { allCollectors } from "../../../src/monitor/collectors/all.ts";
import {
  devicesSection,
  type DeviceOptions,
} from "../../../src/monitor/collectors/devices/section.ts";
import { givenNetwork } from "../../../src/monitor/config/network-options.ts";
import type { DeviceCache } from "../../../src/monitor/enrich/types.ts";
import type {
  CardinalityOptions,
  NetworkOptions,
  SectionOptions,
} from "../../../src/monitor/options.ts";
import type { Device, VirtualService } from "../../../src/monitor/providers/model.ts";
import type { TimeWindow } from "../../../src/monitor/providers/model.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import type { ManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { sound } from "../config/load.ts";
import type { FakeProvider } from "./fake-provider.ts";

/** What differs from the defaults. */
export interface HarnessOptions {
  readonly collectors?: SectionOptions;
  readonly cardinality?: Partial<CardinalityOptions>;
  readonly outdatedMinorThreshold?: number;
  /** Everything is exported without it. */
  readonly redact?: Redaction | undefined;
  /** Takes the place of single dependencies. */
  readonly deps?: Partial<CollectorDeps>;
}

/** An open collector. */
export interface CollectorHarness {
  readonly clock: ManualClock;
  readonly scope: SeriesScope;
  readonly deps: CollectorDeps;
  /** States of operations, by their names. */
  readonly states: Map<string, ApiState>;
  /** What was said of calls made for each entity, by name of the operation. */
  readonly covered: Map<string, { readonly tried: number; readonly failures: readonly ApiState[] }>;
  readonly annotations: AnnotationEvent[];
  /** What the device cache was told last. */
  readonly known: {
    devices: readonly Device[] | undefined;
    services: readonly Pick<VirtualService, "name" | "addresses">[] | undefined;
    latestVersion: string | undefined;
  };
  /**
   * One run; its gauges are committed, or kept when it rejects. Throws when it emitted what the
   * collector does not declare.
   */
  readonly run: (options?: {
    readonly signal?: AbortSignal;
    readonly window?: TimeWindow;
  }) => Promise<void>;
  /** Live series whose metric's name begins so. */
  readonly series: (prefix?: string) => string[];
  /** Records since the last call. */
  readonly records: () => string[];
}

const HARNESS_INTERVAL_MS = 60_000;
/** As an empty configuration has it. */
const byDefault: NetworkOptions = givenNetwork(sound(), "example.test", {
  url: "http://127.0.0.1:9",
  auth: { method: "apikey", key: { sentSecret: "unused", origin: "test" } },
});

/** The section `collectors.devices` unless configured. */
export const deviceDefaults: DeviceOptions = {
  ...(devicesSection.of(byDefault) as DeviceOptions),
  intervalMs: HARNESS_INTERVAL_MS,
};

/** The sections that are on by default, but those of logs, each with this interval. */
export function stateSections(intervalMs: number): SectionOptions {
  const logs = allCollectors.filter(({ windowed }) => windowed).map(({ section }) => section.name);
  return Object.fromEntries(
    Object.entries(byDefault.collectors)
      .filter(([name, options]) => options !== undefined && !logs.includes(name))
      .map(([name, options]) => [name, { ...options, intervalMs }]),
  );
}

/**
 * The options of a network with the defaults of the configuration and every collector of the
 * present state on.
 */
export function networkOptions({
  collectors = {},
  cardinality = {},
  outdatedMinorThreshold = 3,
}: HarnessOptions = {}): NetworkOptions {
  return {
    name: "example.test",
    outdatedMinorThreshold,
    selfObservability: true,
    provider: {
      kind: "headscale",
      url: "http://127.0.0.1:9",
      apiKey: { sentSecret: "unused", origin: "test" },
      maxResponseBytes: 1 << 20,
      http: { timeoutMs: 1_000, maxAttempts: 1, baseDelayMs: 1, maxDelayMs: 1, rateLimit: 0 },
    },
    collectors: {
      ...stateSections(HARNESS_INTERVAL_MS),
      services: { intervalMs: HARNESS_INTERVAL_MS, collectHosts: true },
      ...collectors,
    },
    cardinality: {
      metricLimit: 10_000,
      warningThreshold: 2_000,
      criticalThreshold: 8_000,
      labelValueSampleCap: 100,
      derpRegionRollup: true,
      subnetRouteRollup: true,
      perEntity: { device: true, user: true, key: true, webhook: true, service: true },
      flow: {
        metricsMode: "rollup",
        rollupTopN: 500,
        sourcePort: false,
        destinationPort: false,
        nodeDims: true,
        identityDims: false,
        geoDims: false,
        collapseExternal: true,
        exitNodeAttribution: true,
      },
      ...cardinality,
    },
  };
}

/**
 * Opens a collector for a network with this control plane. The clock begins at
 * 2023-11-14T22:13:21Z.
 */
export function openCollector(
  collector: Collector,
  provider: FakeProvider,
  given: HarnessOptions = {},
): CollectorHarness {
  const clock = createManualClock();
  const logged: string[] = [];
  const scope = createTelemetryWriter({ clock }).scope({
    name: "network",
    resource: {},
    constants: {},
    redact: {
      metric: (row, values) => given.redact?.metric?.(row, values) ?? values,
      log(row, record) {
        const exported = given.redact?.log?.(row, record) ?? record;
        logged.push(recordText(declared(collector.records, row), exported));
        return exported;
      },
    },
  }) as SeriesScope;
  const states = new Map<string, ApiState>();
  const covered: CollectorHarness["covered"] = new Map();
  const annotations: AnnotationEvent[] = [];
  const known: CollectorHarness["known"] = {
    devices: undefined,
    services: undefined,
    latestVersion: undefined,
  };
  const options = networkOptions(given);
  const deps: CollectorDeps = {
    network: options.name,
    version: "1.0.0",
    closed: new AbortController().signal,
    options,
    provider,
    clock,
    scope,
    log: createLog({
      level: "error",
      format: "text",
      write: () => undefined,
      now: () => clock.now(),
    }),
    devices: fakeDevices(known, clock),
    flows: {
      accept: async ({ records }) => ({ accepted: records.length, refused: {} }),
      flush: () => undefined,
    },
    audit: { accept: async ({ records }) => ({ accepted: records.length, refused: {} }) },
    memory: fakeMemory(),
    annotations: { publish: (event) => void annotations.push(event) },
    latestClientVersion: () => known.latestVersion,
    ...given.deps,
  };
  const collect = collector.prepare(options)?.open(deps);
  if (collect === undefined)
    throw new Error(`the options switch the collector ${collector.name} off`);
  return {
    clock,
    scope,
    deps,
    states,
    covered,
    annotations,
    known,
    run: (how = {}) => runOnce({ collector, collect, scope, clock, states, covered }, how),
    series: (prefix = "") => seriesOf(scope).filter((line) => line.startsWith(prefix)),
    records: () => logged.splice(0),
  };
}

interface Open extends Pick<CollectorHarness, "clock" | "scope" | "states" | "covered"> {
  readonly collector: Collector;
  readonly collect: Collect | CollectWindow;
}

async function runOnce(
  { collector, collect, scope, clock, states, covered }: Open,
  {
    signal = new AbortController().signal,
    window = { fromMs: 0, toMs: 0 },
  }: { readonly signal?: AbortSignal; readonly window?: TimeWindow },
): Promise<void> {
  const sweep = scope.sweep(collector.name);
  const observed = ({ name }: Operation, state: ApiState): void => void states.set(name, state);
  const tick: Tick = {
    nowMs: clock.now(),
    signal,
    sweep,
    observed,
    call: async (operation, run) => {
      try {
        const answer = await run();
        observed(operation, "supported");
        return answer;
      } catch (error) {
        observed(operation, stateOfError(error, operation));
        throw error;
      }
    },
    covered: (operation, result) => {
      covered.set(operation.name, result);
      observed(operation, result.failures[0] ?? "supported");
    },
  };
  try {
    await collect(tick, window);
  } catch (error) {
    sweep.abandon();
    throw error;
  }
  sweep.commit();
  for (const { row } of scope.table.indexes()) declared(collector.emits, row);
}

function declared<R extends AnyRow | AnyLogRow>(rows: readonly R[], row: R): R {
  if (!rows.some((each) => each.name === row.name))
    throw new Error(`${row.name} was emitted and is not declared`);
  return row;
}

function seriesOf(scope: SeriesScope): string[] {
  return [...scope.table.indexes()]
    .flatMap((index) => [...index.numbers()].map((number) => seriesText(scope, index.row, number)))
    .toSorted();
}

function seriesText(scope: SeriesScope, row: AnyRow, number: number): string {
  const values = scope.table.describe([number]).values[0] ?? "overflow";
  const labels =
    values === "overflow"
      ? [values]
      : row.attributes.flatMap((name, at) =>
          values[at] == null ? [] : [`${name}=${JSON.stringify(values[at])}`],
        );
  const value = scope.table.columns.value[number] ?? 0;
  return `${row.name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${row.kind === "histogram" ? histogramText(scope, row, value) : value}`;
}

function histogramText(scope: SeriesScope, row: AnyRow, offset: number): string {
  const cells = scope.table.columns.slab.copy().subarray(offset, offset + row.bounds.length + 2);
  return `n=${cells.subarray(0, -1).reduce((sum, count) => sum + count, 0)} sum=${cells.at(-1)}`;
}

function recordText(row: AnyLogRow, { body, attributes, severity, type }: LogFields): string {
  const named = Object.fromEntries(
    row.attributes.flatMap((name) =>
      attributes[name] === undefined ? [] : [[name, attributes[name]]],
    ),
  );
  return `${severity ?? row.severity} ${row.name}${type === undefined ? "" : `.${type}`} ${JSON.stringify(named)} ${body}`;
}

function fakeDevices(known: CollectorHarness["known"], clock: ManualClock): DeviceCache {
  let reportedMs = clock.monotonic();
  return {
    replaceDevices: (devices) => {
      known.devices = [...devices];
      reportedMs = clock.monotonic();
      return Promise.resolve();
    },
    replaceServices: (services) => void (known.services = [...services]),
    devices: () => known.devices ?? [],
    byAddress: (address) => known.devices?.find((each) => each.addresses.includes(address)),
    byId: (id) => known.devices?.find((each) => each.nodeId === id || each.id === id),
    serviceAt: (address) => known.services?.find((each) => each.addresses.includes(address))?.name,
    suggest: () => undefined,
    suggestedAt: () => undefined,
    get size() {
      return known.devices?.length ?? 0;
    },
    isKnown: true,
    known: Promise.resolve(),
    ageMs: () => clock.monotonic() - reportedMs,
  };
}

function fakeMemory(): NetworkMemory {
  const marks = new Map<string, number>();
  const seen = new Map<string, CappedDigests>();
  const evidence = new Map<string, unknown>();
  return {
    presence: createMemoryStore({ now: () => 0 })("any").presence,
    marks: {
      get: (name) => marks.get(name),
      set: async (name, markMs) => void marks.set(name, Math.max(markMs, marks.get(name) ?? 0)),
      replace: async (name, markMs) => void marks.set(name, markMs),
    },
    seen: (name) => {
      const digests = new Set<string>();
      const set = seen.get(name) ?? {
        has: (digest) => digests.has(digest),
        add: async (added) => added.forEach((each) => digests.add(each)),
        get size() {
          return digests.size;
        },
        evictedEarly: { count: 0, untilMs: undefined },
      };
      seen.set(name, set);
      return set;
    },
    evidence: {
      get: (key) => evidence.get(key),
      list: (prefix) =>
        [...evidence]
          .filter(([key]) => key.startsWith(prefix))
          .toSorted(([left], [right]) => (left < right ? -1 : 1)),
      change: async (changes) => {
        for (const [key, value] of changes)
          if (value === undefined) evidence.delete(key);
          else evidence.set(key, value);
      },
    },
  };
}
