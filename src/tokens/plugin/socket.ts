/**
 * The plugin's unix socket, and those that killed plugins left behind: a process that ends by
 * SIGKILL cannot remove its own.
 */
import { chmodSync, chownSync, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../../kernel/async/wait.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, systemCodeOf } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";

/** Longest path that a socket address holds, its final zero not counted. */
const MAX_PATH_BYTES = 107;

const NAME = /^steward-plugin-[0-9A-Za-z]{12}\.sock$/;

/** A younger socket may belong to a plugin that starts right now and does not listen yet. */
const MIN_AGE_MS = 60_000;

/** Sockets examined in one start; the next start examines the others. */
const MAX_EXAMINED = 256;

/** An answer comes at once, from the kernel. */
const ANSWER_MS = 1_000;

/** A free path. Throws `invalid` when the folder's name is too long. */
export function socketPath(folder: string | undefined, ids: Ids): string {
  const path = join(folder ?? tmpdir(), `steward-plugin-${ids.base62(12)}.sock`);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new StewardError(
      "invalid",
      `the path of the plugin's socket, ${path}, has more than ${MAX_PATH_BYTES} bytes`,
      { rule: "socket_path", remedy: "set TMPDIR in the host's environment to a shorter folder" },
    );
  return path;
}

/** Lets only the owner use the socket, or also a group, given by name or number. */
export function restrictSocket(path: string, group: string | undefined): void {
  if (group === undefined) return chmodSync(path, 0o600);
  chownSync(path, -1, groupId(group));
  chmodSync(path, 0o660);
}

function groupId(group: string): number {
  if (/^\d+$/.test(group)) return Number(group);
  const row = readFileSync("/etc/group", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .find(([name]) => name === group);
  if (row?.[2] === undefined)
    throw new StewardError("invalid", `the group ${group} of the plugin's socket does not exist`, {
      rule: "socket_group",
    });
  return Number(row[2]);
}

/**
 * Removes this user's plugin sockets on which nothing listens; how many. A folder that cannot be
 * read has none.
 */
export async function removeStaleSockets(
  folder: string | undefined,
  clock: Clock,
): Promise<number> {
  const where = folder ?? tmpdir();
  let removed = 0;
  for (const path of candidates(where, clock)) {
    if (!(await isDead(path, clock))) continue;
    rmSync(path, { force: true });
    removed += 1;
  }
  return removed;
}

function candidates(folder: string, clock: Clock): readonly string[] {
  const uid = process.getuid?.();
  try {
    return readdirSync(folder)
      .filter((name) => NAME.test(name))
      .slice(0, MAX_EXAMINED)
      .map((name) => join(folder, name))
      .filter((path) => {
        const status = lstatSync(path, { throwIfNoEntry: false });
        return (
          status?.isSocket() === true &&
          status.uid === uid &&
          clock.now() - status.mtimeMs > MIN_AGE_MS
        );
      });
  } catch {
    // Unreadable, or changed meanwhile: a left socket does no harm.
    return [];
  }
}

/** Whether the kernel says that nobody listens. Anything else may be a live plugin. */
async function isDead(path: string, clock: Clock): Promise<boolean> {
  const socket = connect(path);
  try {
    const answer = new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(false));
      socket.once("error", (error) => resolve(systemCodeOf(error) === "ECONNREFUSED"));
    });
    return (await waitFor(answer, { clock, timeoutMs: ANSWER_MS })) === true;
  } finally {
    socket.destroy();
  }
}
