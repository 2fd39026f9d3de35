/** Work that a profile must show by name, in this thread and in another. */
import { Worker } from "node:worker_threads";

export function turnMill(ms: number): number {
  const endMs = performance.now() + ms;
  let grain = 0;
  while (performance.now() < endMs) grain += Math.sqrt(grain + 1);
  return grain;
}

/** A worker that works half of its time, and holds some memory. */
export async function openBusyWorker(name: string): Promise<Worker> {
  const code = `
    function grindWheel(ms) { const end = performance.now() + ms; let grain = 0; while (performance.now() < end) grain += Math.sqrt(grain + 1); return grain; }
    function fillBarn() { globalThis.barn = Array.from({ length: 100_000 }, (_, index) => ({ index, hay: [index] })); }
    fillBarn();
    setInterval(() => grindWheel(20), 40);
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", () => {
      fillBarn();
      parentPort.postMessage("filled");
    });
    parentPort.postMessage("up");`;
  const worker = new Worker(code, { eval: true, name });
  await new Promise((resolve) => worker.once("message", resolve));
  return worker;
}

/** Has a busy worker hold other memory of the same size. */
export async function fillAnew(worker: Worker): Promise<void> {
  const filled = new Promise((resolve) => worker.once("message", resolve));
  worker.postMessage("fill");
  await filled;
}
