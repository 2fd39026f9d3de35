/**
 * Makes a backup in a child process: reading and hashing take no time of the main thread, it can be
 * killed at any moment, and the stores are copied as of one instant, as `steward backup` does.
 */
import { fork } from "node:child_process";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { StewardError } from "../../base/errors.ts";
import type { Code } from "../../base/errors.ts";
import type { BackupManifest, StoreLocation } from "./folder-backup.ts";
import { systemClock } from "../../base/clock.ts";

/** Lower priority than all other work of the process. */
const NICENESS = 10;
/** Time for cleaning up after the stop signal. */
const STOP_MS = 5_000;

export interface BackupJob {
  readonly directory: string;
  readonly target: string;
  readonly derived: readonly string[];
  readonly elsewhere?: readonly StoreLocation[];
  readonly version: string;
}

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
    const reply = await new Promise<BackupReply>((resolve, reject) => {
      let reply: BackupReply | undefined;
      child.once("spawn", () => lower(child.pid));
      child.once("message", (message) => (reply = message as BackupReply));
      child.once("error", reject);
      child.once("close", (code, by) =>
        reply === undefined
          ? reject(
              new StewardError(
                "internal",
                `the process that makes the backup ended with ${by ?? code}`,
              ),
            )
          : resolve(reply),
      );
      child.send(job);
    });
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

function lower(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, NICENESS);
  } catch {
    // Lowering the priority may be forbidden or the process may have ended; the backup works
    // without it.
  }
}
