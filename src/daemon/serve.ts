/**
 * The daemon: creates the services, starts components in dependency order, prints the listening
 * addresses, and stops on a signal.
 */
import { fstatSync } from "node:fs";
import { createGateway } from "../../gateway/gateway.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { apiMetricsEnabled, configuredArchives } from "../dedup/config.ts";
import { logConsole } from "../kernel/base/log/console-log.ts";
import { collectStartGarbage } from "../kernel/base/system/start-garbage.ts";
import { createLog } from "../kernel/base/log.ts";
import type { Log } from "../kernel/base/log.ts";
import { formatAddress } from "../kernel/config/values/address.ts";
import type { Config } from "../kernel/config/config.ts";
import { formatFinding } from "../kernel/config/findings.ts";
import { gatewayListen, gatewayTls } from "../../gateway/config.ts";
import {
  loggingFormat,
  loggingLevel,
  poolThreads,
  servicesDedup,
  servicesMonitor,
  servicesTokens,
} from "./config/process-keys.ts";
import type { ListenTls } from "../kernel/listen/listener.ts";
import { createPool } from "../kernel/pool/pool.ts";
import type { Pool } from "../kernel/pool/types.ts";
import { createCountHistory, type CountHistory } from "./history/count-history.ts";
import { serviceCounts } from "./history/service-counts.ts";
import { lockStateDirectory } from "../kernel/state/folder/directory-lock.ts";
import type { StateFactory } from "../kernel/state/types.ts";
import { RESERVE_BYTES } from "../kernel/state/folder/reserve.ts";
import { createStateFactory } from "../kernel/state/state-factory.ts";
import type { Component, ComponentState, Supervisor } from "../kernel/supervisor/component.ts";
import { createNotifier } from "../kernel/supervisor/notify.ts";
import type { Notifier } from "../kernel/supervisor/notify.ts";
import type { StopSignals } from "../kernel/supervisor/stop-signals.ts";
import { createSupervisor } from "../kernel/supervisor/supervisor.ts";
import type { UpdateCheck } from "../updates/update-check.ts";
import { adminListener, type AdminListener } from "./listeners/admin-listener.ts";
import { adminSurface } from "./listeners/admin.ts";
import { daemonSchema, type DaemonConfiguration } from "./configuration.ts";
import type { HostedDedup } from "./services/dedup.ts";
import { createDemoMetrics, type DemoMetrics } from "./demo/metrics.ts";
import { exitOnUncaught, type EndProcess } from "./end-process.ts";
import type { ProcessHealth } from "./health.ts";
import { createMonitorHost } from "./services/monitor-host.ts";
import type { HostedMonitor } from "./services/monitor.ts";
import { reportDisk } from "../kernel/telemetry/report/disk-report.ts";
import { backupsByHand, nightlyBackups } from "./nightly-backups.ts";
import { createProcessTelemetry, type ProcessTelemetry } from "./telemetry/telemetry.ts";
import { configureProfiling, type ProcessProfiling } from "./telemetry/profiling.ts";
import { systemRuntime, type DaemonRuntime } from "./runtime.ts";
import { ownerSocket } from "./listeners/owner-socket.ts";
import { served, servedToOwner } from "./listeners/served.ts";
import type { ProcessStatusDeps } from "./status/process-status.ts";
import { watchStores } from "./status/stores.ts";
import type { HostedTokens } from "./services/tokens.ts";
import { configureUpdateCheck } from "./updates.ts";
import { stewardVersion } from "./version.ts";
import { waitFor } from "../kernel/async/wait.ts";

/** Longest orderly stop; what still runs then is abandoned. */
const STOP_MS = 30_000;
/** Longest wait for a pending write when a second signal forces the stop. */
const LAST_WRITE_MS = 2_000;
/** Everything that counts depends on it, so that it stops last and sends the final values. */
const TELEMETRY = "telemetry";

/** State that the parts of one run share. */
interface Daemon extends Pick<DaemonRuntime, "clock" | "ids"> {
  readonly configuration: DaemonConfiguration;
  readonly log: Log;
  readonly pool: Pool;
  readonly supervisor: Supervisor;
  readonly telemetry: ProcessTelemetry;
  readonly notifier: Notifier;
  readonly state: StateFactory;
  readonly tokens: HostedTokens | undefined;
  readonly monitor: HostedMonitor | undefined;
  readonly profiling: ProcessProfiling;
  readonly updates: UpdateCheck;
  readonly dedup: HostedDedup | undefined;
  readonly health: () => ProcessHealth;
  /** Undefined while there is nothing to count. */
  readonly history: CountHistory | undefined;
  gateway?: Gateway;
  admin?: AdminListener | undefined;
  demoMetrics?: DemoMetrics;
}

/** Runs until a signal asks to stop; resolves with the exit code. Rejects when the start fails. */
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
  exitOnUncaught(log, end);
  logConsole(log);
  const threads = config.get(poolThreads);
  const pool = createPool({ clock, log: log.child("pool"), ...(threads === 0 ? {} : { threads }) });
  const pull = config.get(apiMetricsEnabled) && config.get(servicesDedup);
  const telemetry = await createProcessTelemetry({
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
  reportDisk(telemetry.scope, configuration.stateDirectory);
  const services = { configuration, state, telemetry, pool, clock, ids, log };
  const tokens = config.get(servicesTokens) ? await loadTokens(services) : undefined;
  const dedup = config.get(servicesDedup) ? await loadDedup(services) : undefined;
  announce({ configuration, log });
  const demoNetwork =
    configuration.demo.demo && config.get(servicesMonitor)
      ? await loadDemoNetwork(services)
      : undefined;
  const facts = { clock, ids, version: stewardVersion(), scope: telemetry.scope };
  const profiling = configureProfiling({
    ...facts,
    config,
    log: log.child("profiler"),
    environment: process.env,
  });
  const updates = configureUpdateCheck({ ...facts, configuration, log: log.child("updates") });
  const supervisor = createSupervisor({ clock, log: log.child("supervisor") });
  const health = (): ProcessHealth => ({ states: statesOf(daemon), stores: stores.health() });
  const history =
    dedup === undefined && tokens === undefined
      ? undefined
      : createCountHistory({
          clock,
          log: log.child("history"),
          state,
          counts: () => serviceCounts(dedup, tokens),
          needs: [
            ...(dedup?.components ?? []).map(({ name }) => name),
            ...(tokens === undefined ? [] : [tokens.component.name]),
          ],
        });
  const monitor = createMonitorHost({
    clock,
    log,
    configuration,
    environment: process.env,
    demoNetwork: demoNetwork?.options,
    needs: [TELEMETRY],
    processTelemetry: telemetry,
    readings,
    ids,
    on: monitorOn,
    states: () => statesOf(daemon),
    stores: () => stores.health(),
    profiling: () => profiling.status(),
    updates: () => updates.status(),
    certificates: () => certificatesOf(daemon),
    counts: () => history?.view() ?? { hours: [], days: [] },
  });
  const daemon: Daemon = {
    clock,
    ids,
    configuration,
    log,
    pool,
    state,
    telemetry,
    tokens,
    dedup,
    monitor,
    profiling,
    updates,
    notifier,
    supervisor,
    health,
    history,
  };
  const lock = lockStateDirectory(configuration.stateDirectory);
  if (lock.advisory !== undefined)
    log.warn(lock.advisory, {
      remedy: `give the folder to the user that runs Steward: chown -R USER ${configuration.stateDirectory}`,
    });
  for (const component of components(daemon)) daemon.supervisor.add(component);
  telemetry.reportComponents(daemon.supervisor);
  telemetry.reportCertificate("admin", () => daemon.admin?.certificate());
  stopOnSignals(daemon, signals);
  try {
    await daemon.supervisor.start();
    collectStartGarbage();
    await printStartLines(daemon);
    await signals.first;
    return 0;
  } catch (error) {
    // A signal during the start stops the daemon like any other.
    if (signals.stopRequested()) return 0;
    throw error;
  } finally {
    await daemon.supervisor.stop(STOP_MS);
    await demoNetwork?.stop();
    // Even a forced stop waits for a pending LMDB write: `exit` during it can hang for ever.
    const closed = dedup?.closing()?.catch(() => undefined);
    if (closed !== undefined) await waitFor(closed, { clock, timeoutMs: LAST_WRITE_MS });
    lock.release();
  }
}

/** The process's components, and those of the monitor's thread that open a port. */
function statesOf({ supervisor, monitor }: Daemon): readonly ComponentState[] {
  return [...supervisor.states(), ...(monitor?.receivers() ?? [])];
}

type ServiceDeps = Pick<
  Daemon,
  "configuration" | "state" | "telemetry" | "pool" | "clock" | "ids" | "log"
>;

// A service that is off is not loaded: its modules take memory for as long as the process runs.

async function loadTokens({
  configuration,
  state,
  telemetry,
  log,
}: ServiceDeps): Promise<HostedTokens> {
  const { isJournalled, hostTokens } = await import("./services/tokens.ts");
  return hostTokens({
    configuration,
    state: () => state,
    scope: telemetry.scope,
    log: log.child("tokens"),
    needs: [TELEMETRY],
    print: (line) => process.stderr.write(line),
    journalled: isJournalled(process.env, fstatSync(process.stderr.fd)),
  });
}

async function loadDedup(deps: ServiceDeps): Promise<HostedDedup> {
  const { hostDedup } = await import("./services/dedup.ts");
  return hostDedup({ ...deps, jobChanged: deps.telemetry.jobChanged, needs: ["pool"] });
}

async function loadDemoNetwork({ configuration, clock, ids, log }: ServiceDeps) {
  const { startDemoNetwork } = await import("./demo/network.ts");
  return await startDemoNetwork({ clock, ids, log: log.child("demo") }, configuration.config);
}

function announce({ configuration, log }: Pick<Daemon, "configuration" | "log">): void {
  const { demo, file, stateDirectory, warnings } = configuration;
  for (const finding of warnings) log.warn(formatFinding(finding));
  if (demo.demo) announceDemo(configuration, log);
  if (file !== undefined) log.info("configuration", { file });
  log.info("state", { directory: stateDirectory });
}

function announceDemo({ config, demo }: DaemonConfiguration, log: Log): void {
  const readsOwn = configuredArchives(config).some(({ kind }) => kind !== "paperless");
  log.info(
    `this is a demo with simulated data; ${readsOwn ? "only the configured folders and files of yours are read" : "nothing of yours is read or changed"}`,
    { because: demo.reason },
  );
}

/** The first signal stops everything in order, the second one at once. */
function stopOnSignals({ supervisor, notifier, log }: Daemon, signals: StopSignals): void {
  // SIGHUP reopens files; the audit handles it while it runs. Without a listener the signal would
  // end the process.
  process.on("SIGHUP", () => undefined);
  signals.listen((signal, insisted) => {
    log.info(insisted ? "stopping at once" : "stopping", { signal });
    if (!insisted) notifier.stopping();
    void supervisor.stop(insisted ? 0 : STOP_MS);
  });
}

function components(daemon: Daemon): Component[] {
  const { config } = daemon.configuration;
  const { telemetry, pull } = telemetryComponents(daemon);
  const parts: Component[] = [telemetry, poolComponent(daemon)];
  // Before dedup, and so stopped after its jobs.
  if (daemon.tokens !== undefined) parts.push(daemon.tokens.component);
  parts.push(gatewayComponent(daemon));
  if (daemon.dedup !== undefined) parts.push(...daemon.dedup.components);
  if (daemon.history !== undefined) parts.push(daemon.history.component);
  if (daemon.monitor !== undefined)
    parts.push(
      daemon.monitor.component,
      ...(daemon.monitor.coordination === undefined ? [] : [daemon.monitor.coordination]),
    );
  if (pull !== undefined) parts.push(pull);
  daemon.admin = adminListener(
    config,
    servicesOf(daemon),
    () => served(daemon, "admin"),
    daemon.clock,
  );
  if (daemon.admin !== undefined) parts.push(daemon.admin);
  parts.push(
    ...nightlyBackups(
      daemon.configuration,
      daemon.log.child("backups"),
      servicesOf(daemon),
      daemon.telemetry.scope,
    ),
    ownerSocket(
      {
        ...backupsByHand(daemon.configuration),
        log: daemon.log.child("owner"),
        served: (backup) => servedToOwner(daemon, backup),
      },
      servicesOf(daemon),
    ),
    daemon.updates,
    ...daemon.profiling.components,
  );
  // First to start is last to stop, so the systemd watchdog is notified during a slow stop.
  if (daemon.notifier.watchdog !== undefined) parts.unshift(daemon.notifier.watchdog);
  return parts;
}

function telemetryComponents(daemon: Daemon): Pick<DemoMetrics, "telemetry" | "pull"> {
  const { pull, component } = daemon.telemetry.telemetry;
  const telemetry = daemon.monitor?.telemetry ?? component;
  if (!daemon.configuration.demo.demo) return { telemetry, pull };
  daemon.demoMetrics = createDemoMetrics(telemetry, pull);
  return daemon.demoMetrics;
}

/** Components that must run before the gateway serves or a backup copies. */
function servicesOf({ configuration, tokens }: Daemon): string[] {
  return [
    TELEMETRY,
    ...(configuration.config.get(servicesDedup) ? ["dedup"] : []),
    ...(tokens === undefined ? [] : ["tokens"]),
  ];
}

function poolComponent({ pool }: Daemon): Component {
  return {
    name: "pool",
    needs: [TELEMETRY],
    readiness: "none",
    start: () => Promise.resolve(),
    stop: () => pool.close(),
  };
}

function gatewayComponent(daemon: Daemon): Component {
  const { config } = daemon.configuration;
  return {
    name: "gateway",
    needs: servicesOf(daemon),
    readiness: "required",
    stopsFirst: true,
    async start() {
      daemon.gateway = createGateway(
        { ...served(daemon, "gateway"), surface: adminSurface(config).surface },
        { address: config.get(gatewayListen), ...tlsOf(config) },
      );
      await daemon.gateway.start();
      daemon.telemetry.reportPort(daemon.gateway);
    },
    async stop(deadlineMs) {
      await daemon.gateway?.stop(deadlineMs);
    },
  };
}

/** Certificates by listener, for those with TLS. */
function certificatesOf({
  gateway,
  admin,
  telemetry,
}: Daemon): ReturnType<ProcessStatusDeps["certificates"]> {
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

/** Prints the start line, then the addresses and hints. */
async function printStartLines({
  configuration,
  dedup,
  tokens,
  gateway,
  log,
  notifier,
  telemetry,
  demoMetrics,
}: Daemon): Promise<void> {
  const { host } = configuration.config.get(gatewayListen);
  const scheme = configuration.config.get(gatewayTls.certFile) === "" ? "http" : "https";
  const url = `${scheme}://${formatAddress({ host, port: gateway?.port ?? 0 })}`;
  // Only after all ports are open: a failed start must not consume the one time the root token is
  // shown.
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
  await dedup?.current()?.begin({ syncNow: configuration.demo.demo });
  await demoMetrics?.begin(new AbortController().signal);
  const metrics = telemetry.telemetry.status().ledger?.pull?.address;
  if (demoMetrics !== undefined && metrics !== undefined)
    log.info(`metrics for Prometheus: curl -s http://${metrics}/metrics`);
}
