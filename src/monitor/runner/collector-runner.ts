/** Runs one collector of one network: schedule, windows, history and metrics of its runs. */
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError, type StewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { describeFailure, failureOf, rootCause } from "../../kernel/client/failure.ts";
import { failedFor } from "../../kernel/base/log/outage.ts";
import { formatDuration } from "../../kernel/config/values/units.ts";
import type { Schedule } from "../../kernel/supervisor/schedule.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { CapabilityTracker } from "../capability/tracker.ts";
import { checkpointPersistErrors } from "../catalogue/collection.ts";
import { overlapMark, type NetworkMemory } from "../checkpoints/types.ts";
import type {
  Collect,
  Collector,
  CollectWindow,
  PreparedCollector,
  Tick,
  WindowRule,
} from "../collectors/collector.ts";
import { checkpointLag, type CheckpointLag } from "./checkpoint-lag.ts";
import { failureWord, type FailureWord } from "./failure-class.ts";
import { freshnessOf, isOverdue, nextRunInMs, staleAfterMs, type Freshness } from "./freshness.ts";
import { RunHistory, type RunTotals } from "./run-history.ts";
import { reportFreshness, reportRun } from "./run-metrics.ts";
import { storeMark } from "./stored-mark.ts";
import { beginTick } from "./tick.ts";
import { WindowPosition } from "./window-position.ts";
import { WindowSize } from "./window-size.ts";
import { nextWindow, reachedBy, shortenOverlap } from "./windows.ts";
import type { TimeWindow } from "../providers/model.ts";
import { orAborted } from "../../kernel/async/wait.ts";

/** First runs are spread over this time. */
const STAGGER_MS = 3_000;
/** A run is aborted after this many intervals, but not before the minimum. */
const MAX_INTERVALS = 10;
const MAX_DURATION_MS = 600_000;

export interface CollectorRunnerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly scope: Scope;
  readonly tracker: CapabilityTracker;
  readonly memory: Pick<NetworkMemory, "marks">;
  /** Whether to export metrics about runs. */
  readonly selfObservability: boolean;
  /** Called after each successful run. */
  readonly succeeded: (collector: string) => void;
  /** Traces a run. */
  readonly trace?: (collector: string, run: () => Promise<RunOutcome>) => Promise<RunOutcome>;
  /** The first scheduled run begins once this resolves. */
  readonly before?: (signal: AbortSignal) => Promise<void>;
}

/** Times are milliseconds since 1970. */
export interface CollectorStatus extends RunTotals {
  readonly name: string;
  readonly description: string;
  readonly intervalMs: number;
  readonly nextRunInMs: number;
  readonly overdue: boolean;
  /** Milliseconds since the last success. */
  readonly freshnessMs: number | undefined;
  readonly freshness: Freshness;
  /** Set for windowed collectors that have a position. */
  readonly checkpoint: CheckpointLag | undefined;
}

export interface RunOutcome {
  readonly tookMs: number;
  /** Undefined on success. */
  readonly error: StewardError | undefined;
}

export interface CollectorRunner {
  readonly name: string;
  readonly schedule: Schedule;
  /**
   * Runs once now, outside the schedule. Never rejects; if the signal fires, its reason is the
   * error.
   */
  runNow(signal: AbortSignal): Promise<RunOutcome>;
  status(): CollectorStatus;
}

/** `collect` is the opened collector. */
export function createCollectorRunner(
  deps: CollectorRunnerDeps,
  collector: Collector,
  prepared: PreparedCollector,
  collect: Collect | CollectWindow,
): CollectorRunner {
  return new Runner(deps, collector, prepared, collect);
}

class Runner implements CollectorRunner {
  readonly name: string;
  readonly schedule: Schedule;
  readonly #deps: CollectorRunnerDeps;
  readonly #collector: Collector;
  readonly #prepared: PreparedCollector;
  readonly #collect: Collect | CollectWindow;
  readonly #history: RunHistory = new RunHistory();
  readonly #position: WindowPosition = new WindowPosition();
  readonly #windowSize: WindowSize = new WindowSize();
  /** Monotonic time of the last success, or of the start. */
  #goodMs: number;
  /** Monotonic time of the last run's end, or of the start; and its result. */
  #endedMs: number;
  #succeeded: boolean | undefined;
  #hasWaited = false;
  /**
   * Monotonic times when a window last reduced the lag and when one was last read; initially the
   * start.
   */
  #gainedMs: number;
  #reachedMs: number;
  /** Monotonic start of the first failed run after the last success. */
  #failing: { readonly sinceMs: number; runs: number } | undefined;

  constructor(
    deps: CollectorRunnerDeps,
    collector: Collector,
    prepared: PreparedCollector,
    collect: Collect | CollectWindow,
  ) {
    const { intervalMs, timeoutMs = Math.max(MAX_INTERVALS * intervalMs, MAX_DURATION_MS) } =
      prepared;
    this.name = collector.name;
    this.#deps = deps;
    this.#collector = collector;
    this.#prepared = prepared;
    this.#collect = collect;
    this.#goodMs = deps.clock.monotonic();
    this.#endedMs = this.#goodMs;
    this.#gainedMs = this.#goodMs;
    this.#reachedMs = this.#goodMs;
    this.schedule = {
      name: this.name,
      everyMs: intervalMs,
      staggerMs: STAGGER_MS,
      overlap: "never",
      timeoutMs,
      history: 0,
      run: (tick) => this.#runScheduled(tick.signal),
    };
    if (deps.selfObservability) deps.scope.observe(() => this.#reportFreshness());
  }

  async #runScheduled(signal: AbortSignal): Promise<void> {
    if (!this.#hasWaited) await this.#deps.before?.(signal);
    this.#hasWaited = true;
    await this.runNow(signal);
  }

  /** Runs at each snapshot, so that a hanging run does not freeze the values. */
  #reportFreshness(): void {
    const { clock, scope } = this.#deps;
    const nowMs = clock.monotonic();
    const late = isOverdue(nowMs, this.#endedMs, this.#prepared.intervalMs);
    if (this.#succeeded === undefined && !late) return;
    reportFreshness(scope, this.name, {
      staleMs: nowMs - this.#goodMs,
      succeeded: this.#succeeded === true && !late,
    });
  }

  status(): CollectorStatus {
    const { clock, memory } = this.#deps;
    const { intervalMs, window } = this.#prepared;
    const totals = this.#history.totals();
    // As the schedule has it: the wall clock may step.
    const nowMs = clock.monotonic();
    const ageMs = totals.lastSuccessMs === undefined ? undefined : nowMs - this.#goodMs;
    const endedMs = totals.last === undefined ? undefined : this.#endedMs;
    return {
      ...totals,
      name: this.name,
      description: this.#collector.description,
      intervalMs,
      nextRunInMs: nextRunInMs(nowMs, endedMs, intervalMs),
      overdue: isOverdue(nowMs, endedMs, intervalMs),
      freshnessMs: ageMs,
      freshness: freshnessOf(ageMs, intervalMs),
      checkpoint:
        window &&
        checkpointLag(clock.now(), memory.marks.get(this.name), {
          lagMs: window.lagMs,
          intervalMs,
          sinceGainMs: nowMs - this.#gainedMs,
        }),
    };
  }

  runNow(signal: AbortSignal): Promise<RunOutcome> {
    const run = (): Promise<RunOutcome> => this.#run(signal);
    return this.#deps.trace?.(this.name, run) ?? run();
  }

  /** Records the outcome of the run. */
  async #run(signal: AbortSignal): Promise<RunOutcome> {
    const { clock, scope } = this.#deps;
    const began = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
    const round = beginTick(this.#deps, this.name, {
      signal,
      staleMs: staleAfterMs(this.#prepared.intervalMs),
    });
    let failure: { readonly word: FailureWord; readonly error: StewardError } | undefined;
    try {
      signal.throwIfAborted();
      round.end(await orAborted(this.#work(round.tick), signal));
    } catch (thrown) {
      round.end("abandon");
      const cause: unknown = signal.aborted ? signal.reason : thrown;
      const error = toStewardError(cause);
      if (signal.aborted && error.code === "cancelled")
        return { tookMs: clock.monotonic() - began.monotonicMs, error };
      failure = { word: failureWord(cause), error };
    }
    const finishedMs = clock.now();
    const tookMs = clock.monotonic() - began.monotonicMs;
    this.#endedMs = clock.monotonic();
    this.#succeeded = failure === undefined;
    if (failure === undefined) this.#goodMs = this.#endedMs;
    if (this.#deps.selfObservability) {
      reportRun(scope, this.name, {
        tookMs,
        intervalMs: this.#prepared.intervalMs,
        finishedMs,
        failed: failure?.word,
      });
      this.#reportFreshness();
    }
    this.#history.add({
      startedMs: began.wallMs,
      finishedMs,
      tookMs,
      error: failure && describeFailure(failure.error),
      cause: failure && rootCause(failure.error),
      remedy: failure?.error.remedy,
    });
    if (failure === undefined) this.#deps.succeeded(this.name);
    this.#logOutcome(failure, { beganMs: began.monotonicMs, denied: round.denied });
    return { tookMs, error: failure?.error };
  }

  /** Resolves with what to do with the run's gauges. */
  async #work(tick: Tick): Promise<"commit" | "abandon"> {
    const { window: rule } = this.#prepared;
    if (rule !== undefined) return await this.#readWindow(tick, rule);
    await (this.#collect as Collect)(tick);
    return "commit";
  }

  async #readWindow(tick: Tick, rule: WindowRule): Promise<"commit" | "abandon"> {
    const { clock, memory } = this.#deps;
    const position = this.#position.at(
      { wallMs: tick.nowMs, monotonicMs: clock.monotonic() },
      memory.marks.get(this.name),
    );
    const overlapFromMs = memory.marks.get(overlapMark(this.name));
    const window = nextWindow(
      shortenOverlap(this.#windowSize.apply(rule), {
        nowMs: tick.nowMs,
        positionMs: position,
        overlapFromMs,
      }),
      tick.nowMs,
      position,
    );
    // Nothing was fetched, so no gauge ends.
    if (window === undefined) return "abandon";
    const sizeMs = window.toMs - (position ?? window.fromMs);
    const reached = await this.#collectWindow(tick, window, sizeMs);
    this.#windowSize.succeeded(rule, window.toMs >= tick.nowMs - rule.lagMs);
    const markMs = reachedBy(rule, window, reached === undefined ? undefined : reached.markMs);
    this.#position.reached(markMs);
    this.#noteGain(markMs - (position ?? window.fromMs));
    await this.#save(markMs, tick.nowMs);
    return "commit";
  }

  async #collectWindow(tick: Tick, window: TimeWindow, sizeMs: number): ReturnType<CollectWindow> {
    try {
      const reached = await this.#collect(tick, window);
      // The run was aborted: the window will be read again.
      tick.signal.throwIfAborted();
      return reached;
    } catch (error) {
      const nextMs = this.#windowSize.failed(error, sizeMs);
      if (nextMs !== undefined)
        this.#deps.log.warn(
          "the response to a window was too large or too late; the next window is shorter",
          {
            name: this.name,
            window: formatDuration(sizeMs),
            next: formatDuration(nextMs),
            remedy: `lower collectors.${this.name}.max_window if this comes again`,
          },
        );
      throw error;
    }
  }

  /**
   * `byMs`: how far the window moved the position. It counts as progress if that exceeds the time
   * since the last window.
   */
  #noteGain(byMs: number): void {
    const nowMs = this.#deps.clock.monotonic();
    if (byMs > nowMs - this.#reachedMs) this.#gainedMs = nowMs;
    this.#reachedMs = nowMs;
  }

  async #save(markMs: number, nowMs: number): Promise<void> {
    const { memory, scope, log, selfObservability } = this.#deps;
    try {
      const aheadMs = await storeMark(memory.marks, this.name, { markMs, nowMs });
      if (aheadMs !== undefined)
        log.warn(
          "the stored checkpoint of a collector was ahead of the clock and was replaced; after a start, records from before the first window may be missing",
          {
            name: this.name,
            stored: new Date(aheadMs).toISOString(),
            replaced_by: new Date(markMs).toISOString(),
            remedy: "keep the clock of this machine synchronized",
          },
        );
    } catch (error) {
      if (selfObservability) scope.add(checkpointPersistErrors, 1, { "vpn.collector": this.name });
      log.warn(
        "cannot store the checkpoint of a collector; after a restart it reads from the last stored one",
        { name: this.name, error: toStewardError(error) },
      );
    }
  }

  /** Logs failures, recoveries and denied operations. */
  #logOutcome(
    failure: { readonly word: FailureWord; readonly error: StewardError } | undefined,
    { beganMs, denied }: { readonly beganMs: number; readonly denied: ReadonlySet<string> },
  ): void {
    const { clock, log } = this.#deps;
    const { name } = this;
    if (failure !== undefined) {
      this.#failing ??= { sinceMs: beganMs, runs: 0 };
      this.#failing.runs += 1;
      const { class: kind, status, operation, url, system } = failureOf(failure.error) ?? {};
      if (failure.word === "panic") log.error("collector panicked", { name, error: failure.error });
      else
        log.warn("collector failed", {
          name,
          class: kind ?? failure.error.code,
          ...(status === undefined || status === 0 ? {} : { status }),
          operation,
          url,
          cause: system,
          error: failure.error,
        });
      return;
    }
    if (this.#failing !== undefined)
      log.info("collector recovered", {
        name,
        failed_runs: this.#failing.runs,
        ...failedFor(clock, this.#failing.sinceMs),
      });
    this.#failing = undefined;
    for (const operation of denied) {
      log.warn(
        "the credential is not permitted to make this call; the collector continues without it",
        {
          name,
          operation,
          status: 403,
          remedy: "grant the scope to the credential, or disable what needs it",
        },
      );
    }
  }
}
