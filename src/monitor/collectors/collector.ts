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
import type { Places } from "../geoip/types.ts";
import type { AuditIntake, FlowIntake } from "../flows/types.ts";
import type { NetworkOptions, ScheduledOptions } from "../options.ts";
import type { AccessPolicy } from "../policy/access-policy.ts";
import type { TimeWindow } from "../providers/model.ts";
import type { CallName, Provider } from "../providers/provider.ts";
import type { CollectorReport } from "./collector-report.ts";
import type { CollectorSection } from "./section.ts";

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
  /** Receives the access policy; undefined while flows are not stored. */
  readonly accessPolicy?: AccessPolicy | undefined;
  /** Undefined while no geo database is configured. */
  readonly places?: Places | undefined;
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
  readonly section: CollectorSection;
  /** The call without which it does not run; undefined when the control plane is not called. */
  readonly needs: CallName | undefined;
  /**
   * Scopes an OAuth client needs: each entry lists alternatives, one of which suffices. Empty: none
   * needed; undefined: unknown.
   */
  scopes(options: NetworkOptions): RequiredScopes;
  readonly operations: readonly Operation[];
  /** Additional calls with their own row in the capability matrix, and their scopes. */
  readonly subrequests: readonly Subrequest[];
  /** Every metric and log record that it may emit. */
  readonly emits: readonly AnyRow[];
  readonly records: readonly AnyLogRow[];
  /** The collector in whose capability row its calls count. */
  readonly countsAs: string | undefined;
  /** Reads an object store: it has a capability row only while it runs. */
  readonly isFeed: boolean;
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

/** A further call of a collector. */
interface Subrequest {
  /** Its name in the capability matrix. */
  readonly capability: string;
  readonly needs: CallName;
  readonly operation: Operation;
  readonly scopes: RequiredScopes;
  /** Whether the collector runs and its options ask for the call. */
  readonly isWanted: (options: NetworkOptions) => boolean;
}

/** `S` are the options of the section, `O` the part of them that the collector runs with. */
interface Declared<S extends object, O extends ScheduledOptions> {
  readonly section: CollectorSection<S>;
  /** By default the section's. */
  readonly name?: string;
  readonly description: string;
  /** The options it runs with, undefined when it does not; by default those of the section. */
  readonly select?: (options: S) => O | undefined;
  readonly needs?: CallName;
  /** A function where options add scopes; they are undefined while the section is off. */
  readonly scopes?: RequiredScopes | ((options: S | undefined) => RequiredScopes);
  readonly operations: readonly Operation[];
  readonly subrequests?: readonly (Omit<Subrequest, "isWanted"> & {
    /** By default it is made whenever the collector runs. */
    readonly isWanted?: (options: S) => boolean;
  })[];
  readonly emits: readonly AnyRow[];
  readonly records?: readonly AnyLogRow[];
  readonly namesDevices?: boolean;
  readonly countsAs?: string;
  readonly isFeed?: boolean;
}

/** Declares a collector of current state. */
export function defineCollector<
  S extends object,
  O extends ScheduledOptions = S & ScheduledOptions,
>(
  declared: Declared<S, O> & {
    timeoutMs?(options: NoInfer<O>): number;
    open(deps: CollectorDeps, options: NoInfer<O>): Collect;
  },
): Collector {
  return {
    ...rowOf(declared),
    windowed: false,
    prepare(network) {
      const options = selected(declared, network);
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
export function defineWindowCollector<
  S extends object,
  O extends ScheduledOptions = S & ScheduledOptions,
>(
  declared: Declared<S, O> & {
    window(options: NoInfer<O>): WindowRule;
    open(deps: CollectorDeps, options: NoInfer<O>): CollectWindow;
  },
): Collector {
  return {
    ...rowOf(declared),
    windowed: true,
    prepare(network) {
      const options = selected(declared, network);
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

function selected<S extends object, O extends ScheduledOptions>(
  { section, select }: Declared<S, O>,
  network: NetworkOptions,
): O | undefined {
  const options = section.of(network);
  // Without `select`, `O` is `S`.
  if (select === undefined) return options as (S & O) | undefined;
  return options && select(options);
}

function rowOf<S extends object, O extends ScheduledOptions>({
  section,
  name = section.name,
  description,
  needs,
  scopes,
  operations,
  subrequests = [],
  emits,
  records = [],
  namesDevices = false,
  countsAs,
  isFeed = false,
}: Declared<S, O>): Omit<Collector, "windowed" | "prepare"> {
  return {
    section,
    name,
    description,
    needs,
    scopes(network) {
      return typeof scopes === "function" ? scopes(section.of(network)) : scopes;
    },
    operations,
    subrequests: subrequests.map(({ isWanted, ...subrequest }) => ({
      ...subrequest,
      isWanted(network) {
        const options = section.of(network);
        return options !== undefined && (isWanted?.(options) ?? true);
      },
    })),
    emits,
    records,
    namesDevices,
    countsAs,
    isFeed,
  };
}
