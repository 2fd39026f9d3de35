import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Archive, ArchiveDocument } from "../../../src/dedup/archives/archive.ts";
import { openDocumentStore } from "../../../src/dedup/documents/store.ts";
import { createSyncJob } from "../../../src/dedup/sync/job.ts";
import { decisions, documents, groups, meta, texts } from "../../../src/dedup/tables.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createJobs, jobTables } from "../../../src/kernel/jobs/jobs.ts";
import type { Job, Jobs } from "../../../src/kernel/jobs/types.ts";
import { createPool } from "../../../src/kernel/pool/pool.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { AnyTable } from "../../../src/kernel/state/types.ts";

const never = new AbortController().signal;
const log = createLog({
  level: "error",
  format: "text",
  write: () => undefined,
  now: () => Date.now(),
});

/** One life of the process over a state folder: real stores, jobs and pool. */
async function live(
  directory: string,
  archive: Archive,
): Promise<{
  readonly jobs: Jobs;
  readonly sync: ReturnType<typeof createSyncJob>;
  readonly size: () => number;
  close(): Promise<void>;
}> {
  const state = createStateFactory({ directory, clock: systemClock, log });
  const spec = { schema: 1, derived: false, maxBytes: 1 << 30 };
  const env = await state.open({
    ...spec,
    name: "dedup",
    tables: [
      ...([documents, groups, decisions, meta] as readonly unknown[] as readonly AnyTable[]),
      ...jobTables,
    ],
  });
  const textEnv = await state.open({
    ...spec,
    name: "dedup-text",
    tables: [texts] as readonly unknown[] as readonly AnyTable[],
  });
  const store = await openDocumentStore(
    { env, textEnv },
    { archiveOrder: [archive.name], signal: never },
  );
  const pool = createPool({ threads: 1, clock: systemClock, log });
  const sync = createSyncJob({
    env,
    store,
    archives: () => [archive],
    groups: {
      forgetMembers: () => undefined,
      leaveGroups: () => Promise.resolve(),
      forgetAll: () => Promise.resolve(),
    },
    pool,
    clock: systemClock,
    ids: systemIds,
  });
  const jobs = createJobs({ env, clock: systemClock, ids: systemIds, log }, [sync]);
  return {
    jobs,
    sync,
    size: () => store.index.size,
    async close() {
      await jobs.stop(1_000);
      await pool.close();
      await env.close();
      await textEnv.close();
    },
  };
}

async function ended(jobs: Jobs, id: string): Promise<Job | undefined> {
  for await (const { event, job } of jobs.watch(id, never)) if (event === "complete") return job;
  return undefined;
}

function archiveOf(
  gate: (batch: number, signal: AbortSignal) => Promise<void>,
  tags: readonly string[] = [],
): Archive {
  return {
    name: "s",
    kind: "jsonl",
    check: () => Promise.resolve(),
    async *read({ known, signal }) {
      for (let batch = 0; batch < 6; batch++) {
        await gate(batch, signal);
        const items = Array.from({ length: 100 }, (_, at): ArchiveDocument => ({
          kind: "document",
          ref: `${batch}-${at}`,
          version: "1",
          title: `T ${at}`,
          text: `text ${batch} ${at}`,
          tags,
          notes: ["a remark that is kept"],
        }));
        yield {
          items: items.map((item) =>
            known(item.ref, item.version) ? { kind: "unchanged" as const, ref: item.ref } : item,
          ),
          fraction: batch / 6,
        };
      }
    },
  };
}

function stateFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), "steward-jobs-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe("a sync as a job", () => {
  it("goes on in the next life of the process and ends with the counts of an undisturbed one", async () => {
    const directory = stateFolder();
    const first = await live(
      directory,
      archiveOf((batch, signal) =>
        batch < 5
          ? Promise.resolve()
          : new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason as Error));
            }),
      ),
    );
    const { id } = await first.jobs.start(first.sync, { force: false, purge: false });
    await expect.poll(() => first.size()).toBeGreaterThan(0);
    await expect(
      first.jobs.start(first.sync, { force: false, purge: false }),
    ).rejects.toMatchObject({ code: "already_running" });
    await first.close();
    const second = await live(
      directory,
      archiveOf(() => Promise.resolve()),
    );
    await second.jobs.recover();
    const job = await ended(second.jobs, id);
    expect([job?.status, job?.error, job?.progress, second.size()]).toEqual([
      "completed",
      undefined,
      1,
      600,
    ]);
    expect(JSON.parse(job?.resultJson ?? "null")).toMatchObject({
      totalFetched: 600,
      inserted: 600,
      skipped: 0,
      updated: 0,
      syncType: "full",
    });
    await second.close();
  });

  it("is cancelled within its bound, and nothing lands afterwards", async () => {
    const life = await live(
      stateFolder(),
      archiveOf((batch, signal) =>
        batch < 3
          ? Promise.resolve()
          : new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason as Error));
            }),
      ),
    );
    const { id } = await life.jobs.start(life.sync, { force: false, purge: false });
    await expect.poll(() => life.size()).toBeGreaterThan(0);
    expect(await life.jobs.cancel(id)).toMatchObject({ status: "cancelled" });
    const size = life.size();
    expect((await ended(life.jobs, id))?.status).toBe("cancelled");
    expect(life.size()).toBe(size);
    await life.close();
  });

  it("stores rows as large as they may be in transactions that hold them", async () => {
    const tags = Array.from({ length: 200 }, (_, at) => `${at} ${"ü".repeat(290)}`);
    const life = await live(
      stateFolder(),
      archiveOf(() => Promise.resolve(), tags),
    );
    const { id } = await life.jobs.start(life.sync, { force: false, purge: false });
    expect(await ended(life.jobs, id)).toMatchObject({ status: "completed" });
    expect(life.size()).toBe(600);
    await life.close();
  });
});
