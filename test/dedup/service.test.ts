import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { AnalysisService } from "../../src/gen/steward/dedup/v1/analysis_pb.ts";
import { DocumentService, ProcessingStatus } from "../../src/gen/steward/dedup/v1/documents_pb.ts";
import { DuplicateService } from "../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import { JobService, JobStatus, JobType } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { SyncService } from "../../src/gen/steward/dedup/v1/sync_pb.ts";
import type { Archive, ArchiveItem } from "../../src/dedup/archives/archive.ts";
import { openArchive } from "../../src/dedup/archives/open.ts";
import { ANALYSIS_SCOPE } from "../../src/dedup/analysis/settings.ts";
import { dedupKeys } from "../../src/dedup/config.ts";
import { mainStore, textStore } from "../../src/dedup/stores.ts";
import { documents, texts } from "../../src/dedup/tables.ts";
import { openDedup, type Dedup } from "../../src/dedup/service.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { loadConfig } from "../../src/kernel/config/load.ts";
import { createClientFactory } from "../../src/kernel/client/client.ts";
import { createPool } from "../../src/kernel/pool/pool.ts";
import { createStateFactory } from "../../src/kernel/state/state-factory.ts";
import type { Schedule, Scheduler } from "../../src/kernel/supervisor/schedule.ts";
import { createScheduler } from "../../src/kernel/supervisor/scheduler.ts";
import type { BoundService } from "../../src/kernel/service.ts";
import { smallArchive, writeFiles } from "../contract/corpus.ts";
import { ask, follow } from "./api/calling.ts";

const never = new AbortController().signal;
const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "steward-service-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** One life of the service over a state folder; `tick` runs the sync of the schedule to its end. */
interface Life {
  readonly dedup: Dedup;
  tick(): Promise<void>;
  bound(service: { readonly typeName: string }): BoundService;
  close(): Promise<void>;
}

async function live(
  state: string,
  papers: string,
  variables: Readonly<Record<string, string>> = {},
  other?: readonly Archive[],
): Promise<Life> {
  const environment = { STEWARD_DEDUP__SYNC__INTERVAL: "1h", ...variables };
  const { config, findings } = loadConfig({ environment, schema: dedupKeys, readFile: () => "" });
  if (config === undefined) throw new Error(JSON.stringify(findings));
  const pool = createPool({ threads: 1, clock: systemClock, log });
  const scheduler = createScheduler({ clock: systemClock, log }, { name: "schedules" });
  const added: Schedule[] = [];
  const spy: Pick<Scheduler, "add"> = {
    add: (schedule) => {
      added.push(schedule);
      return scheduler.add(schedule);
    },
  };
  const archives = other ?? [
    openArchive(
      {
        pool,
        clock: systemClock,
        clients: createClientFactory({ clock: systemClock, ids: systemIds, version: "test" }),
      },
      { name: "papers", kind: "folder", path: papers, include: [], exclude: [] },
    ),
  ];
  const dedup = await openDedup(
    {
      config,
      state: createStateFactory({ directory: state, clock: systemClock, log }),
      pool,
      scheduler: spy,
      clock: systemClock,
      ids: systemIds,
      log,
    },
    { archives, demo: false },
    never,
  );
  return {
    dedup,
    async tick() {
      for (const schedule of added) await schedule.run({ signal: never, scheduledAtMs: 0 });
    },
    bound({ typeName }) {
      const found = dedup.service.rpc.find(({ desc }) => desc.typeName === typeName);
      if (found === undefined) throw new Error(typeName);
      return found;
    },
    async close() {
      await dedup.close(5_000);
      await pool.close();
    },
  };
}

/** The status of each analysis, the newest first. */
async function analyses(life: Life): Promise<JobStatus[]> {
  const { data } = await ask(life.bound(JobService), JobService.method.listJobs, {});
  return data.flatMap(({ type, status }) => (type === JobType.ANALYSIS ? [status] : []));
}

async function waiting(life: Life): Promise<number> {
  const { meta } = await ask(life.bound(DocumentService), DocumentService.method.listDocuments, {
    processingStatus: ProcessingStatus.PENDING,
  });
  return meta?.total ?? 0;
}

/** An archive of which `read` gives the documents, name to text. */
function scripted(
  name: string,
  read: (signal: AbortSignal) => AsyncIterable<Readonly<Record<string, string>>>,
): Archive {
  return {
    name,
    kind: "jsonl",
    check: () => Promise.resolve(),
    async *read({ known, signal }) {
      for await (const texts of read(signal))
        yield {
          items: Object.entries(texts).map(([ref, text]): ArchiveItem =>
            known(ref, text)
              ? { kind: "unchanged", ref }
              : { kind: "document", ref, version: text, title: ref, text, tags: [], notes: [] },
          ),
          fraction: 1,
        };
    },
  };
}

/** Loses the text of a document while the service is closed. */
async function dropText(directory: string, ref: string): Promise<void> {
  const state = createStateFactory({ directory, clock: systemClock, log });
  const main = await state.open(mainStore, never);
  const text = await state.open(textStore, never);
  const docNo = main.read((snapshot) => snapshot.find(documents, "ref", ["papers", ref]))[0];
  if (docNo === undefined) throw new Error(`${ref} is not stored`);
  await text.write((tx) => tx.delete(texts, docNo));
  await text.close();
  await main.close();
}

/** Waits for the only analysis to end. */
async function expectAnalysed(life: Life, left = 0): Promise<void> {
  await expect.poll(() => analyses(life)).toEqual([JobStatus.COMPLETED]);
  expect(await waiting(life)).toBe(left);
}

/** Analyses and counts the members of each group. */
async function groupSizes(life: Life): Promise<number[]> {
  const started = await ask(life.bound(AnalysisService), AnalysisService.method.startAnalysis, {
    force: true,
  });
  await follow(life.bound(JobService), JobService.method.watchJob, {
    jobId: started.data?.jobId ?? "",
  });
  const list = await ask(life.bound(DuplicateService), DuplicateService.method.listGroups, {});
  return list.data.map(({ memberCount }) => memberCount);
}

describe("the document service", () => {
  it("syncs by the clock while it is open, and shows how that went", async () => {
    const [state, papers] = [folder(), folder()];
    writeFiles(papers, smallArchive);
    const life = await live(state, papers, { STEWARD_DEDUP__ANALYSIS__AUTO_ANALYZE: "false" });
    expect(life.dedup.status().schedule).toMatchObject({
      name: "sync",
      everyMs: 3_600_000,
      runs: 0,
    });
    await life.tick();
    const { data } = await ask(life.bound(JobService), JobService.method.listJobs, {});
    // Nor does an analysis follow, with auto_analyze off.
    expect(data.map(({ type, status }) => [type, status])).toEqual([
      [JobType.SYNC, JobStatus.COMPLETED],
    ]);
    await life.close();
    const again = await live(state, papers, { STEWARD_DEDUP__SYNC__INTERVAL: "0" });
    expect(again.dedup.status()).toEqual({ schedule: undefined, archives: 1 });
    await again.close();
  });

  it("analyses by the settings as they are when the analysis starts", async () => {
    const [state, papers] = [folder(), folder()];
    writeFiles(papers, smallArchive);
    const off = { STEWARD_DEDUP__ANALYSIS__AUTO_ANALYZE: "false" };
    const life = await live(state, papers, off);
    await life.tick();
    expect(await groupSizes(life)).toEqual([3]);
    await life.dedup.settings.change(ANALYSIS_SCOPE, { similarity_threshold: 0.99 });
    expect(await groupSizes(life)).toEqual([2]);
    await life.close();
    const next = await live(state, papers, off);
    expect(await groupSizes(next)).toEqual([2]);
    await next.close();
    const pinned = await live(state, papers, {
      ...off,
      STEWARD_DEDUP__ANALYSIS__SIMILARITY_THRESHOLD: "0.75",
    });
    expect(await groupSizes(pinned)).toEqual([3]);
    await pinned.close();
  });
});

describe("documents that wait for an analysis", () => {
  it("get one by the next sync when theirs was cancelled in another archive", async () => {
    const reached = Promise.withResolvers<void>();
    let hangs = true;
    const life = await live(folder(), "", {}, [
      scripted("first", async function* () {
        yield smallArchive;
      }),
      scripted("second", async function* (signal) {
        reached.resolve();
        if (hangs) await setTimeout(60_000, undefined, { signal });
        yield {};
      }),
    ]);
    const { data } = await ask(life.bound(SyncService), SyncService.method.startSync, {});
    await reached.promise;
    const job = { jobId: data?.jobId ?? "" };
    await ask(life.bound(JobService), JobService.method.cancelJob, job);
    await follow(life.bound(JobService), JobService.method.watchJob, job);
    expect(await waiting(life)).toBe(7);
    hangs = false;
    await life.tick();
    await expectAnalysed(life);
    await life.close();
  });

  it("get one by the sync that stored them, though no archive was read to its end", async () => {
    const life = await live(folder(), "", {}, [
      scripted("broken", async function* () {
        // Read ahead: only the last ones are lost with the failure.
        for (const [ref, text] of Object.entries(smallArchive)) yield { [ref]: text };
        throw new StewardError("upstream", "the rest cannot be read");
      }),
    ]);
    await expect(life.tick()).rejects.toThrow("the rest cannot be read");
    await expectAnalysed(life);
    await life.close();
  });

  it("get one by the next sync when none was to start by itself before", async () => {
    const papers = folder();
    writeFiles(papers, smallArchive);
    const life = await live(folder(), papers);
    await life.dedup.settings.change(ANALYSIS_SCOPE, { auto_analyze: false });
    await life.tick();
    expect(await waiting(life)).toBe(7);
    await life.dedup.settings.change(ANALYSIS_SCOPE, { auto_analyze: true });
    await life.tick();
    await expectAnalysed(life);
    await life.close();
  });

  it("get none by each sync while what they wait for is a text that is missing", async () => {
    const [state, papers] = [folder(), folder()];
    writeFiles(papers, smallArchive);
    const off = await live(state, papers, { STEWARD_DEDUP__ANALYSIS__AUTO_ANALYZE: "false" });
    await off.tick();
    await off.close();
    await dropText(state, "notes/lone.html");
    const life = await live(state, papers);
    await life.tick();
    await expectAnalysed(life, 1);
    await life.tick();
    await life.tick();
    expect(await analyses(life)).toEqual([JobStatus.COMPLETED]);
    await life.close();
  });
});
