/**
 * The document service as one piece: its environments, stores, jobs and handlers, opened and closed
 * together. Nothing here knows how it is served.
 */
import type { Clock } from "../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../kernel/base/errors.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import type { Config } from "../kernel/config/config.ts";
import { createJobs } from "../kernel/jobs/jobs.ts";
import type { Job, Jobs, JobType } from "../kernel/jobs/types.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { Service } from "../kernel/service.ts";
import { createSettings } from "../kernel/settings/settings.ts";
import type { Settings } from "../kernel/settings/types.ts";
import type { Env, EnvSpec, StateFactory } from "../kernel/state/types.ts";
import type { Scope } from "../kernel/telemetry/types.ts";
import type { Scheduler, ScheduleHandle, ScheduleStatus } from "../kernel/supervisor/schedule.ts";
import { createApplyJob } from "./ai/apply-job.ts";
import { aiEnabled, readAiSettings, type ProviderName } from "./ai/keys.ts";
import { createProcessJob } from "./ai/process-job.ts";
import { openProvider } from "./ai/providers/open.ts";
import { openResultStore } from "./ai/result-store.ts";
import { aiSection } from "./ai/config-section.ts";
import { createAnalysisJob } from "./analysis/job.ts";
import type { AnalysisParameters } from "./analysis/parameters.ts";
import { analysisKeys, analysisRules, readParameters } from "./analysis/settings.ts";
import {
  createEnvJoinStore,
  createEnvSketchStore,
  createEnvVerdictStore,
} from "./analysis/sketch-store.ts";
import { createStaleCheck } from "./analysis/staleness.ts";
import { aiHandlers } from "./api/ai.ts";
import { analysisHandlers } from "./api/analysis.ts";
import { archiveFileRoutes, archiveHandlers } from "./api/archive.ts";
import { batchHandlers } from "./api/batch.ts";
import { configExportRoute } from "./api/config-export.ts";
import { analysisSection, configHandlers } from "./api/config.ts";
import { deletePlanRoute } from "./api/delete-plan-file.ts";
import { deletePlanHandlers } from "./api/delete-plan.ts";
import { documentHandlers } from "./api/documents.ts";
import { duplicatesCsvRoute } from "./api/duplicates-csv.ts";
import { duplicateHandlers } from "./api/duplicates.ts";
import { jobHandlers, jobProgressRoute } from "./api/jobs.ts";
import { mergeHandlers } from "./api/merge.ts";
import { pairHandlers } from "./api/pairs.ts";
import { createReachability, type Unreachable } from "./api/reachability.ts";
import { countSkipped } from "./api/skipped-documents.ts";
import { statisticsHandlers } from "./api/statistics.ts";
import { syncHandlers } from "./api/sync.ts";
import { systemHandlers } from "./api/system.ts";
import { createAppConfig } from "./app-config.ts";
import type { Archive } from "./archives/archive.ts";
import { createChain } from "./chain.ts";
import type { Chain } from "./chain.ts";
import { AiResultStatus } from "../gen/steward/dedup/v1/ai_pb.ts";
import {
  dedupArchives,
  dedupKeys,
  dedupSyncInterval,
  paperlessCollectors,
  paperlessMetricsEnabled,
} from "./config.ts";
import { createDeletionJob } from "./deletion/job.ts";
import { createMatching } from "./documents/matching.ts";
import { openDocumentStore } from "./documents/store.ts";
import { createMembership } from "./groups/membership.ts";
import { createPairScorer } from "./groups/pair-scorer.ts";
import { showMemberships } from "./groups/present.ts";
import { createPendingCount } from "./groups/statistics.ts";
import { createRescoring } from "./groups/rescoring.ts";
import { openGroupIndex } from "./groups/store.ts";
import { collectorNames } from "./paperless/figures/settings.ts";
import { createFigureSchedule } from "./paperless/figures/schedule.ts";
import { metaNumber, skippedItems } from "./meta.ts";
import { createLastRuns, type FailedRun } from "./last-runs.ts";
import { mainStore, sketchStore, textStore } from "./stores.ts";
import { createSyncJob } from "./sync/job.ts";
import { createSyncSchedule } from "./sync/schedule.ts";
import { observedJob } from "./telemetry/observed-job.ts";
import { createDedupReport, type DedupReport } from "./telemetry/report.ts";

export interface DedupDeps {
  readonly config: Config;
  readonly state: StateFactory;
  readonly pool: Pool;
  /** Runs what comes again; starts after the service and stops before it. */
  readonly scheduler: Pick<Scheduler, "add">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Where measurements and spans go; without it nothing is reported. */
  readonly report?: DedupReport;
  /** The scope of metrics that are read from a Paperless-ngx. */
  readonly scope?: Scope;
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
  const isAiOn = config.get(aiEnabled);
  const report = deps.report ?? createDedupReport(undefined, { ai: isAiOn });
  const observe = <I, R>(type: JobType<I, R>): JobType<I, R> =>
    observedJob({ clock, report }, type);
  const settings = createSettings(
    { env, config, log: log.child("settings") },
    { schema: dedupKeys, checks: [analysisRules] },
  );
  const aiResults = await openResultStore(env, signal);
  const store = await openDocumentStore(
    { env, textEnv: envs.text, removed: (tx, docNo) => aiResults.remove(tx, docNo) },
    { archiveOrder: archives.map(({ name }) => name), signal },
  );
  const index = await openGroupIndex(env, { signal });
  const matching = createMatching(store.index);
  const parameters = (): AnalysisParameters => readParameters({ settings, config, log });
  const verdicts = createEnvVerdictStore(envs.sketch);
  const rescoring = createRescoring({ env, documents: store, index, pool, clock, parameters });
  const rescoreInBackground = (): void =>
    void rescoring.run().catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      log.error("recalculating the scores of groups failed; the next start repeats it", {
        error: toStewardError(error),
      });
    });
  const stopping = new AbortController();
  const analysis = observe(
    createAnalysisJob({
      env,
      documents: store,
      index,
      sketches: createEnvSketchStore(envs.sketch),
      verdicts,
      joins: createEnvJoinStore(envs.sketch),
      pool,
      clock,
      parameters,
    }),
  );
  const membership = createMembership(index);
  const deletion = observe(
    createDeletionJob({
      env,
      documents: store,
      index,
      groups: membership,
      pool,
      clock,
      parameters,
      archives: () => archives,
    }),
  );
  let chain: Chain | undefined;
  const sync = observe(
    createSyncJob({
      report,
      env,
      store,
      groups: membership,
      pool,
      clock,
      ids,
      archives: () => archives,
      afterSync: (changed) =>
        settings.get(analysisKeys.autoAnalyze) ? chain?.analyse(changed) : undefined,
    }),
  );
  const ai = {
    isOn: isAiOn,
    env,
    documents: store,
    results: aiResults,
    archives: () => archives,
    clock,
    ids,
    settings: () => readAiSettings(settings.get),
    report,
    openProvider: (name: ProviderName) => openProvider({ config, clock }, name),
  };
  const processJob = observe(createProcessJob(ai));
  const applyJob = observe(createApplyJob(ai));
  const lastRuns = createLastRuns();
  const jobs: Jobs = createJobs(
    {
      env,
      clock,
      ids,
      log: log.child("jobs"),
      changed: (job) => {
        lastRuns.note(job);
        report.jobChanged(job);
        // Weights may have changed since the analysis read them.
        if (job.type === analysis.type && job.status === "completed") rescoreInBackground();
        deps.jobChanged?.(job);
      },
    },
    [sync, analysis, deletion, processJob, applyJob],
  );
  for (const { type } of [sync, analysis])
    jobs.list({ types: [type], limit: 1 }).forEach((job) => lastRuns.note(job));
  chain = createChain({ jobs, sync, analysis, documents: store, log });
  await jobs.recover();
  const everyMs = archives.length === 0 ? 0 : config.get(dedupSyncInterval);
  const schedule: ScheduleHandle | undefined =
    everyMs === 0
      ? undefined
      : deps.scheduler.add(createSyncSchedule({ jobs, job: sync }, everyMs));
  const figures = figureSchedule(deps, archives);
  const reachability = createReachability(clock);
  const levels = report.observe({
    documents: () => store.index.size,
    pendingGroups: createPendingCount(index),
    lastSyncAtMs: () => env.read((snapshot) => metaNumber(snapshot, "lastSyncAtMs")),
    syncIntervalMs: everyMs,
    archives() {
      const away = new Set(reachability.known(archives).map(({ archive }) => archive));
      return archives.map(({ name }) => ({ name, readable: !away.has(name) }));
    },
    pendingResults: () => (isAiOn ? aiResults.index.count(AiResultStatus.PENDING) : undefined),
  });
  const trouble = (): string | undefined => {
    const sick = [envs.main, envs.text, envs.sketch]
      .map((one) => one.status())
      .find(({ healthy }) => !healthy);
    return sick === undefined
      ? undefined
      : `${sick.name}: ${sick.reason ?? "the store is unavailable"}`;
  };
  const analysisStale = createStaleCheck({
    env,
    verdicts,
    parameters,
    analysing: () => jobs.active(analysis.exclusive) !== undefined,
    signal: stopping.signal,
  });
  const appConfig = createAppConfig(env, [
    analysisSection({ settings, parameters, rescore: () => rescoring.run() }),
    aiSection(settings),
  ]);
  const planDeps = { env, index, documents: store, pool, parameters, clock };
  const skipped = {
    store,
    minWords: () => parameters().minWords,
    unreadable: () => env.read(skippedItems),
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
      analysisHandlers({ env, jobs, job: analysis, index, parameters, analysisStale }),
      jobHandlers({ jobs, clock }),
      documentHandlers({
        ...skipped,
        hasAiResult: (docNo) => aiResults.index.has(docNo),
        memberships: (docNo) => env.read((snapshot) => showMemberships(snapshot, docNo)),
      }),
      duplicateHandlers({ env, documents: store, index, clock, matching }),
      statisticsHandlers({
        env,
        documents: store.index,
        index,
        matching,
        analysisStale,
        skipped: () => countSkipped(skipped),
      }),
      pairHandlers({
        env,
        index,
        clock,
        documents: store,
        scorePair: createPairScorer(pool),
        parameters,
        groupsOf: (docNo) =>
          env.read((snapshot) =>
            showMemberships(snapshot, docNo).flatMap(({ groupId }) => groupId ?? []),
          ),
      }),
      configHandlers({
        clock,
        settings,
        parameters,
        rescore: () => rescoring.run(),
        analysisStale,
        countGroups: () => index.size,
        appConfig,
        archives: () => archives,
        documents: store.index,
      }),
      deletePlanHandlers(planDeps),
      batchHandlers({ env, index, clock, jobs, job: deletion, archives: () => archives }),
      mergeHandlers({ env, archives: () => archives }),
      archiveHandlers({ archives: () => archives }),
      aiHandlers({ ...ai, config, settingStore: settings, jobs, processJob, applyJob }),
    ],
    plain: [
      jobProgressRoute({ jobs, clock }),
      ...archiveFileRoutes({ archives: () => archives }),
      configExportRoute({ clock, appConfig, parameters }),
      duplicatesCsvRoute({ env, documents: store, index, clock, matching }),
      deletePlanRoute({ ...planDeps, archives: () => config.get(dedupArchives) }),
    ],
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
      rescoreInBackground();
      const nextInMs = schedule?.status().nextInMs;
      if (nextInMs !== undefined)
        log.info("automatic sync is scheduled", {
          first_in_s: Math.round(nextInMs / 1000),
          every_s: Math.round(everyMs / 1000),
        });
      if (syncNow) await chain.sync();
      else if (settings.get(analysisKeys.autoAnalyze) && jobs.active("sync") === undefined)
        chain.analyse(0);
    },
    async close(deadlineMs) {
      chain.stop();
      stopping.abort(new StewardError("cancelled", "the process stops"));
      await rescoring.stop(new StewardError("cancelled", "the process stops"));
      await Promise.all([schedule?.remove(), figures?.remove()]);
      levels[Symbol.dispose]();
      await jobs
        .stop(deadlineMs)
        .catch((error: unknown) =>
          log.error("jobs did not stop", { error: toStewardError(error) }),
        );
      for (const one of [envs.sketch, envs.text, envs.main]) await one.close();
    },
  };
}

/** Metrics of the first Paperless-ngx, as the proxy's paths mean the first one. */
function figureSchedule(
  { config, scope, scheduler, log }: DedupDeps,
  archives: readonly Archive[],
): ScheduleHandle | undefined {
  const first = archives.find(({ figures }) => figures !== undefined);
  if (scope === undefined || first?.figures === undefined || !config.get(paperlessMetricsEnabled))
    return undefined;
  const chosen = config.get(paperlessCollectors);
  return scheduler.add(
    createFigureSchedule({
      scope,
      log: log.child("paperless-metrics"),
      archive: first.name,
      read: first.figures,
      collectors: chosen.length === 0 ? collectorNames : chosen,
    }),
  );
}
