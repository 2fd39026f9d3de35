/**
 * Loaded before anything else into every thread of a measured process (`node --import`): a 2 ms
 * timer that knows how long the thread stood still, and V8's own count of what was allocated. Asked
 * and answering over a BroadcastChannel, so that no code that is measured knows of it.
 */
import { readFileSync } from "node:fs";
import { GCProfiler, getHeapStatistics } from "node:v8";
import { BroadcastChannel, isMainThread, threadName } from "node:worker_threads";

/** The channel's name. */
export const PROBE_CHANNEL = "bench-thread-probe";
const PERIOD_MS = 2;

/** What may be asked: that counting begins anew, or what was counted since. */
export type ProbeOrder = "begin" | "end";

/** What a thread counted. */
export interface ProbeReport {
  readonly thread: string;
  /**
   * The longest gap beyond the timer's period, without the time in which the thread was ready and
   * had no core (Linux).
   */
  readonly stallMs: number;
  /** The same with that time. */
  readonly seenMs: number;
  /**
   * Bytes of the JavaScript heap: before each collection less what the one before had left. Buffers
   * outside of it are not in it.
   */
  readonly allocatedBytes: number;
  /** CPU time of the thread. */
  readonly cpuMs: number;
}

/**
 * Milliseconds that this thread was ready to run and had no core; 0 where the system does not tell.
 */
function waitedForCore(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

let last = performance.now();
let lastWaited = waitedForCore();
let [stallMs, seenMs] = [0, 0];
let profiler = new GCProfiler();
let left = getHeapStatistics().used_heap_size;
let cpuBefore = process.threadCpuUsage();

function look(): void {
  const [now, waited] = [performance.now(), waitedForCore()];
  seenMs = Math.max(seenMs, now - last - PERIOD_MS);
  stallMs = Math.max(stallMs, now - last - PERIOD_MS - (waited - lastWaited));
  [last, lastWaited] = [now, waited];
}

function begin(): void {
  profiler.stop();
  profiler = new GCProfiler();
  profiler.start();
  left = getHeapStatistics().used_heap_size;
  [last, lastWaited] = [performance.now(), waitedForCore()];
  [stallMs, seenMs] = [0, 0];
  cpuBefore = process.threadCpuUsage();
}

function end(): ProbeReport {
  look();
  let allocatedBytes = 0;
  for (const { beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
    allocatedBytes += Math.max(0, beforeGC.heapStatistics.usedHeapSize - left);
    left = afterGC.heapStatistics.usedHeapSize;
  }
  allocatedBytes += Math.max(0, getHeapStatistics().used_heap_size - left);
  const { user, system } = process.threadCpuUsage(cpuBefore);
  return {
    thread: isMainThread ? "main" : (threadName ?? ""),
    stallMs,
    seenMs,
    allocatedBytes,
    cpuMs: (user + system) / 1_000,
  };
}

const channel = new BroadcastChannel(PROBE_CHANNEL);
channel.addEventListener("message", (event) => {
  const { data } = event as unknown as { readonly data: ProbeOrder | ProbeReport };
  if (data === "begin") begin();
  else if (data === "end") channel.postMessage(end());
});
channel.unref();
setInterval(look, PERIOD_MS).unref();
