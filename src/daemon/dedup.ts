/** Hosts the document service: its archives, its schedules, its component and its stand-in. */
import { join } from "node:path";
import { openArchive } from "../dedup/archives/open.ts";
import { dedupArchives, type ArchiveConfig } from "../dedup/config.ts";
import { dedupHealth } from "../dedup/health.ts";
import { refuseDedup } from "../dedup/refusing.ts";
import { openDedup, type Dedup } from "../dedup/service.ts";
import type { Clock } from "../kernel/base/clock.ts";
import type { StewardError } from "../kernel/base/errors.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import type { Job } from "../kernel/jobs/types.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { Service } from "../kernel/service.ts";
import type { StateFactory } from "../kernel/state/types.ts";
import type { Component } from "../kernel/supervisor/component.ts";
import { refusing, startOrRefuse } from "../kernel/supervisor/refusal.ts";
import { createScheduler } from "../kernel/supervisor/scheduler.ts";
import type { DaemonConfiguration } from "./configuration.ts";

/** Fixed, so that the demo's archive is the same everywhere. */
const DEMO_SEED = 1;
const DEMO_ARCHIVE = "demo";

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
}

export function hostDedup(host: HostDedupDeps): HostedDedup {
  const { configuration, pool, clock, needs } = host;
  const { demo, config } = configuration;
  let dedup: Dedup | undefined;
  let service: Service | undefined;
  let refusal: StewardError | undefined;
  let closing: Promise<void> | undefined;
  const scheduler = createScheduler(
    { clock, log: host.log.child("schedules") },
    { name: "dedup-schedules", needs: ["dedup"] },
  );
  const component: Component = {
    name: "dedup",
    needs,
    readiness: "required",
    health() {
      if (refusal !== undefined) return refusing(refusal);
      return dedup === undefined ? { ok: true } : dedupHealth(dedup, config.get(dedupArchives));
    },
    async start(signal) {
      const deps = { ...host, config, scheduler, log: host.log.child("dedup") };
      const options = {
        archives: (await archiveRows(configuration)).map((row) => openArchive({ pool }, row)),
        demo: demo.demo,
      };
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
      closing = dedup?.close(deadlineMs);
      await closing;
    },
  };
  return {
    components: [component, scheduler],
    current: () => dedup,
    service: () => service,
    closing: () => closing,
  };
}

/** The configured archives; in a demo the generated archive comes first. */
async function archiveRows(configuration: DaemonConfiguration): Promise<ArchiveConfig[]> {
  const { config, demo, stateDirectory } = configuration;
  const configured = config
    .get(dedupArchives)
    .filter((row) => !demo.demo || row.name !== DEMO_ARCHIVE);
  if (!demo.demo) return [...configured];
  const { writeDemoArchive } = await import("../demo/archive.ts");
  const path = join(stateDirectory, "archive");
  await writeDemoArchive(path, { seed: DEMO_SEED });
  return [{ name: DEMO_ARCHIVE, kind: "folder", path, include: [], exclude: [] }, ...configured];
}
