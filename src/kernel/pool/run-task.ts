/** Runs a task in a worker: imports its file and replies with its value or its error as data. */
import { writeError } from "../base/error-message.ts";
import { addUnits, isCancelled, setStarted } from "./control.ts";
import type { AttemptMessage, AttemptReply } from "./message.ts";
import type { TaskControl } from "./types.ts";

interface TaskModule {
  readonly run?: (input: unknown, control: TaskControl) => unknown;
}

/** A reply, and the buffers of its value that are to be moved. */
export interface TaskEnd {
  readonly reply: AttemptReply;
  readonly moved: ArrayBuffer[];
}

/** Runs one attempt. Never throws. */
export async function runTask(message: AttemptMessage): Promise<TaskEnd> {
  const moved: ArrayBuffer[] = [];
  setStarted(message.words);
  const control: TaskControl = {
    cancelled: () => isCancelled(message.words),
    step: (units) => addUnits(message.words, units),
    transfer: (buffer) => void moved.push(buffer),
  };
  try {
    const module = (await import(message.file)) as TaskModule;
    if (typeof module.run !== "function")
      throw new Error(`${message.file} exports no function run`);
    return { reply: { ok: true, value: await module.run(message.input, control) }, moved };
  } catch (error) {
    return { reply: { ok: false, error: writeError(error) }, moved: [] };
  }
}
