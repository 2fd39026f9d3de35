/**
 * A document service on a folder of its own for tests: real stores, a pool without threads, a clock
 * that stands still.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openDocumentStore } from "../../src/dedup/documents/store.ts";
import type { DocumentStore } from "../../src/dedup/documents/store.ts";
import { decisions, documents, groups, meta, texts } from "../../src/dedup/tables.ts";
import type { Clock } from "../../src/kernel/base/clock.ts";
import { createIds } from "../../src/kernel/base/ids.ts";
import type { Ids } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { createStateFactory } from "../../src/kernel/state/state-factory.ts";
import type { AnyTable, Env } from "../../src/kernel/state/types.ts";

/** Stores that are closed and removed at the end of the test. */
export interface StoreBench {
  readonly env: Env;
  readonly textEnv: Env;
  readonly store: DocumentStore;
}

export const never: AbortSignal = new AbortController().signal;

/** A clock that moves by hand. */
export function createHandClock(
  startMs: number = Date.UTC(2026, 0, 1),
): Clock & { advance(ms: number): void } {
  let atMs = startMs;
  const timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();
  return {
    now: () => atMs,
    monotonic: () => atMs,
    timer(dueMs, run) {
      const timer = { dueMs, run };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    advance(ms) {
      atMs += ms;
      for (const timer of [...timers].filter(({ dueMs }) => dueMs <= atMs)) {
        timers.delete(timer);
        timer.run();
      }
    },
  };
}

/** The same ids in every run. */
export function countingIds(): Ids {
  let next = 0;
  return createIds((length) => {
    next += 1;
    return Uint8Array.from({ length }, (_, at) => (next >>> ((at % 4) * 6)) & 63);
  });
}

/** Opens empty stores. */
export async function openBench(archiveOrder: readonly string[] = []): Promise<StoreBench> {
  const directory = mkdtempSync(join(tmpdir(), "steward-store-"));
  const clock = createHandClock();
  const log = createLog({
    level: "error",
    format: "text",
    write: () => undefined,
    now: () => clock.now(),
  });
  const state = createStateFactory({ directory, clock, log });
  const spec = { schema: 1, derived: false, maxBytes: 1 << 30 };
  const env = await state.open({
    ...spec,
    name: "dedup",
    tables: [documents, groups, decisions, meta] as readonly unknown[] as readonly AnyTable[],
  });
  const textEnv = await state.open({
    ...spec,
    name: "dedup-text",
    tables: [texts] as readonly unknown[] as readonly AnyTable[],
  });
  onTestFinished(async () => {
    await env.close();
    await textEnv.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    env,
    textEnv,
    store: await openDocumentStore({ env, textEnv }, { archiveOrder, signal: never }),
  };
}
