/**
 * Entry point of the process that makes one backup for a daemon: receives the job as a message,
 * copies, tests the copy, replies and exits.
 */
import { once } from "node:events";
import { orAborted } from "../../async/wait.ts";
import { systemClock } from "../../base/clock.ts";
import { ownMessage, StewardError, toStewardError } from "../../base/errors.ts";
import { PINNED, QUIET, type BackupJob, type BackupReply } from "./backup-job.ts";
import { backupFolder, type BackupManifest, type Quiet } from "./folder-backup.ts";
import { checkFolder } from "./folder-check.ts";

const stop = new AbortController();
const interrupt = (): void =>
  stop.abort(new StewardError("cancelled", "the backup was interrupted"));
process.once("SIGTERM", interrupt).once("SIGINT", interrupt);
process.once("disconnect", interrupt); // the daemon is gone
process.once("message", (job) => {
  void run(job as BackupJob).then((reply) =>
    process.send?.(reply, undefined, undefined, () => process.disconnect()),
  );
});

async function run(job: BackupJob): Promise<BackupReply> {
  try {
    const manifest = await backupFolder({
      ...job,
      quiet,
      clock: systemClock,
      signal: stop.signal,
      copied: () => {},
    });
    await test(job.target, manifest);
    return { manifest };
  } catch (thrown) {
    const { code, message, remedy } = toStewardError(thrown);
    return { error: { code, message: ownMessage(thrown), text: message, remedy } };
  }
}

/** Asks the daemon to hold its writes for the step. */
const quiet: Quiet = async (step) => {
  const held = once(process, "message");
  process.send?.(QUIET);
  await orAborted(held, stop.signal);
  const result = step();
  process.send?.(PINNED);
  return result;
};

// Like `steward check`: reads the copy from the disk and compares it with the manifest.
async function test(target: string, manifest: BackupManifest): Promise<void> {
  const checks = await checkFolder({
    directory: target,
    known: [],
    signal: stop.signal,
    checked: () => {},
  });
  const problems = checks.flatMap(({ problems: found }) => found);
  if (checks.length !== manifest.stores.length)
    problems.push(`${target} holds ${checks.length} stores instead of ${manifest.stores.length}`);
  const [first] = problems;
  if (first !== undefined)
    throw new StewardError("corrupt", `the backup in ${target} cannot be restored: ${first}`, {
      remedy: "check its disk; the next backup is a new one",
    });
}
