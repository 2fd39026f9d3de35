/**
 * Records, devices and an intake over a real telemetry scope, for the tests of this folder and its
 * neighbours.
 */
import type { Clock } from "../../../src/kernel/base/clock.ts";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import type { LogFields } from "../../../src/kernel/telemetry/types.ts";
import { defaultLogLimits } from "../../../src/kernel/telemetry/writer/log-record.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import { createDeviceCache } from "../../../src/monitor/enrich/device-cache.ts";
import type { DeviceCache } from "../../../src/monitor/enrich/types.ts";
import { createFlowIntake } from "../../../src/monitor/flows/intake.ts";
import type {
  CardinalityOptions,
  FlowLogOptions,
  NetworkOptions,
} from "../../../src/monitor/options.ts";
import type { FlowSink } from "../../../src/monitor/flowstore/types.ts";
import type { Device } from "../../../src/monitor/providers/model.ts";
import { networkOptions } from "../collectors/harness.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import type { ManualClock } from "../../kernel/supervisor/manual-clock.ts";

/** What the manual clock says at its start. */
export const NOW_MS = 1_700_000_001_000;

/** More than a test writes. */
const KEPT_RECORDS = 100_000;

/** A signal that never fires. */
export const unhurried: AbortSignal = new AbortController().signal;

/** RFC 3339, seconds before the clock's start. */
export function ago(seconds: number): string {
  return new Date(NOW_MS - seconds * 1_000).toISOString();
}

/** A device with nothing special about it. */
export function device(given: Partial<Device> & Pick<Device, "nodeId">): Device {
  return {
    id: `old-${given.nodeId}`,
    name: `${given.hostname ?? given.nodeId}.tail.test`,
    hostname: given.nodeId,
    os: "linux",
    user: "",
    clientVersion: "",
    addresses: [],
    tags: [],
    external: false,
    authorized: true,
    online: true,
    createdMs: undefined,
    lastSeenMs: undefined,
    expiresMs: undefined,
    keyExpiryDisabled: undefined,
    updateAvailable: undefined,
    multipleConnections: undefined,
    blocksIncomingConnections: undefined,
    sshEnabled: undefined,
    ephemeral: undefined,
    distro: undefined,
    postureIdentityDisabled: undefined,
    connectivity: undefined,
    advertisedRoutes: [],
    enabledRoutes: [],
    lockError: "",
    ...given,
  };
}

/** Two machines of the network. */
export const alpha: Device = device({
  nodeId: "nA",
  hostname: "alpha",
  addresses: ["100.64.0.7", "fd7a:115c:a1e0::7"],
  tags: ["tag:web", " tag:ci "],
});
export const beta: Device = device({
  nodeId: "nB",
  hostname: "beta",
  addresses: ["100.64.0.9"],
  user: "ada@corp.test",
  os: "macOS",
});

/** One connection from alpha to beta. */
export function connection(given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    proto: 6,
    src: "100.64.0.7:51514",
    dst: "100.64.0.9:443",
    txPkts: 9,
    txBytes: 1_200,
    rxPkts: 8,
    rxBytes: 5_400,
    ...given,
  };
}

/** What alpha saw a minute ago. */
export function record(given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    nodeId: "nA",
    start: ago(60),
    end: ago(55),
    logged: ago(50),
    virtualTraffic: [connection()],
    ...given,
  };
}

/** Options of the log with its defaults. */
export const flowLogOptions: FlowLogOptions = {
  intervalMs: 60_000,
  source: "poll",
  lagMs: 120_000,
  initialLookbackMs: 300_000,
  maxWindowMs: 3_600_000,
  objectStore: undefined,
  replayOverlapMs: 300_000,
  replaySeenCapacity: 131_072,
  logMode: "per_connection",
  maxLogRecordsPerWindow: 0,
  trustedReporterNodeIds: [],
  trustedReporterTags: [],
};

/** A scope that keeps its records. */
export interface KeepingScope {
  readonly clock: ManualClock;
  readonly scope: SeriesScope;
  readonly logged: (LogFields & { readonly name: string })[];
  /**
   * Live series whose name begins so, sorted: `name{label="value"} 1`, histograms as `name n=1
   * sum=2`.
   */
  readonly series: (prefix?: string) => string[];
}

/** A scope over a clock that moves by hand. */
export function keepingScope(): KeepingScope {
  const clock = createManualClock();
  const logged: KeepingScope["logged"] = [];
  const scope = createTelemetryWriter({
    clock,
    logs: { capacity: KEPT_RECORDS, limits: defaultLogLimits },
  }).scope({
    name: "network",
    resource: {},
    constants: {},
    redact: {
      metric: (_row, values) => values,
      log: (row, fields) => (logged.push({ ...fields, name: row.name }), fields),
    },
  }) as SeriesScope;
  return {
    clock,
    scope,
    logged,
    series: (prefix = "") => seriesOf(scope).filter((line) => line.startsWith(prefix)),
  };
}

/** An intake with alpha and beta known. */
export interface OpenIntake extends KeepingScope {
  readonly devices: DeviceCache;
  readonly intake: ReturnType<typeof createFlowIntake>;
}

/** Opens an intake; the devices are not known yet where they are awaited. */
export function openIntake({
  flow = {},
  log = {},
  clock,
  awaitsDevices = false,
  store,
  startWaitMs = 0,
}: {
  readonly awaitsDevices?: boolean;
  /** Its policy is awaited. */
  readonly store?: FlowSink;
  readonly startWaitMs?: number;
  readonly flow?: Partial<CardinalityOptions["flow"]>;
  readonly log?: Partial<FlowLogOptions>;
  readonly clock?: Clock;
} = {}): OpenIntake {
  const kept = keepingScope();
  const devices = createDeviceCache(kept);
  if (!awaitsDevices) void devices.replaceDevices([alpha, beta]);
  const base = networkOptions({ collectors: { flowlogs: { ...flowLogOptions, ...log } } });
  const options: NetworkOptions = {
    ...base,
    cardinality: { ...base.cardinality, flow: { ...base.cardinality.flow, ...flow } },
  };
  return {
    ...kept,
    devices,
    intake: createFlowIntake({
      options,
      scope: kept.scope,
      clock: clock ?? kept.clock,
      devices,
      metricIntervalMs: 60_000,
      awaitsDevices,
      awaitsPolicy: store !== undefined,
      store,
      startWaitMs,
    }),
  };
}

function seriesOf({ table }: SeriesScope): string[] {
  return [...table.indexes()]
    .flatMap((index) =>
      [...index.numbers()].map((number) => {
        const values = table.describe([number]).values[0] ?? "overflow";
        const labels =
          values === "overflow"
            ? [values]
            : index.row.attributes.flatMap((name, at) =>
                values[at] == null ? [] : [`${name}=${JSON.stringify(values[at])}`],
              );
        const value = table.columns.value[number] ?? 0;
        const cells =
          index.row.kind === "histogram"
            ? table.columns.slab.copy().subarray(value, value + index.row.bounds.length + 2)
            : undefined;
        const shown =
          cells === undefined
            ? value
            : `n=${cells.subarray(0, -1).reduce((sum, count) => sum + count, 0)} sum=${cells.at(-1)}`;
        return `${index.row.name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${shown}`;
      }),
    )
    .toSorted();
}
