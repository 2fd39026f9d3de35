import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { AnalysisService } from "../../src/gen/steward/dedup/v1/analysis_pb.ts";
import { DuplicateService } from "../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import { JobService, JobStatus, JobType } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { openArchive } from "../../src/dedup/archives/open.ts";
import { ANALYSIS_SCOPE } from "../../src/dedup/analysis/settings.ts";
import { dedupKeys } from "../../src/dedup/config.ts";
import { openDedup, type Dedup } from "../../src/dedup/service.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
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
  const archives = [
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
