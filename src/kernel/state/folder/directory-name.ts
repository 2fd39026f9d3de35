/**
 * A name in the kernel for a folder, held by at most one process: an abstract Unix socket (unix(7))
 * named after the folder's device and inode. It needs no file, so nobody can delete it, and the
 * kernel drops it with its holder. Linux only; elsewhere nothing is held.
 *
 * Anybody on the machine may take such a name, so a taken one counts only when its holder runs as
 * our user, the folder's owner or root. Containers with network namespaces of their own do not see
 * each other's names; the lock on a file covers them.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";

/** Kept here so that garbage collection does not close them. */
const held = new Set<Server>();

/** A held name, or the process that holds it. */
export type HeldName =
  | { release(): void; readonly holder?: undefined }
  | { readonly holder: number };

/**
 * Takes the name of an existing folder. Nothing is held when an unrelated user's process has it.
 */
export function holdDirectoryName(directory: string): HeldName {
  if (process.platform !== "linux") return { release: () => undefined };
  const { dev, ino, uid } = statSync(directory, { bigint: true });
  const name = `steward-state:${dev}:${ino}`;
  const server = createServer((socket) => socket.destroy());
  // A failed bind is visible at once through `listening`; the event comes later.
  server.on("error", () => undefined);
  server.listen({ path: `\0${name}`, exclusive: true });
  server.unref();
  if (server.listening) {
    held.add(server);
    return {
      release() {
        if (held.delete(server)) server.close();
      },
    };
  }
  const holder = holderOf(name, [0, Number(uid), process.geteuid?.() ?? 0]);
  return holder === undefined ? { release: () => undefined } : { holder };
}

/** The process, run by one of these users, that has the socket open. */
function holderOf(name: string, users: readonly number[]): number | undefined {
  const inode = socketInode(name);
  if (inode === undefined) return undefined;
  const link = `socket:[${inode}]`;
  return entriesOf("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .find((pid) => users.includes(userOf(pid) ?? -1) && hasOpen(pid, link));
}

/**
 * Rows of `/proc/net/unix` end with inode and path; the zero byte before an abstract name is shown
 * as `@`.
 */
function socketInode(name: string): string | undefined {
  const row = textOf("/proc/net/unix")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .find((fields) => fields.at(-1) === `@${name}`);
  return row?.at(-2);
}

function userOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}

function hasOpen(pid: number, link: string): boolean {
  return entriesOf(`/proc/${pid}/fd`).some((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`) === link;
    } catch {
      return false; // closed meanwhile
    }
  });
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it ended meanwhile, or belongs to another user
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
