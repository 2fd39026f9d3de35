/**
 * `node --import bench/slow-flush.ts …` with SLOW_FLUSH_MS: every flush of the process takes that
 * much longer, those of LMDB's commits and those of files alike. A commit's callers wait behind it
 * as they do behind a slow disk.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { open } from "lmdb";

const flushMs = Number(process.env["SLOW_FLUSH_MS"] ?? 0);

/** Makes a method of a prototype resolve later. */
function slow(prototype: object, method: string): void {
  const methods = prototype as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const quick = methods[method];
  if (quick === undefined) return;
  methods[method] = async function slowed(this: unknown, ...args: unknown[]) {
    const value = await quick.apply(this, args);
    await wait(flushMs);
    return value;
  };
}

if (flushMs > 0 && isMainThread) {
  const folder = mkdtempSync(join(tmpdir(), "steward-slow-"));
  const file = await openFile(join(folder, "file"), "w");
  const handle = Object.getPrototypeOf(file) as object;
  slow(handle, "datasync");
  slow(handle, "write"); // of the audit's files, whose writes are flushes
  slow(handle, "sync");
  await file.close();
  const database = open({ path: join(folder, "data.mdb"), noSubdir: true });
  for (
    let prototype = Object.getPrototypeOf(database) as object | null;
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null
  ) {
    if (Object.hasOwn(prototype, "transaction")) slow(prototype, "transaction");
  }
  await database.close();
  rmSync(folder, { recursive: true, force: true });
}
