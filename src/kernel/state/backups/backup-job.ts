/**
 * Makes a backup of this process's stores in a child process: reading and hashing take no time of
 * the main thread, and it can be killed at any moment. This process writes nothing while the child
 * opens the stores.
 */
import { fork, type ChildProcess } from "node:child_process";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { StewardError } from "../../base/errors.ts";
import type { Code } from "../../base/errors.ts";
import type { BackupManifest, StoreLocation } from "./folder-backup.ts";
import { late, waitFor } from "../../async/wait.ts";
import { systemClock } from "../../base/clock.ts";
import { holdWrites } from "../file/write-gate.ts";

/** Lower priority than all other work of the process. */
const NICENESS = 10;
/** Time for cleaning up after the stop signal. */
const STOP_MS = 5_000;
/** Bounds how long writes wait for the child: once for a write under way, once for its opening. */
const QUIET_MS = 10_000;

export interface BackupJob {
  readonly directory: string;
  readonly target: string;
  readonly derived: readonly string[];
  readonly elsewhere?: readonly StoreLocation[];
  readonly version: string;
}

/** What the child asks for before it opens the stores, and what it is told then. */
export const QUIET = "quiet";
/** What the child says once all stores are opened and pinned. */
export const PINNED = "pinned";

export type BackupReply =
  | { readonly manifest: BackupManifest }
  /** `message` may be shown to anybody; `text` is what was thrown, for the log. */
  | {
      readonly error: {
        readonly code: Code;
        readonly message: string;
        readonly text: string;
        readonly remedy: string | undefined;
      };
    };

/** Makes a backup and tests it. Throws on any failure; the target then holds no complete backup. */
export type RunBackup = (job: BackupJob, signal: AbortSignal) => Promise<BackupManifest>;

/**
 * Runs the job in a process without this one's environment, which may hold secrets. Throws the
 * signal's reason when that fires.
 */
export const runBackupProcess: RunBackup = async (job, signal) => {
  signal.throwIfAborted();
  const child = fork(fileURLToPath(new URL("backup-process.ts", import.meta.url)), [], {
    env: {},
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const stop = (): void => {
    child.kill("SIGTERM");
    systemClock.timer(systemClock.monotonic() + STOP_MS, () => child.kill("SIGKILL"));
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const reply = await converse(child, job);
    signal.throwIfAborted();
    if ("manifest" in reply) return reply.manifest;
    const { code, message, text, remedy } = reply.error;
    throw new StewardError(code, message, {
      ...(remedy === undefined ? {} : { remedy }),
      ...(text === message ? {} : { cause: new Error(text) }),
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

/** Sends the job and resolves with the reply, once the child has ended. */
async function converse(child: ChildProcess, job: BackupJob): Promise<BackupReply> {
  /** All stores are opened and pinned, or never will be. */
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<string>();
  let reply: BackupReply | undefined;
  let failure: unknown;
  child.once("spawn", () => lower(child.pid));
  child.on("error", closed.reject);
  child.once("close", (code, by) => {
    opened.resolve();
    closed.resolve(String(by ?? code));
  });
  child.on("message", (message) => {
    if (message === PINNED) opened.resolve();
    else if (message !== QUIET) reply = message as BackupReply;
    else
      holdForOpening(child, opened.promise).catch((error) => {
        failure = error;
        child.kill("SIGKILL");
      });
  });
  child.send(job);
  const ended = await closed.promise;
  if (reply !== undefined) return reply;
  throw (
    failure ?? new StewardError("internal", `the process that makes the backup ended with ${ended}`)
  );
}

/** Holds the writes until the child has pinned the stores or is gone. */
function holdForOpening(child: ChildProcess, opened: Promise<void>): Promise<void> {
  return holdWrites(QUIET_MS, async () => {
    child.send(QUIET);
    if ((await waitFor(opened, { clock: systemClock, timeoutMs: QUIET_MS })) !== late) return;
    // It must not open a store later, when this process writes again.
    child.kill("SIGKILL");
    await opened;
    throw new StewardError(
      "not_ready",
      `the process that makes the backup has not opened the stores within ${QUIET_MS} ms`,
      { remedy: "see whether the disk answers, then try again" },
    );
  });
}

function lower(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, NICENESS);
  } catch {
    // Lowering the priority may be forbidden or the process may have ended; the backup works
    // without it.
  }
}
