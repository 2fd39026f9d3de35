/**
 * `POST /backup` of the owner's socket. No other process can make a backup while the daemon writes
 * (docs/decisions/state-backup.md), so the daemon makes it in the state folder, where it may write,
 * and keeps it there until the command has copied it and closes the connection.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Call, PlainAnswer, PlainRoute } from "../../kernel/service.ts";
import type { BackupJob, RunBackup } from "../../kernel/state/backups/backup-job.ts";
import {
  BACKUP_PATH,
  STAGING,
  type StagedReply,
} from "../../kernel/state/backups/staged-backup.ts";

export interface BackupRouteDeps {
  readonly log: Log;
  readonly run: RunBackup;
  /** The state folder. */
  readonly directory: string;
  /** All of a job but where it goes; read for each backup. Throws when there is no room for one. */
  readonly job: () => Omit<BackupJob, "target">;
  /** Ends a backup that is being made. */
  readonly stopping: AbortSignal;
}

/** One backup at a time; a second one gets `conflict`. Not in the API description. */
export function backupRoute(deps: BackupRouteDeps): PlainRoute {
  let isBusy = false;
  return {
    verb: "POST",
    template: BACKUP_PATH,
    access: Access.OPERATOR,
    dialect: "monitor",
    longLived: true,
    async handle(_, call) {
      if (isBusy) throw new StewardError("conflict", "a backup is being made; try again later");
      isBusy = true;
      const end = async (): Promise<void> => {
        await removeStaged(deps.directory).catch((error: unknown) =>
          deps.log.warn("what a backup left cannot be removed", { error }),
        );
        isBusy = false;
      };
      try {
        return await stage(deps, call, end);
      } catch (error) {
        if (!call.signal.aborted) deps.log.warn("the backup for a command failed", { error });
        await end();
        throw error;
      }
    },
  };
}

/** Removes what a backup left in the state folder. */
export function removeStaged(directory: string): Promise<void> {
  return rm(join(directory, STAGING), { recursive: true, force: true });
}

async function stage(
  { log, run, directory, job, stopping }: BackupRouteDeps,
  { signal }: Call,
  end: () => Promise<void>,
): Promise<PlainAnswer> {
  await removeStaged(directory);
  const target = join(directory, STAGING);
  const manifest = await run({ ...job(), target }, AbortSignal.any([signal, stopping]));
  log.info("backup made for a command", { stores: manifest.stores.length });
  const reply: StagedReply = { directory: target, manifest };
  return {
    status: 200,
    // An event stream ends by itself when the daemon stops.
    headers: { "content-type": "text/event-stream" },
    body: heldOpen(`data: ${JSON.stringify(reply)}\n\n`, signal, end),
  };
}

/** Sends a text and nothing more until the client leaves or the listener stops; then calls `end` once. */
function heldOpen(
  text: string,
  signal: AbortSignal,
  end: () => Promise<void>,
): AsyncIterable<string> {
  const left = Promise.withResolvers<void>();
  const leave = (): void => left.resolve();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  void left.promise.then(end);
  let isSent = false;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (isSent) {
          await left.promise;
          return { done: true, value: undefined };
        }
        isSent = true;
        return { done: false, value: text };
      },
      return() {
        leave();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}
