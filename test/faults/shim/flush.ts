/** What a daemon writes to its files and sockets, in the order in which it happens (flush.c). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../contract/daemon.ts";

/** Without a new line for so long, what a request set off has come to rest. */
const QUIET_MS = 120;

/** One thing that happened. `what` is the path of a file, or the two ports of a socket. */
export interface Written {
  readonly kind: "write" | "dsync" | "flush" | "socket";
  readonly what: string;
}

/** A log of the processes that get `env`. */
export interface FlushLog {
  readonly env: Readonly<Record<string, string>>;
  /**
   * Flushes take this much longer from now on, so that who does not wait for one is seen to
   * overtake it.
   */
  slowFlushes(ms: number): void;
  /**
   * Runs an action and gives what was written from its beginning until all is quiet, once what came
   * before it is.
   */
  during(action: () => Promise<unknown>): Promise<readonly Written[]>;
}

/** A log by a library that `buildShim("flush")` made; of files, those below a folder. */
export function createFlushLog(library: string, under: string): FlushLog {
  const folder = temporaryFolder();
  const [log, delay] = [join(folder, "log"), join(folder, "delay")];
  writeFileSync(log, "");
  writeFileSync(delay, Buffer.alloc(8));
  let delayMs = 0;
  const lines = (): readonly string[] => readFileSync(log, "utf8").split("\n").slice(0, -1);
  const quiet = async (): Promise<number> => {
    for (let before = -1, count = lines().length; ; count = lines().length) {
      if (count === before) return count;
      before = count;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS + 3 * delayMs));
    }
  };
  return {
    env: { LD_PRELOAD: library, SHIM_LOG: log, SHIM_UNDER: under, SHIM_DELAY: delay },
    slowFlushes(ms) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(ms));
      writeFileSync(delay, bytes, { flag: "r+" });
      delayMs = ms;
    },
    async during(action) {
      const from = await quiet();
      await action();
      await quiet();
      return lines()
        .slice(from)
        .map((line) => {
          const [kind = "", ...rest] = line.split(" ");
          return { kind: kind as Written["kind"], what: rest.join(" ") };
        });
    },
  };
}

/**
 * What happened before the first byte to a client of this port left, and after it: to the latest
 * client. Undefined when none left.
 */
export function aroundAnswer(
  written: readonly Written[],
  port: number,
): { readonly before: readonly Written[]; readonly after: readonly Written[] } | undefined {
  const isAnswer = ({ kind, what }: Written): boolean =>
    kind === "socket" && what.startsWith(`${port} `);
  const client = written.findLast(isAnswer)?.what;
  const at = written.findIndex((one) => isAnswer(one) && one.what === client);
  return at < 0 ? undefined : { before: written.slice(0, at), after: written.slice(at) };
}

/**
 * Commits of an LMDB file: pages, their flush, and then a meta page through a synchronous
 * descriptor.
 */
export function commitsOf(written: readonly Written[], path: string): number {
  let commits = 0;
  let state: "none" | "pages" | "flushed" = "none";
  for (const { kind, what } of written) {
    if (what !== path) continue;
    if (kind === "write") state = "pages";
    else if (kind === "flush" && state === "pages") state = "flushed";
    else if (kind === "dsync") {
      if (state === "flushed") commits += 1;
      state = "none";
    }
  }
  return commits;
}
