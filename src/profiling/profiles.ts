/** On-demand profiles of this process: gzip-compressed pprof, one CPU profile at a time. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { delay, type Clock } from "../kernel/base/clock.ts";
import { StewardError } from "../kernel/base/errors.ts";
import { CPU_PERIOD_US, createCpuRecorder, type CpuRecorder, type CpuRecording } from "./cpu.ts";
import { HEAP_INTERVAL_BYTES, type HeapSampler } from "./heap.ts";
import { formatCpuProfile, formatHeapProfile } from "./pprof.ts";

const compress = promisify(gzip);

export interface Profiles {
  /**
   * CPU time of all threads during this time. Throws `already_running` while another is recorded,
   * the signal's reason as soon as it fires.
   */
  cpu(durationMs: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Current heaps of all threads. */
  heap(): Promise<Uint8Array>;
}

export interface ProfilesDeps {
  readonly clock: Clock;
  readonly heap: Pick<HeapSampler, "take">;
}

export function createProfiles({ clock, heap }: ProfilesDeps): Profiles {
  const recorder = createCpuRecorder(clock);
  let recording = false;
  return {
    async cpu(durationMs, signal) {
      if (recording)
        throw new StewardError(
          "already_running",
          "a CPU profile is being recorded; try again when it has ended",
          { rule: "one_profile", remedy: "try again when it has ended" },
        );
      recording = true;
      try {
        return await record(recorder, { clock, durationMs, signal });
      } finally {
        recording = false;
      }
    },
    heap: () => currentHeap(clock, heap),
  };
}

/** A compressed profile of the live heap. */
export async function currentHeap(
  clock: Clock,
  heap: Pick<HeapSampler, "take">,
): Promise<Uint8Array> {
  const nowMs = clock.now();
  return await compress(
    formatHeapProfile(await heap.take(), { fromMs: nowMs, untilMs: nowMs }, HEAP_INTERVAL_BYTES),
  );
}

/** A compressed profile of the time since `fromMs`; ends the recording. */
export async function endRecording(
  clock: Clock,
  recording: CpuRecording,
  fromMs: number,
): Promise<Uint8Array> {
  const untilMs = clock.now();
  return await compress(
    formatCpuProfile(await recording.stop(), { fromMs, untilMs }, CPU_PERIOD_US),
  );
}

async function record(
  recorder: CpuRecorder,
  options: { readonly clock: Clock; readonly durationMs: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const { clock, durationMs, signal } = options;
  const fromMs = clock.now();
  const recording = await recorder.record();
  try {
    await delay(clock, durationMs, signal);
  } catch (left) {
    recording.cancel();
    throw left;
  }
  return await endRecording(clock, recording, fromMs);
}
