/**
 * Worker processes, for tasks that may end the process they run in: V8 does that when one
 * allocation exceeds the heap limit of a thread (nodejs/node#47224).
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "../base/clock.ts";
import type { Attempt, AttemptEnd } from "./attempt.ts";
import { createControlWords } from "./control.ts";
import { EXHAUSTED_STATUS, type AttemptReply, type ProcessMessage } from "./message.ts";

export interface WorkerProcesses {
  /** Starts an attempt in an idle process or a new one. */
  startAttempt(message: ProcessMessage): Attempt;
  /** Ends all of them. Requires that no attempt runs. */
  close(): Promise<void>;
}

export interface WorkerProcessesOptions {
  /** JavaScript heap of one process in MiB. */
  readonly heapMb: number;
  readonly youngMb: number;
  /** How long one waits for work before it ends. */
  readonly idleMs: number;
  readonly clock: Clock;
}

/** No process is there before the first attempt. */
export function createWorkerProcesses(options: WorkerProcessesOptions): WorkerProcesses {
  const { idleMs, clock } = options;
  const living = new Set<ChildProcess>();
  /** With what ends it in time. */
  const idle = new Map<ChildProcess, Disposable>();
  const take = (): ChildProcess => {
    for (const [child, timer] of idle) {
      idle.delete(child);
      timer[Symbol.dispose]();
      hold(child, true);
      return child;
    }
    const child = start(options);
    // One that could not be made emits no exit.
    if (child.pid !== undefined) living.add(child);
    child.once("exit", () => {
      living.delete(child);
      idle.get(child)?.[Symbol.dispose]();
      idle.delete(child);
    });
    return child;
  };
  const keep = (child: ChildProcess): void => {
    hold(child, false);
    const end = (): void => {
      // From now on no attempt may take it, though its exit comes later.
      idle.delete(child);
      child.kill("SIGKILL");
    };
    idle.set(child, clock.timer(clock.monotonic() + idleMs, end));
  };
  return {
    startAttempt(message) {
      let child: ChildProcess;
      try {
        child = take();
      } catch (thrown) {
        return unstarted(thrown as Error);
      }
      const kill = (): void => void child.kill("SIGKILL");
      const end = converse(child, message).then((ended) => {
        if (ended.kind === "reply" || ended.kind === "unsendable") keep(child);
        return ended;
      });
      return {
        words: createControlWords(),
        end,
        kill,
        // It cannot be told to stop: it shares no memory.
        cancel: kill,
        hasStarted: () => true,
      };
    },
    async close() {
      await Promise.all(
        [...living].map(async (child) => {
          const exit = once(child, "exit");
          hold(child, true);
          child.kill("SIGKILL");
          await exit;
        }),
      );
    },
  };
}

function unstarted(error: Error): Attempt {
  const end: AttemptEnd = { kind: "unstarted", error };
  return {
    words: createControlWords(),
    end: Promise.resolve(end),
    kill: () => undefined,
    cancel: () => undefined,
    hasStarted: () => true,
  };
}

function start({ heapMb, youngMb }: WorkerProcessesOptions): ChildProcess {
  // Node puts a folder of its version into the one that it is told.
  const cache = getCompileCacheDir();
  const program = fileURLToPath(new URL("./process-runner.ts", import.meta.url));
  const child = fork(program, [String(heapMb), String(youngMb)], {
    // Nothing of this one's environment, which may hold secrets.
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
    serialization: "advanced",
    // V8 prints a lot about an allocation that fails.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  // Outside of an attempt an error, such as of a kill, tells nothing.
  child.on("error", () => undefined);
  return child;
}

/** Whether the process keeps this one from ending. */
function hold(child: ChildProcess, held: boolean): void {
  if (held) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}

async function converse(child: ChildProcess, message: ProcessMessage): Promise<AttemptEnd> {
  const { promise, resolve } = Promise.withResolvers<AttemptEnd>();
  const reply = (value: unknown): void => resolve({ kind: "reply", reply: value as AttemptReply });
  const fail = (error: Error): void => resolve({ kind: "unstarted", error });
  const exit = (code: number | null, signal: string | null): void =>
    resolve({
      kind: "died",
      // A signal is V8's answer to an allocation that is too large, or the system's to a want of
      // memory.
      outOfHeap: signal !== null || code === EXHAUSTED_STATUS,
      error: new Error(`the worker process ended with ${signal ?? code}`),
    });
  child.on("message", reply).on("error", fail).on("exit", exit);
  try {
    // What cannot be delivered has no process any more, and how that ended says more.
    if (child.connected) child.send(message, () => undefined);
    return await promise;
  } catch (thrown) {
    return { kind: "unsendable", error: thrown as Error };
  } finally {
    child.off("message", reply).off("error", fail).off("exit", exit);
  }
}
