/**
 * Appends lines to an audit file; a line's promise resolves when the line is on disk. The file is
 * open with O_DSYNC, so each write is its own flush; while one batch is written the next gathers,
 * so that many requests share a write. Nothing is ever removed: a line torn by a crash or a failing
 * disk is ended by a newline, and the next record starts on a line of its own. After a failed write
 * the operating system may have dropped its pages, so the file is reopened, and the lines that
 * failed count as torn even where they can still be read.
 *
 * No line is acknowledged that only a deleted file holds: it is written again into a new file. A
 * file that was renamed stays in use, as whoever rotates it expects, until it is reopened; without
 * that signal it is reopened after half a minute.
 */
import { constants, fstatSync, statSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError, systemCodeOf, toStewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { atEndOfTurn } from "../../../kernel/async/turns.ts";

/** Bytes of lines that may wait, the batch under way not counted. */
const QUEUE_BYTES = 16 * 2 ** 20;
const BATCH_BYTES = 4 * 2 ** 20;
/** Whether the path still names the file is looked at no more often than this. */
const LOOK_EVERY_MS = 1_000;
/**
 * A rotation renames the file and then sends its signal; when none came after this time, none will.
 */
const RENAMED_MS = 30_000;
/** A file that is deleted again and again while a batch is written. */
const MAX_WRITES = 3;
const NEWLINE = 0x0a;

/** Runs after each write, e.g. to make it take longer or fail. */
export type Flush = (file: FileHandle) => Promise<void>;

export interface FileSinkDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly flush?: Flush;
}

/** Where lines go. */
export interface Sink {
  /** Resolves when the disk has it. */
  append(line: string): Promise<void>;
  /**
   * Continues in a new file of the same name. When that fails, the old one stays in use and the
   * error is thrown.
   */
  reopen(): Promise<void>;
  /** Writes what waits and takes no more. */
  close(): Promise<void>;
  /** Whether the file was empty when it was opened first. */
  readonly fresh: boolean;
}

interface Waiting {
  readonly line: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Opened {
  readonly handle: FileHandle;
  readonly inode: Inode;
  readonly torn: boolean;
  readonly bytes: number;
}

interface Inode {
  readonly dev: number;
  readonly ino: number;
}

/** Opens or makes a file. Throws StewardError with the remedy for what is no place for an audit. */
export async function openFileSink(deps: FileSinkDeps, path: string, mode: number): Promise<Sink> {
  return new FileSink(deps, { path, mode }, await openAudited(path, mode));
}

class FileSink implements Sink {
  readonly #deps: FileSinkDeps;
  readonly #file: { readonly path: string; readonly mode: number };
  readonly fresh: boolean;
  #handle: FileHandle;
  #inode: Inode;
  #torn: boolean;
  /** As far as writes were confirmed. */
  #bytes: number;
  /** The latest write failed. */
  #broken = false;
  #queue: Waiting[] = [];
  #queuedBytes = 0;
  #writing: Promise<void> | undefined;
  #closed = false;
  #lookAtMs = 0;
  /** When the path was first found to name no file or another one. */
  #renamedAtMs: number | undefined;
  /** Taken by the next batch. */
  #next: Opened | undefined;

  constructor(
    deps: FileSinkDeps,
    file: { path: string; mode: number },
    { handle, inode, torn, bytes }: Opened,
  ) {
    this.#deps = deps;
    this.#file = file;
    this.#handle = handle;
    this.#inode = inode;
    this.#torn = torn;
    this.#bytes = bytes;
    this.fresh = bytes === 0;
  }

  append(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = Buffer.byteLength(line);
      if (this.#closed)
        return reject(new StewardError("not_ready", `the audit file ${this.#file.path} is closed`));
      if (this.#queuedBytes > 0 && this.#queuedBytes + bytes > QUEUE_BYTES) {
        return reject(
          new StewardError(
            "exhausted",
            `the write queue of the audit file ${this.#file.path} is full`,
            { rule: "audit queue", remedy: "try again later", retryAfterMs: 1_000 },
          ),
        );
      }
      this.#queue.push({ line, bytes, resolve, reject });
      this.#queuedBytes += bytes;
      this.#writing ??= this.#write();
    });
  }

  async reopen(): Promise<void> {
    await this.#openNext();
    if (this.#writing === undefined) await this.#turn();
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#writing !== undefined) await this.#writing;
    await this.#turn();
    await this.#handle.close();
  }

  async #write(): Promise<void> {
    await new Promise<void>(atEndOfTurn); // what comes in the same turn shares the flush
    while (this.#queue.length > 0) {
      const batch = this.#take();
      try {
        if (this.#broken) await this.#renew();
        await this.#followRename();
        await this.#store(batch.map(({ line }) => line).join(""));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#broken = true;
        this.#torn = await this.#isTorn();
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = undefined; // in the same stretch as the last look at the queue, so no line is left lying
  }

  #take(): Waiting[] {
    let bytes = 0;
    const end = this.#queue.findIndex((waiting) => (bytes += waiting.bytes) >= BATCH_BYTES);
    const batch = this.#queue.splice(0, end < 0 ? this.#queue.length : end + 1);
    this.#queuedBytes -= batch.reduce((sum, waiting) => sum + waiting.bytes, 0);
    return batch;
  }

  /** Resolves when a file that has a name holds the lines. */
  async #store(lines: string): Promise<void> {
    for (let writes = 0; writes < MAX_WRITES; writes += 1) {
      if (this.#next !== undefined) await this.#turn();
      await this.#put(Buffer.from(`${this.#torn ? "\n" : ""}${lines}`));
      const { nlink, size } = fstatSync(this.#handle.fd);
      if (nlink > 0) return this.#noteSize(size);
      await this.#openNext();
      this.#deps.log.error(
        "the audit file was deleted while it was in use: its records are lost; the audit continues in a new file",
        { path: this.#file.path, remedy: "rotate it by renaming it and sending SIGHUP" },
      );
    }
    throw new StewardError(
      "internal",
      `the audit file ${this.#file.path} is deleted again and again`,
      { rule: "audit file", remedy: "find out what deletes it" },
    );
  }

  #noteSize(size: number): void {
    if (size < this.#bytes)
      this.#deps.log.warn(
        "the audit file was truncated: it is shorter than what was written to it",
        { path: this.#file.path, bytes: size, before: this.#bytes },
      );
    this.#bytes = size;
  }

  async #put(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, null);
      at += bytesWritten;
    }
    this.#torn = false;
    this.#broken = false;
    this.#bytes += bytes.length;
    await this.#deps.flush?.(this.#handle);
  }

  async #followRename(): Promise<void> {
    const { clock, log } = this.#deps;
    const nowMs = clock.monotonic();
    if (nowMs < this.#lookAtMs) return;
    this.#lookAtMs = nowMs + LOOK_EVERY_MS;
    const named = statSync(this.#file.path, { throwIfNoEntry: false });
    const renamed =
      fstatSync(this.#handle.fd).nlink > 0 && (named === undefined || !isSame(named, this.#inode));
    this.#renamedAtMs = renamed ? (this.#renamedAtMs ?? nowMs) : undefined;
    if (this.#renamedAtMs === undefined || nowMs < this.#renamedAtMs + RENAMED_MS) return;
    try {
      await this.#openNext();
      log.warn("the audit file was renamed without a SIGHUP: the audit continues in a new file", {
        path: this.#file.path,
        remedy: "make the program that rotates it send SIGHUP",
      });
    } catch (error) {
      this.#renamedAtMs = nowMs;
      log.error(
        "the audit file was renamed and a new one cannot be created: the audit continues in the renamed file",
        { path: this.#file.path, error },
      );
    }
  }

  /** Whether a failed write left bytes, confirmed or not. */
  async #isTorn(): Promise<boolean> {
    try {
      return (
        this.#torn ||
        (await this.#handle.stat()).size !== this.#bytes ||
        (await isTorn(this.#handle))
      );
    } catch {
      return true;
    }
  }

  async #renew(): Promise<void> {
    if (this.#next === undefined) await this.#openNext();
    await this.#turn();
  }

  /** Replaced before it is closed: a batch may take it meanwhile. */
  async #openNext(): Promise<void> {
    const fresh = await openAudited(this.#file.path, this.#file.mode);
    const unused = this.#next;
    this.#next = fresh;
    await unused?.handle.close();
  }

  /** Only while no write is under way. */
  async #turn(): Promise<void> {
    const next = this.#next;
    if (next === undefined) return;
    const old = this.#handle;
    const { size } = fstatSync(next.handle.fd);
    // The same file may have been opened in the middle of a write: its end said nothing then.
    this.#torn = isSame(next.inode, this.#inode) ? this.#torn && size > 0 : next.torn;
    this.#next = undefined;
    this.#handle = next.handle;
    this.#inode = next.inode;
    this.#renamedAtMs = undefined;
    this.#bytes = size;
    await old.close();
  }
}

async function openAudited(path: string, mode: number): Promise<Opened> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(
      path,
      constants.O_RDWR |
        constants.O_APPEND |
        constants.O_DSYNC |
        constants.O_CREAT |
        constants.O_NOFOLLOW |
        constants.O_NONBLOCK,
      mode,
    );
    const { mode: present, size, dev, ino } = await checkedStat(handle, path);
    if ((present & 0o777) !== mode) await handle.chmod(mode);
    if (size === 0) await flushFolder(dirname(path));
    return { handle, inode: { dev, ino }, torn: await isTorn(handle), bytes: size };
  } catch (error) {
    await handle?.close();
    throw cannotOpen(path, error);
  }
}

/** Whether the last line has no end; when that cannot be seen, it counts as torn. */
async function isTorn(handle: FileHandle): Promise<boolean> {
  try {
    const { size } = await handle.stat();
    const last = Buffer.alloc(1);
    return (
      size > 0 && ((await handle.read(last, 0, 1, size - 1)).bytesRead === 0 || last[0] !== NEWLINE)
    );
  } catch {
    return true;
  }
}

function isSame(one: Inode, other: Inode): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

async function checkedStat(
  handle: FileHandle,
  path: string,
): Promise<Inode & { readonly mode: number; readonly size: number }> {
  const stat = await handle.stat();
  if (!stat.isFile())
    throw new StewardError("invalid", `the audit file ${path} is no regular file`, {
      rule: "audit file",
      remedy: "name a file in tokens.audit",
    });
  return stat;
}

/** So that the file's name survives a crash as its lines do. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  ELOOP: "it is a symbolic link, and somebody else might turn it: name the file itself",
  ENOENT: "make its folder",
  EACCES: "let Steward's user write it",
  EPERM: "let Steward's user own it",
  EISDIR: "it is a folder: name a file",
  ENOSPC: "free space on its disk",
  EROFS: "its disk is mounted read-only",
};

function cannotOpen(path: string, cause: unknown): StewardError {
  if (cause instanceof StewardError) return cause;
  const code = systemCodeOf(cause);
  const remedy = REMEDIES[code ?? ""];
  const known = toStewardError(cause);
  return new StewardError(
    known.code === "disk_full" ? "disk_full" : "invalid",
    `the audit file ${path} cannot be opened${code === undefined ? "" : ` (${code})`}`,
    { rule: "audit file", cause, ...(remedy === undefined ? {} : { remedy }) },
  );
}
