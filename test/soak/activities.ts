/** Runs activities again and again, each at its own pace and never twice at once, and counts how they end. */
import { setTimeout as sleep } from "node:timers/promises";

/** Something that a user of the daemon does. It rejects when the daemon does not do what it should. */
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

/** Starts all of them; `stop` waits until the last one has ended. */
export function startActivities(activities: readonly Activity[]): { readonly outcomes: readonly Outcome[]; stop(): Promise<void> } {
  const stopping = new AbortController();
  const outcomes = activities.map(({ name }): Outcome => ({ name, succeeded: 0, failed: 0, reason: "" }));
  const loops = activities.map((activity, at) => repeat(activity, outcomes[at] as Outcome, stopping.signal));
  return {
    outcomes,
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function repeat(activity: Activity, outcome: Outcome, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const beganMs = performance.now();
    try {
      await activity.run(AbortSignal.any([stopping, AbortSignal.timeout(DEADLINE_MS)]));
      outcome.succeeded += 1;
    } catch (error) {
      if (stopping.aborted) return;
      outcome.failed += 1;
      outcome.reason = String(error);
    }
    const restMs = Math.max(0, activity.everyMs - (performance.now() - beganMs));
    await sleep(restMs, undefined, { signal: stopping }).catch(() => undefined);
  }
}
