/**
 * What the heaps of this process's threads are full of: V8 samples allocations and forgets those
 * that are collected.
 */
import type { HeapProfiler } from "node:inspector";
import type { Clock } from "../base/clock.ts";
import { delay } from "../base/clock.ts";
import type { Component } from "../supervisor/component.ts";
import { inspectThreads, type InspectedThread, type InspectedThreads } from "./threads.ts";

/**
 * On average one allocation in so many bytes is remembered, as Go has it: its cost cannot be
 * measured.
 */
export const HEAP_INTERVAL_BYTES = 512 * 1024;
const ANSWER_MS = 2_000;

/** What lives on one thread's heap of what was allocated since sampling began. */
export interface HeapThread {
  readonly thread: string;
  readonly profile: HeapProfiler.SamplingHeapProfile;
}

/** Samples while it runs. */
export interface HeapSampler extends Component {
  /** As of now; a thread that does not answer in time is missing. Nothing while it does not run. */
  take(): Promise<readonly HeapThread[]>;
}

/** A sampler of all threads. One at a time: what it stops is stopped for others, too. */
export function createHeapSampler(clock: Clock): HeapSampler {
  let threads: InspectedThreads | undefined;
  return {
    name: "heap-sampler",
    needs: [],
    readiness: "none",
    async start() {
      threads = await inspectThreads((thread) => {
        // A thread may end before it answers.
        thread
          .ask("HeapProfiler.startSampling", { samplingInterval: HEAP_INTERVAL_BYTES })
          .catch(() => undefined);
      });
    },
    stop() {
      threads?.close();
      threads = undefined;
      return Promise.resolve();
    },
    async take() {
      // One that has not answered yet is not asked again: questions to a thread that sleeps for
      // days would pile up.
      const awake = (threads?.list() ?? []).filter((thread) => !thread.busy());
      const profiles = await Promise.all(awake.map((thread) => takeFrom(thread, clock)));
      return profiles.filter((profile) => profile !== undefined);
    },
  };
}

async function takeFrom(thread: InspectedThread, clock: Clock): Promise<HeapThread | undefined> {
  const giveUp = new AbortController();
  try {
    const answer = await Promise.race([
      thread.ask<{ readonly profile: HeapProfiler.SamplingHeapProfile }>(
        "HeapProfiler.getSamplingProfile",
      ),
      delay(clock, ANSWER_MS, giveUp.signal),
    ]);
    return answer === undefined ? undefined : { thread: thread.name, profile: answer.profile };
  } catch {
    // It ended.
    return undefined;
  } finally {
    giveUp.abort();
  }
}
