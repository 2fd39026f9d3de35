/** Hosts the document service: its archives, its schedules, its component and its stand-in. */
import { openArchive } from "../../dedup/archives/open.ts";
import { configuredArchives, type ArchiveConfig } from "../../dedup/config.ts";
import { dedupHealth } from "../../dedup/health.ts";
import { refuseDedup } from "../../dedup/refusing.ts";
import { aiEnabled } from "../../dedup/ai/keys.ts";
import { createDedupReport } from "../../dedup/telemetry/report.ts";
import { openDedup, type Dedup } from "../../dedup/service.ts";
import { createClientFactory } from "../../kernel/client/client.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Job } from "../../kernel/jobs/types.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Service } from "../../kernel/service.ts";
import type { StateFactory } from "../../kernel/state/types.ts";
import { STORE_START_MS, type Component } from "../../kernel/supervisor/component.ts";
import { refusing, startOrRefuse } from "../../kernel/supervisor/refusal.ts";
import { createScheduler } from "../../kernel/supervisor/scheduler.ts";
import type { DaemonConfiguration } from "../configuration.ts";
import type { ProcessTelemetry } from "../telemetry/telemetry.ts";
import type { DemoArchive } from "../demo/archive.ts";
import type { DemoModel } from "../demo/model.ts";
import { stewardVersion } from "../version.ts";

export interface HostedDedup {
  /** The service and its schedules. */
  readonly components: readonly Component[];
  /** Undefined until the service has started, and while it refuses requests. */
  current(): Dedup | undefined;
  /** The started service, or its stand-in that refuses requests while a store cannot be used. */
  service(): Service | undefined;
  /** Closing of the stores, once begun. */
  closing(): Promise<void> | undefined;
}

export interface HostDedupDeps {
  readonly configuration: DaemonConfiguration;
  readonly state: StateFactory;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly jobChanged: (job: Job) => void;
  readonly needs: readonly string[];
  readonly telemetry: Pick<ProcessTelemetry, "scope" | "tracing">;
}

export function hostDedup(host: HostDedupDeps): HostedDedup {
  const { configuration, pool, clock, ids, needs } = host;
  const { demo, config } = configuration;
  let dedup: Dedup | undefined;
  let service: Service | undefined;
  let refusal: StewardError | undefined;
  let closing: Promise<void> | undefined;
  let simulated: DemoArchive | undefined;
  let model: DemoModel | undefined;
  const stopping = new AbortController();
  let closeArchives = (): Promise<void> => Promise.resolve();
  const { telemetry } = host;
  const report = createDedupReport(telemetry, { ai: config.get(aiEnabled) });
  const scheduler = createScheduler(
    { clock, log: host.log.child("schedules") },
    { name: "dedup-schedules", needs: ["dedup"] },
  );
  const beginModel = (): void => {
    if (model === undefined || dedup === undefined) return;
    model.begin(dedup.service, stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) host.log.warn("the demo has no suggestions", { error });
    });
  };
  const component: Component = {
    name: "dedup",
    needs,
    readiness: "required",
    startTimeoutMs: STORE_START_MS,
    health() {
      if (refusal !== undefined) return refusing(refusal);
      return dedup === undefined ? { ok: true } : dedupHealth(dedup, configuredArchives(config));
    },
    async start(signal) {
      if (demo.demo && config.get(aiEnabled)) {
        const { startDemoModel } = await import("../demo/model.ts");
        model = await startDemoModel({ clock, ids, log: host.log.child("dedup") }, config);
      }
      const deps = {
        ...host,
        jobChanged(job: Job) {
          host.jobChanged(job);
          if (job.type === "sync" && job.status === "completed") beginModel();
        },
        config: model?.config ?? config,
        scheduler,
        report,
        scope: telemetry.scope,
        log: host.log.child("dedup"),
      };
      if (demo.demo) {
        const { startDemoArchive } = await import("../demo/archive.ts");
        simulated = await startDemoArchive({ clock, ids, log: deps.log });
      }
      const rows = archivesBeside(simulated?.row, configuredArchives(config));
      const clients = createClientFactory({ clock, ids, version: stewardVersion() });
      const options = {
        archives: rows.map((row) => openArchive({ pool, clock, clients, report }, row)),
        demo: demo.demo,
      };
      closeArchives = async () =>
        void (await Promise.all(options.archives.map(async (archive) => archive.close?.())));
      const started = await startOrRefuse("dedup", {
        start: () => openDedup(deps, options, signal),
        signal,
        log: deps.log,
      });
      if (started.service !== undefined) dedup = started.service;
      refusal = started.refusal;
      service =
        started.service === undefined
          ? refuseDedup({ clock, ...options }, started.refusal)
          : started.service.service;
    },
    async stop(deadlineMs) {
      stopping.abort(new StewardError("cancelled", "the daemon stops"));
      closing = dedup?.close(deadlineMs);
      await closing;
      await closeArchives();
      await simulated?.stop();
      await model?.stop();
    },
  };
  return {
    components: [component, scheduler],
    current: () => dedup,
    service: () => service,
    closing: () => closing,
  };
}

/** A demo connects to no Paperless-ngx but its own; folders and files that are configured for it are read. */
function archivesBeside(
  simulated: ArchiveConfig | undefined,
  configured: readonly ArchiveConfig[],
): readonly ArchiveConfig[] {
  if (simulated === undefined) return configured;
  return [simulated, ...configured.filter(({ kind }) => kind !== "paperless")];
}
