/**
 * Reserved disk space, released when the disk is full so that urgent changes can still be stored. A
 * file of the state folder, filled with random bytes so that no file system compresses it.
 */
import { randomFillSync } from "node:crypto";
import { rmSync, statSync, statfsSync, truncateSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { backoffMs, type Backoff } from "../../async/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { StewardError, toStewardError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { failedFor } from "../../base/log/outage.ts";

/** Size for a daemon. */
export const RESERVE_BYTES = 16 * 2 ** 20;

/**
 * The reserve is rebuilt only when as much space stays free beside it; checked at most this often.
 */
const LOOK_EVERY_MS = 1_000;
/** Wait after a try that failed, as under a user's quota, which the free space does not show. */
const REBUILD: Backoff = { firstMs: 1_000, maxMs: 60_000 };

/** Shared by the environments of a folder. */
export interface Reserve {
  /** Allocates the reserve; when the disk has no space, logs it and treats the disk as full. */
  prepare(): Promise<void>;
  /**
   * Releases the space; false when it is already released or there is none. Never throws: a file
   * system without any space may refuse even that (ZFS, btrfs).
   */
  release(): boolean;
  /**
   * The error for ordinary changes while the reserve is in use. Starts rebuilding it once the disk
   * has space.
   */
  shortage(): StewardError | undefined;
}

/** `bytes` 0 disables it. */
export interface ReserveOptions {
  readonly directory: string;
  readonly bytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The reserve of a state folder. */
export function createReserve({ directory, bytes, clock, log }: ReserveOptions): Reserve {
  const path = join(directory, "reserve");
  let state: "ready" | "released" | "filling" = "ready";
  let lookAt = 0;
  /** Monotonic time at which the disk was first full; undefined while the reserve is ready. */
  let fullAtMs: number | undefined;
  let failures = 0;
  const fill = async (besideBytes: number): Promise<void> => {
    state = "filling";
    try {
      await writeFile(path, { bytes, besideBytes });
      state = "ready";
      failures = 0;
      if (fullAtMs !== undefined)
        log.info("the disk has free space again", { path, ...failedFor(clock, fullAtMs) });
      fullAtMs = undefined;
    } catch (error) {
      state = "released";
      fullAtMs ??= clock.monotonic();
      failures += 1;
      lookAt = clock.monotonic() + backoffMs(failures, REBUILD);
      if (failures === 1)
        log.warn("cannot reserve disk space for urgent writes", {
          error: toStewardError(error),
          path,
        });
    }
  };
  return {
    async prepare() {
      if (bytes > 0 && statSync(path, { throwIfNoEntry: false })?.size !== bytes) await fill(0);
    },
    release() {
      if (bytes === 0 || state !== "ready") return false;
      log.error(
        "the disk is full: only urgent changes and deletions are stored until space is free",
        { path, freedBytes: bytes },
      );
      state = "released";
      fullAtMs = clock.monotonic();
      lookAt = clock.monotonic() + LOOK_EVERY_MS;
      try {
        free(path);
      } catch (error) {
        log.warn("cannot release the reserved disk space", { error: toStewardError(error), path });
      }
      return true;
    },
    shortage() {
      if (state === "ready") return undefined;
      if (state === "released" && clock.monotonic() >= lookAt) {
        lookAt = clock.monotonic() + LOOK_EVERY_MS;
        if (hasRoom(directory, 2 * bytes)) void fill(bytes);
      }
      return new StewardError("disk_full", `the disk of ${directory} is full`, {
        rule: "reserve",
        remedy: "free space on it; Steward recovers by itself",
      });
    },
  };
}

/** Where a removal needs space itself, a file may still be cut. */
function free(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    truncateSync(path, 0);
  }
}

/** False too while the file system does not answer. */
function hasRoom(directory: string, bytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= bytes;
  } catch {
    return false;
  }
}

/** As much again is written and cut off: that it fits is known then, whatever the quota. */
async function writeFile(
  path: string,
  { bytes, besideBytes }: { readonly bytes: number; readonly besideBytes: number },
): Promise<void> {
  const fresh = `${path}.new`;
  const whole = bytes + besideBytes;
  try {
    const file = await open(fresh, "w", 0o600);
    try {
      const block = new Uint8Array(2 ** 20);
      for (let at = 0; at < whole; at += block.length)
        await file.writeFile(randomFillSync(block).subarray(0, Math.min(block.length, whole - at)));
      await file.sync();
      if (besideBytes > 0) await file.truncate(bytes);
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
