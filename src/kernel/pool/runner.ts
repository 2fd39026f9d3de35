/** Entry point of every worker thread. */
import { Piscina } from "piscina";
import type { AttemptMessage } from "./message.ts";
import { runTask } from "./run-task.ts";

/**
 * Runs one attempt; returns an AttemptReply, wrapped in Piscina's move when buffers are
 * transferred. Never throws.
 */
export async function runAttempt(message: AttemptMessage): Promise<unknown> {
  const { reply, moved } = await runTask(message);
  if (moved.length === 0) return reply;
  const movable = { [Piscina.transferableSymbol]: moved, [Piscina.valueSymbol]: reply };
  return Piscina.move(movable as unknown as Parameters<typeof Piscina.move>[0]);
}
