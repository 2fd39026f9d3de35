/** Asks a running daemon on its owner's socket, `steward.sock` in the state folder. */
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { MAX_SOCKET_PATH_BYTES, OWNER_SOCKET } from "../daemon/listeners/owner-socket.ts";
import { StewardError } from "../kernel/base/errors.ts";
import { BACKUP_PATH, type StagedReply } from "../kernel/state/backups/staged-backup.ts";

/**
 * Has the daemon make a backup, and runs `use` while it lies in the state folder. Throws the
 * daemon's error, or `conflict` when the process that has the folder takes no requests.
 */
export async function withStagedBackup<T>(
  stateDirectory: string,
  signal: AbortSignal,
  use: (staged: Exclude<StagedReply, { readonly error: unknown }>) => Promise<T>,
): Promise<T> {
  const answer = await post(stateDirectory, signal);
  try {
    for await (const line of createInterface({ input: answer, signal })) {
      const reply = JSON.parse(line) as StagedReply;
      if (!("error" in reply)) return await use(reply);
      const { code, message, remedy } = reply.error;
      throw new StewardError(code, message, remedy === undefined ? {} : { remedy });
    }
    signal.throwIfAborted();
    throw new StewardError("upstream", "the daemon ended before the backup was made", {
      remedy: "run the command again",
    });
  } finally {
    answer.destroy();
  }
}

function post(stateDirectory: string, signal: AbortSignal): Promise<IncomingMessage> {
  const socketPath = join(stateDirectory, OWNER_SOCKET);
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: BACKUP_PATH, method: "POST", signal }, resolve);
    asked.once("error", (cause) =>
      reject(
        signal.aborted
          ? signal.reason
          : new StewardError(
              "conflict",
              `the process that has ${stateDirectory} in use does not answer at ${socketPath}`,
              { remedy: remedyFor(socketPath), cause },
            ),
      ),
    );
    asked.end();
  });
}

function remedyFor(socketPath: string): string {
  return Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES
    ? `its path is longer than ${MAX_SOCKET_PATH_BYTES} bytes: stop the daemon, or give it a shorter state.directory`
    : "try again when it has started or ended, or stop it";
}
