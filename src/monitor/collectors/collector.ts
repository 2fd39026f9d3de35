/**
 * How a collector is declared. Scheduling, freshness, checkpoints, self-metrics, capability rows
 * and the end of vanished series follow from the declaration; a collector only asks and says what
 * it learnt.
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
import type { Told } from "./told.ts";

/** What a collector lives with, one set for each network. */
export interface CollectorDeps {
  readonly network: string;
  /** Of Steward, for `User-Agent`. */
  readonly version: string;
  readonly options: NetworkOptions;
  /** Fires when the network stops for good: whoever holds connections gives them back. */
  readonly closed: AbortSignal;
  readonly provider: Provider;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The network's series: for counters, histograms and records. Gauges go through the sweep of the
   * tick.
   */
  readonly scope: Scope;
  readonly devices: DeviceCache;
  readonly flows: FlowIntake;
  readonly audit: AuditIntake;
  readonly memory: NetworkMemory;
  readonly annotations: AnnotationSink;
  /** Tells what is shown beside the runs; what is left out stays as it was told before. */
  readonly report?: (told: Told) => void;
  /** The latest stable client, e.g. `1.88.0`; undefined while it is not known or nobody asks. */
  latestClientVersion(): string | undefined;
}

/** One run. */
export interface Tick {
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /**
   * Levels of this run. They count at once; when the run succeeds, those of the last one that were
   * not said again end.
   */
  readonly sweep: Pick<Sweep, "gauge">;
  /** Makes a call and remembers what its outcome says; rejects with the call's error. */
  call<T>(operation: Operation, run: () => Promise<T>): Promise<T>;
  /** Says by itself what an operation's outcome was. */
  observed(operation: Operation, state: ApiState): void;
  /**
   * Calls made for each entity in this run: how many were tried, and the states of those that
   * failed. Sets the operation's state to that of the first failure.
   */
  covered(
    operation: Operation,
    result: { readonly tried: number; readonly failures: readonly ApiState[] },
  ): void;
}

/** A run of a collector that reads the present state. */
export type Collect = (tick: Tick) => Promise<void>;
/** A run over a window; resolves with how far it came, the window's end unless said otherwise. */
export type CollectWindow = (
  tick: Tick,
  window: TimeWindow,
) => Promise<{ readonly markMs?: number } | void>;

/** How windows follow each other. */
export interface WindowRule {
  readonly lagMs: number;
  readonly initialLookbackMs: number;
  /** 0 is no limit. */
  readonly maxWindowMs: number;
  /** The beginning of a window is read again; 0 unless the collector knows what it has seen. */
  readonly overlapMs: number;
}

/** A collector with the options of a network. */
export interface PreparedCollector {
  readonly intervalMs: number;
  /** Longest run; a run may outlast its interval unless this says otherwise. */
  readonly timeoutMs?: number;
  readonly window?: WindowRule;
  /** Called once for each start of the network; what it remembers between runs lives in it. */
  open(deps: CollectorDeps): Collect | CollectWindow;
}

/** A collector as declared. */
export interface Collector {
  /** As `vpn.collector` shows it. */
  readonly name: string;
  /** What it is for, one sentence. */
  readonly description: string;
  /** Its section below `collectors`. */
  readonly key: string;
  /** What the control plane must offer; undefined when it is not asked. */
  readonly capability: Capability | undefined;
  /**
   * Scopes that an OAuth client needs: each entry names alternatives, one of which is enough.
   * Empty: none, undefined: not known.
   */
  scopes(options: NetworkOptions): RequiredScopes;
  readonly operations: readonly Operation[];
  /** Further calls with a row of their own in the capability matrix, and the scopes of those. */
  readonly subrequests: readonly {
    readonly capability: Capability;
    readonly operation: Operation;
    readonly scopes: RequiredScopes;
  }[];
  /** Every metric and record that it may emit. */
  readonly emits: readonly AnyRow[];
  readonly records: readonly AnyLogRow[];
  /** Whether a run reads a window. */
  readonly windowed: boolean;
  /**
   * Names what it counts by the devices: its first run waits, for a while, until they are known.
   */
  readonly namesDevices: boolean;
  /** Undefined: the options switch it off. */
  prepare(options: NetworkOptions): PreparedCollector | undefined;
}

interface Declared {
  readonly name: string;
  readonly description: string;
  readonly key?: string;
  readonly capability?: Capability;
  /** A function where options add to them. */
  readonly scopes?: RequiredScopes | ((options: NetworkOptions) => RequiredScopes);
  readonly operations: readonly Operation[];
  readonly subrequests?: Collector["subrequests"];
  readonly emits: readonly AnyRow[];
  readonly records?: readonly AnyLogRow[];
  readonly namesDevices?: boolean;
}

/**
 * A collector that reads the present state each time. `options` picks what is its own, undefined
 * when it is off.
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

/** A collector that reads a log window after window. */
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
