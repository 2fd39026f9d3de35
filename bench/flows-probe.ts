/**
 * Loaded into the measured daemon (`node --import`): passes the orders of `bench/flows.ts` to the
 * probes of its threads, and their reports back.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { BroadcastChannel, isMainThread } from "node:worker_threads";
import { PROBE_CHANNEL, type ProbeOrder, type ProbeReport } from "./thread-probe.ts";
import type { DaemonReport } from "./flows-protocol.ts";

/** Threads answer in this time, or stand still. */
const ANSWER_MS = 500;

if (isMainThread && process.send !== undefined) {
  const probes = new BroadcastChannel(PROBE_CHANNEL);
  const threads: ProbeReport[] = [];
  probes.addEventListener("message", (event) => {
    const { data } = event as unknown as { readonly data: ProbeOrder | ProbeReport };
    if (typeof data === "object") threads.push(data);
  });
  probes.unref();
  process.on("message", (order: ProbeOrder) => {
    threads.length = 0;
    probes.postMessage(order);
    if (order === "end")
      void sleep(ANSWER_MS).then(() => process.send?.({ threads } satisfies DaemonReport));
  });
  process.channel?.unref();
}
