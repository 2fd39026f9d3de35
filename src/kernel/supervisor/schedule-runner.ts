/**
 * Runs one schedule. Planned times lie on a grid of the monotonic clock, so they do not drift and
 * steps of the wall clock have no effect; after a long run or a suspension the next grid point is
 * used, missed ones are not made up.
 */
import type { Clock } from "../base/clock.ts";
import { StewardError, toStewardError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { RunOutcome, RunRecord, Schedule, ScheduleStatus } from "./schedule.ts";

export interface RunnerDeps {
  readonly clock: Clock;
  readonly log: Log;
}

interface Run {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** Owned by the scheduler. */
export class ScheduleRunner {
  readonly schedule: Schedule;
  readonly #deps: RunnerDeps;
  #timer: Disposable | undefined;
  /** The monotonic time of the planned run; undefined when none is planned. */
  #dueMs: number | undefined;
  #run: Run | undefined;
  #phase: "idle" | "active" | "paused" = "idle";
  #runs = 0;
  #failures = 0;
  #skipped = 0;
  readonly #history: RunRecord[] = [];

  constructor(schedule: Schedule, deps: RunnerDeps) {
    this.schedule = schedule;
    this.#deps = deps;
  }

  /** Plans the first run. */
  start(): void {
    if (this.#phase !== "idle") return;
    this.#phase = "active";
    this.#plan(this.#deps.clock.monotonic() + staggerOf(this.schedule));
  }

  /** Cancels the current run and plans none. The planned time is kept for `resume`. */
  pause(reason: string): void {
    if (this.#phase === "active") this.#phase = "paused";
    this.#disarm();
    this.#run?.stop.abort(new StewardError("cancelled", reason));
  }

  resume(): void {
    if (this.#phase !== "paused") return;
    this.#phase = "active";
    const nowMs = this.#deps.clock.monotonic();
    const dueMs = this.#dueMs ?? nowMs;
    this.#plan(dueMs > nowMs ? dueMs : nowMs + staggerOf(this.schedule));
  }

  /** Ends the schedule; resolves when its run has ended. */
  async end(reason: string): Promise<void> {
    this.#phase = "idle";
    this.#dueMs = undefined;
    this.#disarm();
    this.#run?.stop.abort(new StewardError("cancelled", reason));
    await this.#run?.ended;
  }

  runNow(): boolean {
    if (this.#phase !== "active" || this.#run !== undefined) return false;
    this.#begin(this.#deps.clock.now());
    return true;
  }

  status(): ScheduleStatus {
    const { name, everyMs } = this.schedule;
    const phase =
      this.#run !== undefined ? "running" : this.#phase === "active" ? "waiting" : this.#phase;
    const nextInMs =
      this.#dueMs === undefined || this.#phase !== "active"
        ? undefined
        : Math.max(0, this.#dueMs - this.#deps.clock.monotonic());
    return {
      name,
      everyMs,
      phase,
      nextInMs,
      runs: this.#runs,
      failures: this.#failures,
      skipped: this.#skipped,
      history: [...this.#history],
    };
  }

  #plan(dueMs: number): void {
    this.#disarm();
    this.#dueMs = dueMs;
    this.#timer = this.#deps.clock.timer(dueMs, () => this.#tick(dueMs));
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #tick(dueMs: number): void {
    const { clock } = this.#deps;
    const lateMs = clock.monotonic() - dueMs;
    const missed = Math.floor(lateMs / this.schedule.everyMs);
    this.#skipped += missed;
    this.#plan(dueMs + (missed + 1) * this.schedule.everyMs);
    if (this.#run === undefined) this.#begin(clock.now() - lateMs);
    else this.#skipped += 1;
  }

  #begin(scheduledAtMs: number): void {
    const stop = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#run = { stop, ended };
    void this.#work(stop, scheduledAtMs).finally(() => {
      this.#run = undefined;
      resolve();
    });
  }

  /** Never rejects: the outcome is recorded. */
  async #work(stop: AbortController, scheduledAtMs: number): Promise<void> {
    const { clock, log } = this.#deps;
    const { name, timeoutMs = this.schedule.everyMs } = this.schedule;
    const startedAtMs = clock.now();
    const beganMs = clock.monotonic();
    const limit = clock.timer(beganMs + timeoutMs, () =>
      stop.abort(new StewardError("deadline", `${name} took longer than ${timeoutMs} ms`)),
    );
    let outcome: RunOutcome = "ok";
    let reason: string | undefined;
    try {
      await this.schedule.run({ signal: stop.signal, scheduledAtMs });
    } catch (thrown) {
      // A cancelled run throws whatever the abort caused, so the reason of the cancellation is
      // recorded instead.
      const error = toStewardError(stop.signal.aborted ? stop.signal.reason : thrown);
      outcome = error.code === "cancelled" && stop.signal.aborted ? "cancelled" : "failed";
      reason = error.message;
      if (outcome === "failed") log.warn("scheduled run failed", { name, error });
    } finally {
      limit[Symbol.dispose]();
    }
    this.#runs += 1;
    if (outcome === "failed") this.#failures += 1;
    this.#remember({
      scheduledAtMs,
      startedAtMs,
      tookMs: clock.monotonic() - beganMs,
      outcome,
      reason,
    });
  }

  #remember(record: RunRecord): void {
    this.#history.push(record);
    if (this.#history.length > this.schedule.history) this.#history.shift();
  }
}

/**
 * An offset within the stagger that depends only on the name (FNV-1a), so it is the same at every
 * start.
 */
function staggerOf({ name, staggerMs }: Schedule): number {
  let hash = 0x81_1c_9d_c5;
  for (const unit of Buffer.from(name)) hash = Math.imul(hash ^ unit, 0x01_00_01_93) >>> 0;
  return Math.floor((hash / 2 ** 32) * staggerMs);
}
