/** Translates LMDB's errors: a full disk, a failing one, an environment to reopen, damage, rights. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { DISK, diskFaultOf } from "../../base/system/disk-faults.ts";
import { StewardError, systemCodeOf, toStewardError } from "../../base/errors.ts";

/**
 * With less free space than this, a failed write is reported as a full disk; about two groups of
 * changes.
 */
const SHORT_OF_SPACE_BYTES = 8 * 2 ** 20;

/** The StewardError of an error that LMDB threw for this file. */
export function lmdbError(cause: unknown, path: string): StewardError {
  if (cause instanceof StewardError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  const fault = diskFaultOf(cause);
  if (
    fault?.kind === "full" ||
    /MDB_MAP_FULL/.test(text) ||
    (/Input\/output error/i.test(text) && isFull(path))
  ) {
    return new StewardError("disk_full", `no space to write ${path}`, {
      remedy: "free space on its disk",
      cause,
    });
  }
  if (fault !== undefined) {
    return new StewardError("not_ready", `${path} accepts no writes: ${fault.why}`, {
      rule: DISK,
      remedy: fault.remedy,
      retryAfterMs: 1_000,
      cause,
    });
  }
  if (/MDB_PANIC/.test(text)) {
    return new StewardError(
      "not_ready",
      `${path} cannot be used: LMDB invalidated its environment after a failed write`,
      { rule: DISK, remedy: "retry; Steward reopens it automatically", retryAfterMs: 1_000, cause },
    );
  }
  if (/MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|BAD_TXN|PROBLEM|VERSION_MISMATCH)/.test(text)) {
    return new StewardError("corrupt", `${path} is damaged`, {
      remedy: "stop Steward and restore a backup (docs/recovery.md)",
      cause,
    });
  }
  const known = toStewardError(cause).code;
  if (known === "denied" || /permission denied|operation not permitted/i.test(text)) {
    return new StewardError("denied", `${path} cannot be opened: permission denied`, {
      remedy: "let Steward's user read and write it",
      cause,
    });
  }
  const system = systemCodeOf(cause);
  return new StewardError(
    known,
    system === undefined ? `LMDB failed on ${path}` : `${path} cannot be used (${system})`,
    { cause },
  );
}

/**
 * The error of a failed commit. Awaits its reason, which LMDB provides as a separate promise.
 */
export async function commitError(thrown: unknown, path: string): Promise<StewardError> {
  if (thrown instanceof StewardError) return thrown;
  const pending = (thrown as { commitError?: unknown }).commitError;
  const cause: unknown =
    pending instanceof Promise
      ? await pending.then(
          () => thrown,
          (reason: unknown) => reason,
        )
      : thrown;
  return lmdbError(cause, path);
}

// LMDB reports a write truncated by a full disk as an input/output error.
function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < SHORT_OF_SPACE_BYTES;
  } catch {
    return false; // the free space is unknown
  }
}
