/** CPU profiles of all threads of the process with V8's sampling profiler. */
import type { Profiler } from "node:inspector";
import type { Clock } from "../kernel/base/clock.ts";
import { inspectThreads, type InspectedThread } from "./threads.ts";
import { late, waitFor } from "../kernel/async/wait.ts";

/** Sampling interval: 100 Hz, as usual for continuous profilers. */
export const CPU_PERIOD_US = 10_000;
/**
 * A thread that does not respond in time is blocked outside of JavaScript and has nothing to
 * report.
 */
const ANSWER_MS = 2_000;

/** Profile of one thread. */
export interface CpuThread {
  readonly thread: string;
  readonly profile: Profiler.Profile;
}

/** Records until stopped or cancelled. */
export interface CpuRecording {
  /** Profiles of the threads that respond; those that ended meanwhile are missing. Call once. */
  stop(): Promise<readonly CpuThread[]>;
  /** Discards the recording. */
  cancel(): void;
}

/** Starts recording, including threads that start later. Concurrent recordings are independent. */
export async function recordCpu(clock: Clock): Promise<CpuRecording> {
  const begun = new Map<InspectedThread, Promise<void>>();
  const threads = await inspectThreads((thread) => {
    const start = startOn(thread);
    // The caller of `stop` gets the error; a thread may end before.
    start.catch(() => undefined);
    begun.set(thread, start);
  });
  return {
    async stop() {
      try {
        const profiles = await Promise.all(
          threads.list().map((thread) => stopOn(thread, begun.get(thread), clock)),
        );
        return profiles.filter((profile) => profile !== undefined);
      } finally {
        threads.close();
      }
    },
    cancel: () => threads.close(),
  };
}

async function startOn(thread: InspectedThread): Promise<void> {
  await Promise.all([
    thread.ask("Profiler.enable"),
    thread.ask("Profiler.setSamplingInterval", { interval: CPU_PERIOD_US }),
    thread.ask("Profiler.start"),
  ]);
}

async function stopOn(
  thread: InspectedThread,
  begun: Promise<void> | undefined,
  clock: Clock,
): Promise<CpuThread | undefined> {
  if (begun === undefined) return undefined;
  try {
    const profile = begun.then(() =>
      thread.ask<{ readonly profile: Profiler.Profile }>("Profiler.stop"),
    );
    const answer = await waitFor(profile, { clock, timeoutMs: ANSWER_MS });
    return answer === late ? undefined : { thread: thread.name, profile: answer.profile };
  } catch {
    // The thread ended, or never began.
    return undefined;
  }
}
