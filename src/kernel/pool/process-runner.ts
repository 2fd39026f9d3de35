/**
 * Entry point of every worker process: its thread runs the tasks, and its main thread ends it as
 * soon as the pool's process is gone, whatever the task does to the thread.
 */
import { writeFileSync } from "node:fs";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { writeError } from "../base/error-message.ts";
import { createControlWords } from "./control.ts";
import { EXHAUSTED_STATUS, type ProcessMessage } from "./message.ts";
import { runTask } from "./run-task.ts";

if (isMainThread) relay();
else parentPort?.on("message", (message: ProcessMessage) => void serve(message));

function relay(): void {
  const [maxOldGenerationSizeMb, maxYoungGenerationSizeMb] = process.argv.slice(2).map(Number);
  const thread = new Worker(new URL("./process-runner.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb },
  });
  thread.on("message", (reply) => process.send?.(reply));
  thread.on("error", ({ code }: NodeJS.ErrnoException) =>
    process.exit(code === "ERR_WORKER_OUT_OF_MEMORY" ? EXHAUSTED_STATUS : 1),
  );
  thread.on("exit", (code) => process.exit(code));
  process.on("message", (message) => thread.postMessage(message));
  process.on("disconnect", () => process.exit());
  offerToEnd();
  // A terminal sends them to all processes; the pool's decides when its work ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
}

async function serve(message: ProcessMessage): Promise<void> {
  const { reply, moved } = await runTask({ ...message, words: createControlWords() });
  try {
    parentPort?.postMessage(reply, moved);
  } catch (error) {
    parentPort?.postMessage({ ok: false, error: writeError(error) });
  }
}

/** Where the machine has no memory left, Linux ends this process before the pool's. */
function offerToEnd(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // Other systems choose by themselves.
  }
}
