/**
 * The document service as one piece: its environments, stores, jobs and handlers, opened and closed
 * together. Nothing here knows how it is served.
 */
import type { Clock } from "../kernel/base/clock.ts";
import { toStewardError } from "../kernel/base/errors.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import type { Config } from "../kernel/config/config.ts";
import { createJobs } from "../kernel/jobs/jobs.ts";
import type { Job, Jobs } from "../kernel/jobs/types.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { Service } from "../kernel/service.ts";
import { createSettings } from "../kernel/settings/settings.ts";
import type { Settings } from "../kernel/settings/types.ts";
import type { Env, EnvSpec, StateFactory } from "../kernel/state/types.ts";
import type { Scheduler, ScheduleHandle, ScheduleStatus } from "../kernel/supervisor/schedule.ts";
import { createAnalysisJob } from "./analysis/job.ts";
import { analysisKeys, analysisRules, readParameters } from "./analysis/settings.ts";
import { createEnvSketchStore, createEnvVerdictStore } from "./analysis/sketch-store.ts";
import { analysisHandlers } from "./api/analysis.ts";
import { documentHandlers } from "./api/documents.ts";
import { duplicateHandlers } from "./api/duplicates.ts";
import { jobHandlers, jobProgressRoute } from "./api/jobs.ts";
import { createReachability, type Unreachable } from "./api/reachability.ts";
import { syncHandlers } from "./api/sync.ts";
import { systemHandlers } from "./api/system.ts";
import type { Archive } from "./archives/archive.ts";
import { createChain } from "./chain.ts";
import type { Chain } from "./chain.ts";
import { dedupKeys, dedupSyncInterval } from "./config.ts";
import { openDocumentStore } from "./documents/store.ts";
import { createMembership } from "./groups/membership.ts";
import { showMemberships } from "./groups/present.ts";
import { openGroupIndex } from "./groups/store.ts";
import { createLastRuns, type FailedRun } from "./last-runs.ts";
import { mainStore, sketchStore, textStore } from "./stores.ts";
import { createSyncJob } from "./sync/job.ts";
import { createSyncSchedule } from "./sync/schedule.ts";

export interface DedupDeps {
  readonly config: Config;
  readonly state: StateFactory;
  readonly pool: Pool;
  /** Runs what comes again; starts after the service and stops before it. */
  readonly scheduler: Pick<Scheduler, "add">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Hears of every change of a job's status. */
  readonly jobChanged?: (job: Job) => void;
}

export interface DedupOptions {
  readonly archives: readonly Archive[];
  readonly demo: boolean;
}

export interface Dedup {
  readonly service: Service;
  /** What may be changed while it runs. */
  readonly settings: Settings;
  /** Whether its stores work. */
  healthy(): boolean;
  /** Which store does not work, and why; undefined when all do. */
  trouble(): string | undefined;
  /** Unreachable archives, from memory; at most ten seconds old while polled. */
  unreachable(): readonly Unreachable[];
  /** Checks the archives unless that was done within ten seconds. Answers within 5 s. */
  checkArchives(): Promise<void>;
  /** Of the sync and the analysis those whose newest run failed; from memory. */
  failedRuns(): readonly FailedRun[];
  status(): DedupStatus;
  /** Starts what runs by itself: the first sync of a demo, an analysis that a crash left out. */
  begin(options: { readonly syncNow: boolean }): Promise<void>;
  /** Interrupts jobs so that the next start resumes them, and closes the stores. */
  close(deadlineMs: number): Promise<void>;
}

/** What is known about it. */
export interface DedupStatus {
  /** The syncs by the clock; undefined when there are none. */
  readonly schedule: ScheduleStatus | undefined;
  /** Archives that are read. */
  readonly archives: number;
}

interface Envs {
  readonly main: Env;
  readonly text: Env;
  readonly sketch: Env;
}

/**
 * Opens the stores, recovers the jobs and returns the service. What was opened is closed again when
 * a part fails.
 */
export async function openDedup(
  deps: DedupDeps,
  options: DedupOptions,
  signal: AbortSignal,
): Promise<Dedup> {
  const opened: Env[] = [];
  try {
    return await assemble(deps, options, await openEnvs(deps.state, opened, signal), signal);
  } catch (error) {
    for (const env of opened.toReversed()) await env.close();
    throw error;
  }
}

async function openEnvs(state: StateFactory, opened: Env[], signal: AbortSignal): Promise<Envs> {
  const open = async (spec: Omit<EnvSpec, "directory">): Promise<Env> => {
    const env = await state.open(spec, signal);
    opened.push(env);
    return env;
  };
  return {
    main: await open(mainStore),
    text: await open(textStore),
    sketch: await open(sketchStore),
  };
}

async function assemble(
  deps: DedupDeps,
  options: DedupOptions,
  envs: Envs,
  signal: AbortSignal,
): Promise<Dedup> {
  const { config, pool, clock, ids, log } = deps;
  const { archives } = options;
  const env = envs.main;
  const settings = createSettings(
    { env, config, log: log.child("settings") },
    { schema: dedupKeys, checks: [analysisRules] },
  );
  const store = await openDocumentStore(
    { env, textEnv: envs.text },
    { archiveOrder: archives.map(({ name }) => name), signal },
  );
  const index = await openGroupIndex(env, { signal });
  const analysis = createAnalysisJob({
    env,
    documents: store,
    index,
    sketches: createEnvSketchStore(envs.sketch),
    verdicts: createEnvVerdictStore(envs.sketch),
    pool,
    clock,
    parameters: () => readParameters({ settings, config, log }),
  });
  let chain: Chain | undefined;
  const sync = createSyncJob({
    env,
    store,
    groups: createMembership(index),
    pool,
    clock,
    ids,
    archives: () => archives,
    afterSync: (changed) =>
      changed > 0 && settings.get(analysisKeys.autoAnalyze) ? chain?.analyse() : undefined,
  });
  const lastRuns = createLastRuns();
  const jobs: Jobs = createJobs(
    {
      env,
      clock,
      ids,
      log: log.child("jobs"),
      changed: (job) => {
        lastRuns.note(job);
        deps.jobChanged?.(job);
      },
    },
    [sync, analysis],
  );
  for (const { type } of [sync, analysis])
    jobs.list({ types: [type], limit: 1 }).forEach((job) => lastRuns.note(job));
  chain = createChain({ jobs, sync, analysis, log });
  await jobs.recover();
  const everyMs = archives.length === 0 ? 0 : config.get(dedupSyncInterval);
  const schedule: ScheduleHandle | undefined =
    everyMs === 0
      ? undefined
      : deps.scheduler.add(createSyncSchedule({ jobs, job: sync }, everyMs));
  const reachability = createReachability(clock);
  const trouble = (): string | undefined => {
    const sick = [envs.main, envs.text, envs.sketch]
      .map((one) => one.status())
      .find(({ healthy }) => !healthy);
    return sick === undefined
      ? undefined
      : `${sick.name}: ${sick.reason ?? "the store is unavailable"}`;
  };
  const service: Service = {
    name: "dedup",
    rpc: [
      systemHandlers({
        clock,
        envs: [envs.main, envs.text, envs.sketch],
        archives: () => archives,
        reachability,
        demo: options.demo,
      }),
      syncHandlers({ env, store, jobs, job: sync, archives: () => archives }),
      analysisHandlers({ env, jobs, job: analysis, index }),
      jobHandlers({ jobs, clock }),
      documentHandlers({
        store,
        memberships: (docNo) => env.read((snapshot) => showMemberships(snapshot, docNo)),
      }),
      duplicateHandlers({ env, documents: store, index, clock }),
    ],
    plain: [jobProgressRoute({ jobs, clock })],
  };
  return {
    service,
    settings,
    healthy: () => trouble() === undefined,
    trouble,
    unreachable: () => reachability.known(archives),
    failedRuns: () => lastRuns.failed(),
    checkArchives: async () => void (await reachability.worst(archives)),
    status: () => ({ schedule: schedule?.status(), archives: archives.length }),
    async begin({ syncNow }) {
      const nextInMs = schedule?.status().nextInMs;
      if (nextInMs !== undefined)
        log.info("automatic sync is scheduled", {
          first_in_s: Math.round(nextInMs / 1000),
          every_s: Math.round(everyMs / 1000),
        });
      if (syncNow) await chain.sync();
      else if (
        settings.get(analysisKeys.autoAnalyze) &&
        store.index.pending > 0 &&
        jobs.active("sync") === undefined
      )
        chain.analyse();
    },
    async close(deadlineMs) {
      chain.stop();
      await schedule?.remove();
      await jobs
        .stop(deadlineMs)
        .catch((error: unknown) =>
          log.error("jobs did not stop", { error: toStewardError(error) }),
        );
      for (const one of [envs.sketch, envs.text, envs.main]) await one.close();
    },
  };
}
