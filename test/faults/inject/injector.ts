/**
 * Faults of a disk for a running daemon: a library that makes calls on one file fail with a chosen
 * error while a test says so (faults.c).
 */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../../contract/daemon.ts";

/**
 * What may fail, in the order of faults.c: writes, writes that are their own flush, the same
 * failing after the bytes were written, flushes, changes of size, opening for writing.
 */
const OPERATIONS = ["data", "dsync", "dsynclate", "flush", "size", "open"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Errors that pass. */
export const ERRORS = ["EIO", "EROFS", "ENOSPC", "EDQUOT"] as const;
export type ErrorName = (typeof ERRORS)[number];

const HALF_BYTES = 2048;
const source = join(import.meta.dirname, "faults.c");
/** Without what it prepares, a failed write may end the process (docs/decisions/lmdb-addon.md). */
const addon = join(import.meta.dirname, "../../../tools/lmdb-addon.ts");

/** Why faults cannot be injected here; undefined when they can. */
export const noInjector: string | undefined =
  process.platform !== "linux" ? "the library is for Linux" : compilerMissing();

/** Faults for processes that get this environment. */
export interface Injector {
  readonly env: Readonly<Record<string, string>>;
  /** From now on these operations on the file fail with this error. */
  fail(path: string, error: ErrorName, operations: readonly Operation[]): void;
  /** Nothing fails any more. */
  stop(): void;
  /** Calls that have failed since the start, of one operation or of all. */
  hits(operation?: Operation): number;
}

/** Builds the library. */
export function createInjector(): Injector {
  const folder = temporaryFolder();
  const library = join(folder, "faults.so");
  const control = join(folder, "control");
  execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", addon, "--if-missing"]);
  execFileSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"]);
  writeFileSync(control, new Uint8Array(2 * HALF_BYTES));
  const write = (text: string): void => {
    const bytes = Buffer.alloc(HALF_BYTES);
    bytes.write(text);
    const file = openSync(control, "r+");
    // The text is complete before its first byte makes it count.
    writeSync(file, bytes, 1, HALF_BYTES - 1, 1);
    writeSync(file, bytes, 0, 1, 0);
    closeSync(file);
  };
  return {
    env: { LD_PRELOAD: library, FAULTS_CONTROL: control },
    fail(path, error, operations) {
      write("");
      write(`${constants.errno[error]} ${operations.join(",")} ${path}`);
    },
    stop: () => write(""),
    hits(operation) {
      const counts = Buffer.alloc(OPERATIONS.length * 8);
      const file = openSync(control, "r");
      readSync(file, counts, 0, counts.length, HALF_BYTES);
      closeSync(file);
      return OPERATIONS.reduce(
        (sum, each, at) =>
          operation === undefined || operation === each
            ? sum + Number(counts.readBigUInt64LE(at * 8))
            : sum,
        0,
      );
    },
  };
}

function compilerMissing(): string | undefined {
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "there is no C compiler (cc)";
  }
}
