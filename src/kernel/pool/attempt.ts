/**
 * One attempt to run a task on a worker thread: cancels through shared memory, terminates a thread
 * that ignores it, and tells a dead worker from an error.
 */
import type { Piscina } from "piscina";
import { StewardError, toStewardError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import { createControlWords, hasStarted, setCancelled } from "./control.ts";
import type { ControlWords } from "./control.ts";
import type { AttemptMessage, AttemptReply } from "./message.ts";

/** How long a task may ignore its cancellation. */
const CANCEL_GRACE_MS = 150;

export type AttemptEnd =
  | { readonly kind: "reply"; readonly reply: AttemptReply }
  | { readonly kind: "unsendable"; readonly error: Error }
  /** No process can be made for it. */
  | { readonly kind: "unstarted"; readonly error: Error }
  | { readonly kind: "died"; readonly outOfHeap: boolean; readonly error: Error };

/** A running attempt. */
export interface Attempt {
  readonly words: ControlWords;
  /** Resolves when the thread is free or gone. Never rejects. */
  readonly end: Promise<AttemptEnd>;
  /** Requests cancellation and terminates the thread after the grace period. */
  cancel(): void;
  /** Terminates the thread now. */
  kill(): void;
  hasStarted(): boolean;
}

/** Starts an attempt. Requires a free thread. */
export function startAttempt(
  piscina: Piscina,
  clock: Clock,
  work: { file: string; input: unknown; transfer: readonly ArrayBuffer[] },
): Attempt {
  const words = createControlWords();
  const killer = new AbortController();
  const message: AttemptMessage = { file: work.file, input: work.input, words };
  let timer: Disposable | undefined;
  const end = piscina
    .run(message, { signal: killer.signal, transferList: [...work.transfer] })
    .then(
      (reply: unknown): AttemptEnd => ({ kind: "reply", reply: reply as AttemptReply }),
      describeFailure,
    )
    .finally(() => timer?.[Symbol.dispose]());
  const kill = (): void =>
    killer.abort(new StewardError("internal", "the worker thread was terminated"));
  return {
    words,
    end,
    kill,
    cancel() {
      setCancelled(words);
      timer ??= clock.timer(clock.monotonic() + CANCEL_GRACE_MS, kill);
    },
    hasStarted: () => hasStarted(words),
  };
}

function describeFailure(thrown: unknown): AttemptEnd {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (error.name === "DataCloneError") return { kind: "unsendable", error };
  return { kind: "died", outOfHeap: toStewardError(error).code === "exhausted", error };
}
