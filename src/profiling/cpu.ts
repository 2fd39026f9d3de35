/** CPU profiles of all threads of the process with V8's sampling profiler. */
import type { Profiler } from "node:inspector";
import type { Clock } from "../kernel/base/clock.ts";
import { inspectThreads, type InspectedThread, type InspectedThreads } from "./threads.ts";
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

/** Records again and again, one recording at a time. Recorders are independent of each other. */
export interface CpuRecorder {
  /**
   * Starts recording, including threads that start later. A thread that still owes the answer to
   * an earlier recording is left out.
   */
  record(): Promise<CpuRecording>;
  /** Ends what is recorded and detaches. */
  close(): Promise<void>;
}

type Begun = Map<InspectedThread, Promise<void>>;

/**
 * Attaches at the first recording and stays attached: Node keeps the sessions of worker threads,
 * and what they record, until the worker ends, even when the session to the process is closed.
 */
export function createCpuRecorder(clock: Clock): CpuRecorder {
  let attached: InspectedThreads | undefined;
  let recording: Begun | undefined;

  const begin = (thread: InspectedThread): void => {
    if (recording === undefined || thread.busy()) return;
    const start = startOn(thread);
    // `stop` reports it as missing; a thread may end before.
    start.catch(() => undefined);
    recording.set(thread, start);
  };

  async function end(begun: Begun): Promise<readonly CpuThread[]> {
    if (recording === begun) recording = undefined;
    const alive = attached?.list() ?? [];
    const profiles = await Promise.all(
      alive.map((thread) => stopOn(thread, begun.get(thread), clock)),
    );
    return profiles.filter((profile) => profile !== undefined);
  }

  return {
    async record() {
      attached ??= await inspectThreads(begin);
      const begun: Begun = new Map();
      recording = begun;
      for (const thread of attached.list()) begin(thread);
      return { stop: () => end(begun), cancel: () => void end(begun) };
    },
    async close() {
      if (recording !== undefined) await end(recording);
      attached?.close();
      attached = undefined;
    },
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
