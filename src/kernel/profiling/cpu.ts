/**
 * Where the threads of this process spend their time: V8's own sampling, on every thread at once.
 */
import type { Profiler } from "node:inspector";
import { delay, type Clock } from "../base/clock.ts";
import { inspectThreads, type InspectedThread } from "./threads.ts";

/** Time between samples: a hundred a second, as continuous profilers have it. */
export const CPU_PERIOD_US = 10_000;
/** A thread that does not answer by then waits outside of JavaScript: it has nothing to tell. */
const ANSWER_MS = 2_000;

/** What one thread did. */
export interface CpuThread {
  readonly thread: string;
  readonly profile: Profiler.Profile;
}

/** Records until it is stopped, or cancelled. */
export interface CpuRecording {
  /**
   * The profiles of the threads that answer; those that ended meanwhile are missing. To be called
   * once.
   */
  stop(): Promise<readonly CpuThread[]>;
  /** Ends it with nothing. */
  cancel(): void;
}

/** Begins to record, threads that start later included. Recordings do not disturb one another. */
export async function recordCpu(clock: Clock): Promise<CpuRecording> {
  const begun = new Map<InspectedThread, Promise<void>>();
  const threads = await inspectThreads((thread) => {
    const start = startOn(thread);
    // Whoever stops it hears of it; a thread may end before.
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
  const giveUp = new AbortController();
  try {
    const profile = begun?.then(() =>
      thread.ask<{ readonly profile: Profiler.Profile }>("Profiler.stop"),
    );
    const answer = await Promise.race([profile, delay(clock, ANSWER_MS, giveUp.signal)]);
    return answer === undefined ? undefined : { thread: thread.name, profile: answer.profile };
  } catch {
    // It ended, or never began.
    return undefined;
  } finally {
    giveUp.abort();
  }
}
