/** Has a running daemon make a backup, through the owner's socket in its state folder. */
import { StewardError, toStewardError } from "../kernel/base/errors.ts";
import { BACKUP_PATH, type StagedReply } from "../kernel/state/backups/staged-backup.ts";
import { connectDaemon, type DaemonClient } from "./remote/client.ts";
import { readEvents } from "./remote/events.ts";
import { socketOf, UNREACHABLE } from "./remote/target.ts";

/** For making the backup. */
const MAX_WAIT_MS = 6 * 3_600_000;

/**
 * Has the daemon make a backup, and runs `use` while it lies in the state folder. Throws the
 * daemon's refusal, or why it could not be asked.
 */
export async function withStagedBackup<T>(
  stateDirectory: string,
  signal: AbortSignal,
  use: (staged: StagedReply) => Promise<T>,
): Promise<T> {
  const daemon = connect(stateDirectory);
  try {
    const answer = await daemon
      .stream({ method: "POST", path: BACKUP_PATH }, signal)
      .catch((error: unknown) => {
        throw inUse(error, stateDirectory);
      });
    for await (const { data } of readEvents(answer.body))
      return await use(JSON.parse(data) as StagedReply);
    signal.throwIfAborted();
    throw new StewardError("upstream", "the daemon ended before the backup was made", {
      remedy: "run the command again",
    });
  } finally {
    await daemon.close();
  }
}

function connect(stateDirectory: string): DaemonClient {
  try {
    return connectDaemon(socketOf(stateDirectory), { waitMs: MAX_WAIT_MS });
  } catch (error) {
    throw inUse(error, stateDirectory);
  }
}

/** The folder is locked, so that there is something to wait for or to stop. */
function inUse(error: unknown, stateDirectory: string): StewardError {
  const known = toStewardError(error);
  if (known.rule !== UNREACHABLE) return known;
  return new StewardError("conflict", `${stateDirectory} is in use, and ${known.message}`, {
    cause: error,
    remedy:
      known.code === "invalid"
        ? "stop the daemon, or give it a shorter state.directory"
        : "try again when the process that uses it has started or ended, or stop it",
  });
}
