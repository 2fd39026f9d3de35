/** Heap profiles of all threads: V8 samples allocations and drops those that are collected. */
import type { HeapProfiler } from "node:inspector";
import type { Clock } from "../kernel/base/clock.ts";
import type { Component } from "../kernel/supervisor/component.ts";
import { inspectThreads, type InspectedThread, type InspectedThreads } from "./threads.ts";
import { late, waitFor } from "../kernel/async/wait.ts";

/** On average one sample per this many bytes, as in Go; the cost is not measurable. */
export const HEAP_INTERVAL_BYTES = 512 * 1024;
const ANSWER_MS = 2_000;

/** Live sampled allocations of one thread since sampling began. */
export interface HeapThread {
  readonly thread: string;
  readonly profile: HeapProfiler.SamplingHeapProfile;
}

/** Samples while running. */
export interface HeapSampler extends Component {
  /**
   * Current samples; a thread that does not respond in time is missing. Empty while not running.
   */
  take(): Promise<readonly HeapThread[]>;
}

/** A sampler of all threads. Only one at a time: stopping it stops sampling for others, too. */
export function createHeapSampler(clock: Clock): HeapSampler {
  let threads: InspectedThreads | undefined;
  return {
    name: "heap-sampler",
    needs: [],
    readiness: "none",
    async start() {
      threads = await inspectThreads((thread) => {
        // A thread may end before it responds.
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
      // A thread that has not responded yet is skipped: requests to a thread blocked for days would
      // pile up.
      const awake = (threads?.list() ?? []).filter((thread) => !thread.busy());
      const profiles = await Promise.all(awake.map((thread) => takeFrom(thread, clock)));
      return profiles.filter((profile) => profile !== undefined);
    },
  };
}

async function takeFrom(thread: InspectedThread, clock: Clock): Promise<HeapThread | undefined> {
  try {
    const profile = thread.ask<{ readonly profile: HeapProfiler.SamplingHeapProfile }>(
      "HeapProfiler.getSamplingProfile",
    );
    const answer = await waitFor(profile, { clock, timeoutMs: ANSWER_MS });
    return answer === late ? undefined : { thread: thread.name, profile: answer.profile };
  } catch {
    // The thread ended.
    return undefined;
  }
}
