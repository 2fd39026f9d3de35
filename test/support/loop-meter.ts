/**
 * Loaded into a daemon by `NODE_OPTIONS=--import`: measures how long one turn of the main thread's
 * event loop runs. A connection to the socket named by LOOP_METER_SOCKET gets the longest turn
 * since the last connection, as JSON; a number that it sends keeps the thread busy for so many
 * milliseconds. It counts the thread's CPU time, not the wall clock, so that other processes on the
 * machine do not lengthen a turn.
 */
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";

/** What the socket answers with. */
export interface LoopReading {
  /** CPU milliseconds of the longest turn. */
  readonly turnMs: number;
  /** Wall-clock milliseconds of the longest gap between two timers. */
  readonly gapMs: number;
}

/** Keeps the thread busy, so that a test sees that the meter works. */
function block(ms: number): void {
  const from = process.threadCpuUsage();
  let used = 0;
  while (used < ms) {
    const cpu = process.threadCpuUsage(from);
    used = (cpu.user + cpu.system) / 1000;
  }
}

const socket = process.env["LOOP_METER_SOCKET"];
if (isMainThread && socket !== undefined) meter(socket);

function meter(path: string): void {
  let cpu = process.threadCpuUsage();
  let at = performance.now();
  let turnMs = 0;
  let gapMs = 0;
  const look = (): void => {
    const cpuNow = process.threadCpuUsage();
    const now = performance.now();
    turnMs = Math.max(turnMs, (cpuNow.user + cpuNow.system - cpu.user - cpu.system) / 1000);
    gapMs = Math.max(gapMs, now - at);
    [cpu, at] = [cpuNow, now];
  };
  setInterval(look, 1).unref();
  const server = createServer((client) => {
    client.on("data", (text) => block(Number(String(text))));
    look();
    client
      .on("error", () => undefined)
      .end(JSON.stringify({ turnMs, gapMs } satisfies LoopReading));
    [turnMs, gapMs] = [0, 0];
  });
  server.listen(path).unref();
}
