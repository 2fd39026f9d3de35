/**
 * Entry point of every worker thread: imports the task's file, runs it and replies with its value
 * or its error as data.
 */
import { Piscina } from "piscina";
import { writeError } from "../base/error-message.ts";
import { addUnits, isCancelled, setStarted } from "./control.ts";
import type { AttemptMessage, AttemptReply } from "./message.ts";
import type { TaskControl } from "./types.ts";

interface TaskModule {
  readonly run?: (input: unknown, control: TaskControl) => unknown;
}

/**
 * Runs one attempt; returns an AttemptReply, wrapped in Piscina's move when buffers are
 * transferred. Never throws.
 */
export async function runAttempt(message: AttemptMessage): Promise<unknown> {
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
    const reply: AttemptReply = { ok: true, value: await module.run(message.input, control) };
    if (moved.length === 0) return reply;
    const movable = { [Piscina.transferableSymbol]: moved, [Piscina.valueSymbol]: reply };
    return Piscina.move(movable as unknown as Parameters<typeof Piscina.move>[0]);
  } catch (error) {
    return { ok: false, error: writeError(error) };
  }
}
