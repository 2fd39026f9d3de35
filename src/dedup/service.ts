/**
 * The document service as one piece: its environments, stores, jobs and handlers, opened and closed together. Nothing here
 * knows how it is served.
 */
import type { Clock } from "../kernel/base/clock.ts";
import { toStewardError } from "../kernel/base/errors.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import { createJobs } from "../kernel/jobs/jobs.ts";
import type { Jobs } from "../kernel/jobs/types.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { Service } from "../kernel/service.ts";
import type { Env, EnvSpec, StateFactory } from "../kernel/state/types.ts";
import { createAnalysisJob } from "./analysis/job.ts";
import type { AnalysisParameters } from "./analysis/parameters.ts";
import { createEnvSketchStore } from "./analysis/sketch-store.ts";
import { analysisHandlers } from "./api/analysis.ts";
import { documentHandlers } from "./api/documents.ts";
import { duplicateHandlers } from "./api/duplicates.ts";
import { jobHandlers, jobProgressRoute } from "./api/jobs.ts";
import { syncHandlers } from "./api/sync.ts";
import { systemHandlers } from "./api/system.ts";
import type { Archive } from "./archives/archive.ts";
import { createChain } from "./chain.ts";
import type { Chain } from "./chain.ts";
import { openDocumentStore } from "./documents/store.ts";
import { createMembership } from "./groups/membership.ts";
import { showMemberships } from "./groups/present.ts";
import { openGroupIndex } from "./groups/store.ts";
import { mainStore, sketchStore, textStore } from "./stores.ts";
import { createSyncJob } from "./sync/job.ts";

/** What the document service stands on. */
export interface DedupDeps {
  readonly state: StateFactory;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** What it is told. */
export interface DedupOptions {
  readonly archives: readonly Archive[];
  readonly parameters: AnalysisParameters;
  /** Milliseconds between automatic syncs, 0 for none. */
  readonly syncIntervalMs: number;
  readonly demo: boolean;
}

/** The running service. */
export interface Dedup {
  readonly service: Service;
  /** Whether its stores work. */
  healthy(): boolean;
  /** Starts what runs by itself: the first sync of a demo, the timer, an analysis that a crash left out. */
  begin(options: { readonly syncNow: boolean }): Promise<void>;
  /** Interrupts jobs so that the next start resumes them, and closes the stores. */
  close(deadlineMs: number): Promise<void>;
}

interface Envs {
  readonly main: Env;
  readonly text: Env;
  readonly sketch: Env;
}

/** Opens the stores, recovers the jobs and returns the service. What was opened is closed again when a part fails. */
export async function openDedup(deps: DedupDeps, options: DedupOptions, signal: AbortSignal): Promise<Dedup> {
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
  return { main: await open(mainStore), text: await open(textStore), sketch: await open(sketchStore) };
}

async function assemble(deps: DedupDeps, options: DedupOptions, envs: Envs, signal: AbortSignal): Promise<Dedup> {
  const { pool, clock, ids, log } = deps;
  const { archives, parameters } = options;
  const env = envs.main;
  const store = await openDocumentStore({ env, textEnv: envs.text }, { archiveOrder: archives.map(({ name }) => name), signal });
  const index = await openGroupIndex(env, { signal });
  const analysis = createAnalysisJob({ env, documents: store, index, sketches: createEnvSketchStore(envs.sketch), pool, clock, parameters: () => parameters });
  let chain: Chain | undefined;
  const sync = createSyncJob({
    env, store, groups: createMembership(index), pool, clock, ids, archives: () => archives,
    afterSync: (changed) => (changed > 0 && parameters.autoAnalyze ? chain?.analyse() : undefined),
  });
  const jobs: Jobs = createJobs({ env, clock, ids, log: log.child("jobs") }, [sync, analysis]);
  chain = createChain({ jobs, sync, analysis, clock, log });
  await jobs.recover();
  const service: Service = {
    name: "dedup",
    rpc: [
      systemHandlers({ clock, envs: [envs.main, envs.text], archives: () => archives, demo: options.demo }),
      syncHandlers({ env, store, jobs, job: sync, archives: () => archives }),
      analysisHandlers({ env, jobs, job: analysis, index }),
      jobHandlers({ jobs, clock }),
      documentHandlers({ store, memberships: (docNo) => env.read((snapshot) => showMemberships(snapshot, docNo)) }),
      duplicateHandlers({ env, documents: store, index, clock }),
    ],
    plain: [jobProgressRoute({ jobs, clock })],
  };
  return {
    service,
    healthy: () => [envs.main, envs.text].every((one) => one.status().healthy),
    async begin({ syncNow }) {
      if (syncNow) await chain.sync();
      else if (parameters.autoAnalyze && store.index.pending > 0 && jobs.active("sync") === undefined) chain.analyse();
      if (options.syncIntervalMs > 0 && archives.length > 0) chain.syncEvery(options.syncIntervalMs);
    },
    async close(deadlineMs) {
      chain.stop();
      await jobs.stop(deadlineMs).catch((error: unknown) => log.error("jobs did not stop", { error: toStewardError(error) }));
      for (const one of [envs.sketch, envs.text, envs.main]) await one.close();
    },
  };
}
