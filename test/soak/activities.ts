/**
 * Runs activities again and again, each at its own pace and never twice at once, and counts how
 * they end.
 */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Something that a user of the daemon does. It rejects when the daemon does not do what it should.
 */
export interface Activity {
  readonly name: string;
  readonly everyMs: number;
  run(signal: AbortSignal): Promise<void>;
}

/** How an activity went so far. */
export interface Outcome {
  readonly name: string;
  succeeded: number;
  failed: number;
  /** Of the last failure. */
  reason: string;
}

/** An activity that takes longer has failed. */
const DEADLINE_MS = 120_000;

/** Activities that run until they are stopped. */
export interface Running {
  readonly outcomes: readonly Outcome[];
  /** Begins nothing more until `resume`; what has begun goes on to its end. */
  pause(): void;
  resume(): void;
  /** Waits until the last one has ended. */
  stop(): Promise<void>;
}

/** Starts all of them. */
export function startActivities(activities: readonly Activity[]): Running {
  const stopping = new AbortController();
  const outcomes = activities.map(({ name }): Outcome => ({
    name,
    succeeded: 0,
    failed: 0,
    reason: "",
  }));
  let paused = false;
  const repeat = async (activity: Activity, outcome: Outcome): Promise<void> => {
    while (!stopping.signal.aborted) {
      const beganMs = performance.now();
      if (!paused) await runOnce(activity, outcome, stopping.signal);
      const restMs = Math.max(0, activity.everyMs - (performance.now() - beganMs));
      await sleep(restMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const loops = activities.map((activity, at) => repeat(activity, outcomes[at] as Outcome));
  return {
    outcomes,
    pause: () => void (paused = true),
    resume: () => void (paused = false),
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function runOnce(activity: Activity, outcome: Outcome, stopping: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const timer = setTimeout(
    () => ended.abort(new Error(`not done within ${DEADLINE_MS} ms`)),
    DEADLINE_MS,
  );
  const abort = (): void => ended.abort();
  stopping.addEventListener("abort", abort, { once: true });
  try {
    await activity.run(ended.signal);
    outcome.succeeded += 1;
  } catch (error) {
    if (stopping.aborted) return;
    outcome.failed += 1;
    outcome.reason = String(error);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", abort);
  }
}
