/**
 * A pool without threads for tests: imports the task and runs it here, one input after the other.
 */
import type { Pool, TaskControl } from "../../src/kernel/pool/types.ts";

const control: TaskControl = {
  cancelled: () => false,
  step: () => undefined,
  transfer: () => undefined,
};

interface TaskModule {
  readonly run: (input: unknown, control: TaskControl) => never;
}

// Once loaded, a task also runs where its file may no longer be read.
const modules = new Map<string, TaskModule>();

/** Counts the runs of each task; `fail` makes an input fail, with an error of its own or any. */
export interface InlinePool extends Pool {
  readonly runs: Record<string, number>;
}

/** A pool whose tasks run at once. */
export function createInlinePool(
  fail: (input: unknown) => boolean | Error = () => false,
): InlinePool {
  const runs: Record<string, number> = {};
  const run: Pool["run"] = async (task, input, options) => {
    options.signal.throwIfAborted();
    runs[task.name] = (runs[task.name] ?? 0) + 1;
    const failure = fail(input);
    if (failure !== false)
      throw failure instanceof Error ? failure : new Error("the input broke the task");
    const module = modules.get(task.file.href) ?? ((await import(task.file.href)) as TaskModule);
    modules.set(task.file.href, module);
    return module.run(input, control);
  };
  return {
    runs,
    run,
    async *map(task, inputs, options) {
      for await (const input of inputs) yield await run(task, input, options);
    },
    status: () => ({ threads: 0, running: 0, queued: 0, limit: 0, crashed: 0 }),
    close: () => Promise.resolve(),
  };
}
