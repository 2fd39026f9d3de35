/** Types of the scheduler: recurring work, one run of each at a time. */

/** Recurring work. */
export interface Schedule {
  /** Unique in its scheduler. */
  readonly name: string;
  /** Between planned starts, at least 1. */
  readonly everyMs: number;
  /**
   * The first run starts within this time, at an offset fixed by the name, so that schedules spread
   * out; 0 is at once.
   */
  readonly staggerMs: number;
  /** A run that is due while the previous one is running is skipped and counted. */
  readonly overlap: "never";
  /** Maximum duration; the run's signal fires then. Default `everyMs`. */
  readonly timeoutMs?: number;
  /** Number of finished runs kept, at most 1,000. */
  readonly history: number;
  /**
   * The signal fires when the run times out, the schedule is removed or paused, or the process
   * stops.
   */
  run(tick: Tick): Promise<void>;
}

/** Context of a run. */
export interface Tick {
  readonly signal: AbortSignal;
  /** When it was due, milliseconds since 1970. */
  readonly scheduledAtMs: number;
}

/** `cancelled` by pause, removal or stop; `failed` by an error or timeout. */
export type RunOutcome = "ok" | "failed" | "cancelled";

/** A finished run. */
export interface RunRecord {
  readonly scheduledAtMs: number;
  readonly startedAtMs: number;
  /** By the monotonic clock. */
  readonly tookMs: number;
  readonly outcome: RunOutcome;
  /** Why it was not `ok`. */
  readonly reason: string | undefined;
}

export interface ScheduleStatus {
  readonly name: string;
  readonly everyMs: number;
  /** `idle`: the scheduler is not running. */
  readonly phase: "idle" | "waiting" | "running" | "paused";
  /** Milliseconds until the next planned run; undefined when none is planned. */
  readonly nextInMs: number | undefined;
  /** Finished runs since the schedule was added. */
  readonly runs: number;
  readonly failures: number;
  /** Runs skipped because the previous one was running or the process was suspended. */
  readonly skipped: number;
  /** Oldest first. */
  readonly history: readonly RunRecord[];
}

export interface ScheduleHandle {
  /**
   * Runs now instead of at the planned time. False while a run is active, or the scheduler is
   * paused or stopped.
   */
  runNow(): boolean;
  /** Removes the schedule; resolves when its run has ended. */
  remove(): Promise<void>;
  status(): ScheduleStatus;
}

/** Runs schedules while started. */
export interface Scheduler {
  /** Before or after the start. A duplicate name or too many schedules is a programming error. */
  add(schedule: Schedule): ScheduleHandle;
  status(): readonly ScheduleStatus[];
  /** Cancels current runs and starts none. `reason` is the abort reason. */
  pause(reason: string): void;
  /** Continues. Runs missed meanwhile happen once, spread over their stagger. */
  resume(): void;
  /** Why it is paused; undefined when it is not. */
  paused(): string | undefined;
}
