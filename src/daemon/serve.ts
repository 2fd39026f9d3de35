/**
 * The daemon: places the services, starts everything in order, says where it listens, and stops
 * when told to.
 */
import { fstatSync } from "node:fs";
import { join } from "node:path";
import { createGateway } from "../../gateway/gateway.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { openArchive } from "../dedup/archives/open.ts";
import { apiMetricsEnabled, dedupArchives } from "../dedup/config.ts";
import type { ArchiveConfig } from "../dedup/config.ts";
import { dedupHealth } from "../dedup/health.ts";
import { openDedup } from "../dedup/service.ts";
import { refuseDedup } from "../dedup/refusing.ts";
import type { Dedup } from "../dedup/service.ts";
import { writeDemoArchive } from "../demo/archive.ts";
import { delay } from "../kernel/base/clock.ts";
import { logConsole } from "../kernel/base/console-log.ts";
import type { StewardError } from "../kernel/base/errors.ts";
import { createLog } from "../kernel/base/log.ts";
import type { Log } from "../kernel/base/log.ts";
import { formatAddress } from "../kernel/config/address.ts";
import type { Config } from "../kernel/config/config.ts";
import { formatFinding } from "../kernel/config/findings.ts";
import {
  gatewayListen,
  gatewayTls,
  loggingFormat,
  loggingLevel,
  poolThreads,
  servicesDedup,
  servicesMonitor,
  servicesTokens,
} from "../kernel/config/process-keys.ts";
import type { ListenTls } from "../kernel/listen/listener.ts";
import { createPool } from "../kernel/pool/pool.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { Service } from "../kernel/service.ts";
import { lockStateDirectory } from "../kernel/state/directory-lock.ts";
import type { StateFactory } from "../kernel/state/types.ts";
import { RESERVE_BYTES } from "../kernel/state/reserve.ts";
import { createStateFactory } from "../kernel/state/state-factory.ts";
import type { Component, Supervisor } from "../kernel/supervisor/component.ts";
import { createNotifier } from "../kernel/supervisor/notify.ts";
import type { Notifier } from "../kernel/supervisor/notify.ts";
import { refusing, startOrRefuse } from "../kernel/supervisor/refusal.ts";
import type { Scheduler } from "../kernel/supervisor/schedule.ts";
import { createScheduler } from "../kernel/supervisor/scheduler.ts";
import type { StopSignals } from "../kernel/supervisor/stop-signals.ts";
import { createSupervisor } from "../kernel/supervisor/supervisor.ts";
import type { UpdateCheck } from "../kernel/updates/update-check.ts";
import { adminListener, type AdminListener } from "./admin-listener.ts";
import { adminPlace } from "./admin.ts";
import { daemonSchema, type DaemonConfiguration } from "./configuration.ts";
import { createDemoMetrics, type DemoMetrics } from "./demo/metrics.ts";
import { startDemoNetwork } from "./demo/network.ts";
import { heedUncaught, type EndProcess } from "./end-process.ts";
import type { ProcessHealth } from "./health.ts";
import { placeHouseMonitor } from "./monitor-placement.ts";
import type { PlacedMonitor } from "./monitor.ts";
import { nightlyBackups } from "./nightly-backups.ts";
import { createHouseTelemetry, type HouseTelemetry } from "./telemetry.ts";
import { houseProfiling, type HouseProfiling } from "./profiling.ts";
import { systemRuntime, type DaemonRuntime } from "./runtime.ts";
import { served } from "./served.ts";
import type { HouseStatusDeps } from "./status/process-status.ts";
import { watchStores } from "./status/stores.ts";
import { isJournalled, placeTokens, type PlacedTokens } from "./tokens.ts";
import { houseUpdates } from "./updates.ts";
import { stewardVersion } from "./version.ts";

/** Everything is stopped within this time, or left behind. */
const STOP_MS = 30_000;
/** What a stop at once still waits for the last change to be stored. */
const LAST_WRITE_MS = 2_000;
/** The demo's archive is the same everywhere. */
const DEMO_SEED = 1;
const DEMO_ARCHIVE = "demo";
/** Everything that counts needs it, so that it stops last and sends what was counted. */
const TELEMETRY = "telemetry";

/** What the parts of one run share. */
interface House extends Pick<DaemonRuntime, "clock" | "ids"> {
  readonly configuration: DaemonConfiguration;
  readonly log: Log;
  readonly pool: Pool;
  readonly supervisor: Supervisor;
  readonly telemetry: HouseTelemetry;
  readonly notifier: Notifier;
  readonly state: StateFactory;
  readonly tokens: PlacedTokens | undefined;
  readonly monitor: PlacedMonitor | undefined;
  readonly profiling: HouseProfiling;
  readonly updates: UpdateCheck;
  readonly health: () => ProcessHealth;
  dedup?: Dedup;
  /** The document service, or the one that refuses its requests while a store cannot be used. */
  documents?: Service;
  refusal?: StewardError | undefined;
  /** The stores on their way to be closed. */
  closing?: Promise<void> | undefined;
  gateway?: Gateway;
  admin?: AdminListener | undefined;
  demoMetrics?: DemoMetrics;
}

/**
 * Runs until a signal asks to stop; resolves with the exit code. Throws what keeps it from
 * starting.
 */
export async function serve(
  configuration: DaemonConfiguration,
  signals: StopSignals,
  end: EndProcess,
  runtime: DaemonRuntime = systemRuntime(),
): Promise<number> {
  const { config } = configuration;
  const { clock, ids, readings, monitorOn } = runtime;
  const log = createLog({
    level: config.get(loggingLevel),
    format: config.get(loggingFormat),
    write: (line) => process.stderr.write(line),
    now: () => clock.now(),
  });
  heedUncaught(log, end);
  logConsole(log);
  const threads = config.get(poolThreads);
  const pool = createPool({ clock, log: log.child("pool"), ...(threads === 0 ? {} : { threads }) });
  const pull = config.get(apiMetricsEnabled) && config.get(servicesDedup);
  const telemetry = await createHouseTelemetry({
    config,
    schema: daemonSchema,
    pool,
    clock,
    log,
    version: stewardVersion(),
    pull,
  });
  const notifier = createNotifier({
    clock,
    log: log.child("systemd"),
    environment: process.env,
    pid: process.pid,
  });
  const stores = watchStores(
    telemetry.reportState(
      createStateFactory({
        directory: configuration.stateDirectory,
        clock,
        log: log.child("state"),
        version: stewardVersion(),
        reserveBytes: RESERVE_BYTES,
        remembers: true,
      }),
    ),
  );
  const { state } = stores;
  const tokens = config.get(servicesTokens)
    ? placeTokens({
        configuration,
        state: () => state,
        scope: telemetry.scope,
        log: log.child("tokens"),
        needs: [TELEMETRY],
        tell: (line) => process.stderr.write(line),
        journalled: isJournalled(process.env, fstatSync(process.stderr.fd)),
      })
    : undefined;
  announce({ configuration, log });
  const demoNetwork =
    configuration.demo.demo && config.get(servicesMonitor)
      ? await startDemoNetwork({ clock, ids, log: log.child("demo") }, config)
      : undefined;
  const facts = { clock, ids, version: stewardVersion(), scope: telemetry.scope };
  const profiling = houseProfiling({
    ...facts,
    config,
    log: log.child("profiler"),
    environment: process.env,
  });
  const updates = houseUpdates({ ...facts, configuration, log: log.child("updates") });
  const supervisor = createSupervisor({ clock, log: log.child("supervisor") });
  const health = (): ProcessHealth => ({ states: supervisor.states(), stores: stores.health() });
  const monitor = placeHouseMonitor({
    clock,
    log,
    configuration,
    environment: process.env,
    demoNetwork: demoNetwork?.options,
    needs: [TELEMETRY],
    house: telemetry,
    readings,
    ids,
    on: monitorOn,
    states: () => supervisor.states(),
    stores: () => stores.health(),
    profiling: () => profiling.status(),
    updates: () => updates.status(),
    certificates: () => certificatesOf(house),
  });
  const house: House = {
    clock,
    ids,
    configuration,
    log,
    pool,
    state,
    telemetry,
    tokens,
    monitor,
    profiling,
    updates,
    notifier,
    supervisor,
    health,
  };
  const lock = lockStateDirectory(configuration.stateDirectory);
  if (lock.advisory !== undefined)
    log.warn(lock.advisory, {
      remedy: `give the folder to the user that runs Steward: chown -R USER ${configuration.stateDirectory}`,
    });
  for (const component of components(house)) house.supervisor.add(component);
  telemetry.reportComponents(house.supervisor);
  telemetry.reportCertificate("admin", () => house.admin?.certificate());
  heed(house, signals);
  try {
    await house.supervisor.start();
    await greet(house);
    await signals.first;
    return 0;
  } catch (error) {
    // A signal during the start is a stop like any other.
    if (signals.stopRequested()) return 0;
    throw error;
  } finally {
    await house.supervisor.stop(STOP_MS);
    await demoNetwork?.stop();
    // Even a stop at once lets a change that LMDB is storing end: a process that exits under it can
    // hang for ever.
    await Promise.race([house.closing?.catch(() => undefined), delay(clock, LAST_WRITE_MS)]);
    lock.release();
  }
}

function announce({ configuration, log }: Pick<House, "configuration" | "log">): void {
  const { demo, file, stateDirectory, warnings } = configuration;
  for (const finding of warnings) log.warn(formatFinding(finding));
  if (demo.demo)
    log.info("this is a demo with simulated data; nothing of yours is read or changed", {
      because: demo.reason,
    });
  if (file !== undefined) log.info("configuration", { file });
  log.info("state", { directory: stateDirectory });
}

/** The first signal stops everything in order, the second one at once. */
function heed({ supervisor, notifier, log }: House, signals: StopSignals): void {
  // A wish to reopen files: the audit listens for it while it runs. With nobody listening the
  // process would end.
  process.on("SIGHUP", () => undefined);
  signals.listen((signal, insisted) => {
    log.info(insisted ? "stopping at once" : "stopping", { signal });
    if (!insisted) notifier.stopping();
    void supervisor.stop(insisted ? 0 : STOP_MS);
  });
}

function components(house: House): Component[] {
  const { config } = house.configuration;
  const { telemetry, pull } = telemetryComponents(house);
  const parts: Component[] = [telemetry, poolComponent(house), gatewayComponent(house)];
  if (config.get(servicesDedup)) {
    const scheduler = createScheduler(
      { clock: house.clock, log: house.log.child("schedules") },
      { name: "dedup-schedules", needs: ["dedup"] },
    );
    parts.push(dedupComponent(house, scheduler), scheduler);
  }
  if (house.tokens !== undefined) parts.push(house.tokens.component);
  if (house.monitor !== undefined) parts.push(house.monitor.component);
  if (pull !== undefined) parts.push(pull);
  house.admin = adminListener(config, servicesOf(house), () => served(house, "admin"), house.clock);
  if (house.admin !== undefined) parts.push(house.admin);
  parts.push(
    ...nightlyBackups(house.configuration, house.log.child("backups"), servicesOf(house)),
    house.updates,
    ...house.profiling.components,
  );
  // First to start is last to stop: a stop that takes its time is alive, too.
  if (house.notifier.watchdog !== undefined) parts.unshift(house.notifier.watchdog);
  return parts;
}

function telemetryComponents(house: House): Pick<DemoMetrics, "telemetry" | "pull"> {
  const { pull, component } = house.telemetry.telemetry;
  const telemetry = house.monitor?.telemetry ?? component;
  if (!house.configuration.demo.demo) return { telemetry, pull };
  house.demoMetrics = createDemoMetrics(telemetry, pull);
  return house.demoMetrics;
}

/** Names of what must run before it can be served or copied. */
function servicesOf({ configuration, tokens }: House): string[] {
  return [
    TELEMETRY,
    ...(configuration.config.get(servicesDedup) ? ["dedup"] : []),
    ...(tokens === undefined ? [] : ["tokens"]),
  ];
}

function poolComponent({ pool }: House): Component {
  return {
    name: "pool",
    needs: [TELEMETRY],
    readiness: "none",
    start: () => Promise.resolve(),
    stop: () => pool.close(),
  };
}

function dedupComponent(house: House, scheduler: Scheduler): Component {
  const { configuration, log, pool } = house;
  const { demo, config } = configuration;
  return {
    name: "dedup",
    needs: ["pool"],
    readiness: "required",
    health() {
      if (house.refusal !== undefined) return refusing(house.refusal);
      return house.dedup === undefined
        ? { ok: true }
        : dedupHealth(house.dedup, config.get(dedupArchives));
    },
    async start(signal) {
      const deps = {
        config,
        state: house.state,
        pool,
        scheduler,
        clock: house.clock,
        ids: house.ids,
        log: log.child("dedup"),
        jobChanged: house.telemetry.jobChanged,
      };
      const options = {
        archives: (await archiveRows(house)).map((row) => openArchive({ pool }, row)),
        demo: demo.demo,
      };
      const started = await startOrRefuse("dedup", {
        start: () => openDedup(deps, options, signal),
        signal,
        log: deps.log,
      });
      if (started.service !== undefined) house.dedup = started.service;
      house.refusal = started.refusal;
      house.documents =
        started.service === undefined
          ? refuseDedup({ clock: house.clock, ...options }, started.refusal)
          : started.service.service;
    },
    async stop(deadlineMs) {
      house.closing = house.dedup?.close(deadlineMs);
      await house.closing;
    },
  };
}

/** The configured archives, with the invented one first in a demo. */
async function archiveRows({ configuration }: House): Promise<ArchiveConfig[]> {
  const configured = configuration.config
    .get(dedupArchives)
    .filter((row) => !configuration.demo.demo || row.name !== DEMO_ARCHIVE);
  if (!configuration.demo.demo) return [...configured];
  const path = join(configuration.stateDirectory, "archive");
  await writeDemoArchive(path, { seed: DEMO_SEED });
  return [{ name: DEMO_ARCHIVE, kind: "folder", path, include: [], exclude: [] }, ...configured];
}

function gatewayComponent(house: House): Component {
  const { config } = house.configuration;
  return {
    name: "gateway",
    needs: servicesOf(house),
    readiness: "required",
    async start() {
      house.gateway = createGateway(
        { ...served(house, "gateway"), surface: adminPlace(config).surface },
        { address: config.get(gatewayListen), ...tlsOf(config) },
      );
      await house.gateway.start();
      house.telemetry.reportPort(house.gateway);
    },
    async stop(deadlineMs) {
      await house.gateway?.stop(deadlineMs);
    },
  };
}

/** Of each listener that has one. */
function certificatesOf({
  gateway,
  admin,
  telemetry,
}: House): ReturnType<HouseStatusDeps["certificates"]> {
  return {
    gateway: gateway?.certificate(),
    admin: admin?.certificate(),
    metrics: telemetry.telemetry.status().ledger?.pull?.certificate,
  };
}

function tlsOf(config: Config): { readonly tls?: ListenTls } {
  const [certFile, keyFile] = [config.get(gatewayTls.certFile), config.get(gatewayTls.keyFile)];
  return certFile === "" ? {} : { tls: { certFile, keyFile } };
}

/** The start line first, then what a person wants to know. */
async function greet({
  configuration,
  dedup,
  tokens,
  gateway,
  log,
  notifier,
  telemetry,
  demoMetrics,
}: House): Promise<void> {
  const { host } = configuration.config.get(gatewayListen);
  const scheme = configuration.config.get(gatewayTls.certFile) === "" ? "http" : "https";
  const url = `${scheme}://${formatAddress({ host, port: gateway?.port ?? 0 })}`;
  // Not before every address is taken: a start that fails must not have used up the one time that
  // the token is shown.
  await tokens?.showRoot();
  process.stdout.write(`steward listening on ${url}\n`);
  telemetry.telemetry.openOutput();
  notifier.ready(`listening on ${url}`);
  if (configuration.demo.demo) log.info(`open ${url}/ or run: curl -s ${url}/api/v1/duplicates`);
  const demo = tokens?.demo();
  if (demo !== undefined)
    process.stderr.write(
      `the demo's root token of the Vault API: ${demo.root.use((value) => value)}\nmint one: curl -s -H "X-Vault-Token: ${demo.root.use((value) => value)}" -d org_name=${demo.organisation} ${url}/v1/github/token\n`,
    );
  demo?.begin();
  await dedup?.begin({ syncNow: configuration.demo.demo });
  await demoMetrics?.begin(new AbortController().signal);
  const metrics = telemetry.telemetry.status().ledger?.pull?.address;
  if (demoMetrics !== undefined && metrics !== undefined)
    log.info(`metrics for Prometheus: curl -s http://${metrics}/metrics`);
}
