/** Scheduler of recurring work: staggered, never overlapping, cancelled with the process. */
import type { Clock } from "../base/clock.ts";
import { assert } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Component } from "./component.ts";
import { ScheduleRunner } from "./schedule-runner.ts";
import type { Schedule, ScheduleHandle, Scheduler } from "./schedule.ts";
import { waitFor } from "../async/wait.ts";

const MAX_SCHEDULES = 1000;
const MAX_HISTORY = 1000;

export interface SchedulerDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export interface SchedulerOptions {
  /** The component's name. */
  readonly name: string;
  readonly needs?: readonly string[];
}

/**
 * A scheduler as a component: nothing runs before its start, and its stop cancels and awaits
 * current runs.
 */
export function createScheduler(
  deps: SchedulerDeps,
  options: SchedulerOptions,
): Scheduler & Component {
  const runners = new Map<string, ScheduleRunner>();
  let started = false;
  let pausedBy: string | undefined;

  const add = (schedule: Schedule): ScheduleHandle => {
    assert(!runners.has(schedule.name), `the schedule ${schedule.name} is added once`);
    assert(runners.size < MAX_SCHEDULES, `${options.name} has at most ${MAX_SCHEDULES} schedules`);
    assert(
      schedule.everyMs >= 1 && schedule.staggerMs >= 0,
      `${schedule.name} comes again after some time`,
    );
    assert(
      Number.isInteger(schedule.history) &&
        schedule.history >= 0 &&
        schedule.history <= MAX_HISTORY,
      `${schedule.name} remembers 0 to ${MAX_HISTORY} runs`,
    );
    const runner = new ScheduleRunner(schedule, deps);
    runners.set(schedule.name, runner);
    if (started) runner.start();
    if (pausedBy !== undefined) runner.pause(pausedBy);
    return {
      runNow: () => runner.runNow(),
      status: () => runner.status(),
      remove() {
        if (runners.get(schedule.name) === runner) runners.delete(schedule.name);
        return runner.end(`the schedule ${schedule.name} was removed`);
      },
    };
  };
  return {
    add,
    status: () => [...runners.values()].map((runner) => runner.status()),
    pause(reason) {
      pausedBy = reason;
      for (const runner of runners.values()) runner.pause(reason);
    },
    resume() {
      pausedBy = undefined;
      for (const runner of runners.values()) runner.resume();
    },
    paused: () => pausedBy,
    name: options.name,
    needs: options.needs ?? [],
    readiness: "reported",
    start() {
      started = true;
      for (const runner of runners.values()) {
        runner.start();
        if (pausedBy !== undefined) runner.pause(pausedBy);
      }
      return Promise.resolve();
    },
    async stop(deadlineMs) {
      started = false;
      const ended = Promise.all(
        [...runners.values()].map((runner) => runner.end("the process is stopping")),
      );
      // A run that ignores its signal is abandoned; the stop is then reported as late.
      await waitFor(ended, { clock: deps.clock, timeoutMs: deadlineMs });
    },
  };
}
