/**
 * A backup as a process of its own: its reading and hashing take no time of the main thread, it may
 * be killed at any moment, and the stores are copied as they stood together at one instant, as
 * `steward backup` does it.
 */
import { fork } from "node:child_process";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { StewardError } from "../base/errors.ts";
import type { Code } from "../base/errors.ts";
import type { BackupManifest, StoreLocation } from "./folder-backup.ts";

/** The process gives way to everything else. */
const NICENESS = 10;
/** How long it may take to clean up after it was told to stop. */
const STOP_MS = 5_000;

/** What to copy where. */
export interface BackupJob {
  readonly directory: string;
  readonly target: string;
  readonly derived: readonly string[];
  readonly elsewhere?: readonly StoreLocation[];
  readonly version: string;
}

/** What the process answers. */
export type BackupReply =
  | { readonly manifest: BackupManifest }
  /** `message` is for everybody, `text` what was thrown, for the log. */
  | {
      readonly error: {
        readonly code: Code;
        readonly message: string;
        readonly text: string;
        readonly remedy: string | undefined;
      };
    };

/**
 * Makes a backup and tests it. Throws what kept it from being whole; the target then holds no
 * complete one.
 */
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
    setTimeout(() => child.kill("SIGKILL"), STOP_MS).unref();
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
    // It has ended already, or may not: it works all the same.
  }
}
