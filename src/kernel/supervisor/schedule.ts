/** The shapes of the scheduler: work that comes again, one run of each at a time. */

/** Work that comes again. */
export interface Schedule {
  /** Unique in its scheduler. */
  readonly name: string;
  /** From the planned start of one run to that of the next, at least 1. */
  readonly everyMs: number;
  /**
   * The first run comes within this time of the start, always at the same point of it, so that many
   * schedules spread out; 0 is at once.
   */
  readonly staggerMs: number;
  /** A run that is due while the last one goes on is left out and counted. */
  readonly overlap: "never";
  /** Longest run; its signal fires then. `everyMs` unless said otherwise. */
  readonly timeoutMs?: number;
  /** How many ended runs are remembered, at most 1,000. */
  readonly history: number;
  /**
   * Does the work. The signal fires when the run takes too long, the schedule is removed or paused,
   * or the process stops.
   */
  run(tick: Tick): Promise<void>;
}

/** What a run is told. */
export interface Tick {
  readonly signal: AbortSignal;
  /** When it was due, milliseconds since 1970. */
  readonly scheduledAtMs: number;
}

/**
 * How a run ended: `cancelled` by pause, removal or stop, `failed` by itself or by taking too long.
 */
export type RunOutcome = "ok" | "failed" | "cancelled";

/** A run that has ended. */
export interface RunRecord {
  readonly scheduledAtMs: number;
  readonly startedAtMs: number;
  /** By the monotonic clock. */
  readonly tookMs: number;
  readonly outcome: RunOutcome;
  /** Why it did not end well. */
  readonly reason: string | undefined;
}

/** Where a schedule stands. */
export interface ScheduleStatus {
  readonly name: string;
  readonly everyMs: number;
  /** `idle`: the scheduler does not run. */
  readonly phase: "idle" | "waiting" | "running" | "paused";
  /** Milliseconds until the next planned run; undefined when none is planned. */
  readonly nextInMs: number | undefined;
  /** Ended runs since the schedule was added. */
  readonly runs: number;
  readonly failures: number;
  /** Runs left out because the one before went on or the process slept. */
  readonly skipped: number;
  /** Oldest first. */
  readonly history: readonly RunRecord[];
}

/** A schedule that was added. */
export interface ScheduleHandle {
  /**
   * Runs now instead of at the planned time. False while a run goes on, the scheduler is paused or
   * does not run.
   */
  runNow(): boolean;
  /** Takes the schedule away and resolves when its run has ended. */
  remove(): Promise<void>;
  status(): ScheduleStatus;
}

/** Runs schedules while it is started. */
export interface Scheduler {
  /**
   * Before or after the start. A name that is taken, or one schedule more than allowed, is our own
   * mistake.
   */
  add(schedule: Schedule): ScheduleHandle;
  status(): readonly ScheduleStatus[];
  /** Cancels what runs and lets nothing start. `reason` is what the cancelled runs see. */
  pause(reason: string): void;
  /** Goes on. What was due in between runs once, spread over its stagger. */
  resume(): void;
  /** Why it is paused; undefined when it is not. */
  paused(): string | undefined;
}
