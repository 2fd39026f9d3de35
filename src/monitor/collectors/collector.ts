/**
 * How collectors are declared. Scheduling, freshness, checkpoints, self-metrics, capability rows
 * and the end of vanished series follow from the declaration; a collector only fetches and records.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { AnyLogRow, AnyRow, Scope, Sweep } from "../../kernel/telemetry/types.ts";
import type { AnnotationSink } from "../annotations/types.ts";
import type { ApiState, Operation } from "../capability/operation.ts";
import type { RequiredScopes } from "../capability/scopes.ts";
import type { NetworkMemory } from "../checkpoints/types.ts";
import type { DeviceCache } from "../enrich/types.ts";
import type { AuditIntake, FlowIntake } from "../flows/types.ts";
import type { NetworkOptions } from "../options.ts";
import type { Capability, Provider, TimeWindow } from "../providers/provider.ts";
import type { CollectorReport } from "./collector-report.ts";

/** Dependencies of a collector, one set per network. */
export interface CollectorDeps {
  readonly network: string;
  /** Steward's version, for `User-Agent`. */
  readonly version: string;
  readonly options: NetworkOptions;
  /** Aborts when the network stops for good; collectors then close their connections. */
  readonly closed: AbortSignal;
  readonly provider: Provider;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The network's scope, for counters, histograms and log records. Gauges go through the sweep of
   * the tick.
   */
  readonly scope: Scope;
  readonly devices: DeviceCache;
  readonly flows: FlowIntake;
  readonly audit: AuditIntake;
  readonly memory: NetworkMemory;
  readonly annotations: AnnotationSink;
  /** Reports values shown beside the runs; fields that are left out keep their last value. */
  readonly report?: (report: CollectorReport) => void;
  /** The latest stable client, e.g. `1.88.0`; undefined while unknown or when the check is off. */
  latestClientVersion(): string | undefined;
}

export interface Tick {
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /**
   * Gauges of this run. They are visible at once; when the run succeeds, gauges of the previous run
   * that were not set again end.
   */
  readonly sweep: Pick<Sweep, "gauge">;
  /**
   * Makes a call and records its outcome for the capability matrix; rejects with the call's error.
   */
  call<T>(operation: Operation, run: () => Promise<T>): Promise<T>;
  /** Records an operation's outcome directly. */
  observed(operation: Operation, state: ApiState): void;
  /**
   * Records per-entity calls of this run: attempts, and the states of failed ones. The operation's
   * state is that of the first failure.
   */
  covered(
    operation: Operation,
    result: { readonly tried: number; readonly failures: readonly ApiState[] },
  ): void;
}

/** One run of a collector of current state. */
export type Collect = (tick: Tick) => Promise<void>;
/** One run over a window; resolves with the position reached, by default the window's end. */
export type CollectWindow = (
  tick: Tick,
  window: TimeWindow,
) => Promise<{ readonly markMs?: number } | void>;

/** Bounds of consecutive windows. */
export interface WindowRule {
  readonly lagMs: number;
  readonly initialLookbackMs: number;
  /** 0 means no limit. */
  readonly maxWindowMs: number;
  /**
   * The start of a window overlaps the previous one by this much; 0 unless the collector
   * deduplicates.
   */
  readonly overlapMs: number;
}

/** A collector with the options of a network. */
export interface PreparedCollector {
  readonly intervalMs: number;
  /** Longest run; by default a run may outlast its interval. */
  readonly timeoutMs?: number;
  readonly window?: WindowRule;
  /** Called once per start of the network; the returned closure keeps state between runs. */
  open(deps: CollectorDeps): Collect | CollectWindow;
}

export interface Collector {
  /** Value of `vpn.collector`. */
  readonly name: string;
  /** One sentence. */
  readonly description: string;
  /** Section below `collectors` in the configuration. */
  readonly key: string;
  /** Required feature of the control plane; undefined when it is not called. */
  readonly capability: Capability | undefined;
  /**
   * Scopes an OAuth client needs: each entry lists alternatives, one of which suffices. Empty: none
   * needed; undefined: unknown.
   */
  scopes(options: NetworkOptions): RequiredScopes;
  readonly operations: readonly Operation[];
  /** Additional calls with their own row in the capability matrix, and their scopes. */
  readonly subrequests: readonly {
    readonly capability: Capability;
    readonly operation: Operation;
    readonly scopes: RequiredScopes;
  }[];
  /** Every metric and log record that it may emit. */
  readonly emits: readonly AnyRow[];
  readonly records: readonly AnyLogRow[];
  /** Whether a run reads a window. */
  readonly windowed: boolean;
  /**
   * Its series carry device names: the first run waits, for a bounded time, until devices are
   * known.
   */
  readonly namesDevices: boolean;
  /** Undefined when the options switch it off. */
  prepare(options: NetworkOptions): PreparedCollector | undefined;
}

interface Declared {
  readonly name: string;
  readonly description: string;
  readonly key?: string;
  readonly capability?: Capability;
  /** A function where options add scopes. */
  readonly scopes?: RequiredScopes | ((options: NetworkOptions) => RequiredScopes);
  readonly operations: readonly Operation[];
  readonly subrequests?: Collector["subrequests"];
  readonly emits: readonly AnyRow[];
  readonly records?: readonly AnyLogRow[];
  readonly namesDevices?: boolean;
}

/**
 * Declares a collector of current state. `options` selects its section, undefined when it is off.
 */
export function defineCollector<O extends { readonly intervalMs: number }>(
  declared: Declared & {
    options(network: NetworkOptions): O | undefined;
    timeoutMs?(options: O): number;
    open(deps: CollectorDeps, options: O): Collect;
  },
): Collector {
  return {
    ...rowOf(declared),
    windowed: false,
    prepare(network) {
      const options = declared.options(network);
      if (options === undefined) return undefined;
      return {
        intervalMs: options.intervalMs,
        ...(declared.timeoutMs === undefined ? {} : { timeoutMs: declared.timeoutMs(options) }),
        open: (deps) => declared.open(deps, options),
      };
    },
  };
}

/** Declares a collector that reads a log in consecutive windows. */
export function defineWindowCollector<O extends { readonly intervalMs: number }>(
  declared: Declared & {
    options(network: NetworkOptions): O | undefined;
    window(options: O): WindowRule;
    open(deps: CollectorDeps, options: O): CollectWindow;
  },
): Collector {
  return {
    ...rowOf(declared),
    windowed: true,
    prepare(network) {
      const options = declared.options(network);
      return (
        options && {
          intervalMs: options.intervalMs,
          window: declared.window(options),
          open: (deps) => declared.open(deps, options),
        }
      );
    },
  };
}

function rowOf({
  name,
  description,
  key = name,
  capability,
  scopes,
  operations,
  subrequests = [],
  emits,
  records = [],
  namesDevices = false,
}: Declared): Omit<Collector, "windowed" | "prepare"> {
  return {
    name,
    description,
    key,
    capability,
    scopes: typeof scopes === "function" ? scopes : () => scopes,
    operations,
    subrequests,
    emits,
    records,
    namesDevices,
  };
}
