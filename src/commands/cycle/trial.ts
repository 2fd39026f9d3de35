/**
 * One cycle from the configuration to its outcome: what is opened for it, in which time, and what
 * is given back.
 */
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createLog, type RootLog } from "../../kernel/base/log.ts";
import { loggingFormat, loggingLevel, servicesMonitor } from "../../daemon/config/process-keys.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { formatDuration } from "../../kernel/config/values/units.ts";
import { lockStateDirectory } from "../../kernel/state/folder/directory-lock.ts";
import type { TelemetryOptions } from "../../kernel/telemetry/options.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";
import { openMonitorCycle } from "../../monitor/cycle/cycle.ts";
import {
  preflightOptions,
  validatesPolicy,
  withoutReceivers,
  withoutVersionCheck,
} from "../../monitor/cycle/preflight-options.ts";
import type { MonitorOptions } from "../../monitor/options.ts";
import type { CycleArguments } from "./arguments.ts";
import {
  configureDaemon,
  daemonSchema,
  type DaemonConfiguration,
} from "../../daemon/configuration.ts";
import { monitorOptionsOf } from "../../daemon/services/monitor.ts";
import { telemetryOptions } from "../../daemon/telemetry/telemetry-options.ts";
import { createProcessTelemetry } from "../../daemon/telemetry/telemetry.ts";
import type { CommandOutput } from "../command.ts";
import { stewardVersion } from "../../daemon/version.ts";
import { checkExpositions } from "./exposition.ts";
import { exportAll, hasReceiver } from "./export.ts";
import type { CycleOutcome } from "./outcome.ts";
import { waitFor } from "../../kernel/async/wait.ts";
import { createDeadline, type Deadline } from "../../kernel/async/deadline.ts";

/** What a trial works with; the signal ends it at once. */
export interface TrialDeps {
  readonly environment: Environment;
  readonly output: CommandOutput;
  readonly signal: AbortSignal;
}

/** So much of the time is kept for what follows the collecting. */
const AFTER_SHARE = 1 / 3;
const AFTER_MS = 15_000;
/** Connections, files and annotations are given back within this. */
const CLOSE_MS = 5_000;

interface Trial extends TrialDeps {
  readonly requested: CycleArguments;
  readonly configuration: DaemonConfiguration;
  readonly monitor: MonitorOptions | undefined;
  readonly telemetry: TelemetryOptions;
  /** Monotonic. */
  readonly endsAtMs: number;
}

/** Throws what keeps it from beginning. */
export async function runTrial(requested: CycleArguments, deps: TrialDeps): Promise<CycleOutcome> {
  const endsAtMs = systemClock.monotonic() + requested.timeoutMs;
  const configuration = configureDaemon(requested, deps.environment);
  const configured = configuration.config.get(servicesMonitor)
    ? withoutReceivers(monitorOptionsOf(configuration, deps.environment))
    : undefined;
  const idle = configured?.networks.length
    ? undefined
    : whyIdle(requested, configuration, configured);
  const { mode, timeoutMs } = requested;
  if (idle !== undefined && mode !== "exposition-check")
    return {
      requested: { mode, timeoutMs },
      results: [],
      idle,
      exportAttempted: false,
      aclValidateSkipped: false,
    };
  const monitor =
    configured &&
    (mode === "once" ? withoutVersionCheck(configured) : preflightOptions(configured));
  const lock = mode === "once" ? lockFor(configuration) : undefined;
  try {
    const outcome = await observe({
      ...deps,
      requested,
      configuration,
      monitor,
      telemetry: telemetryFor(requested, configuration),
      endsAtMs,
    });
    return {
      ...outcome,
      ...(idle === undefined ? {} : { idle }),
      aclValidateSkipped:
        mode !== "once" && configured !== undefined && validatesPolicy(configured),
    };
  } finally {
    lock?.release();
  }
}

function whyIdle(
  { config }: CycleArguments,
  { demo }: DaemonConfiguration,
  configured: MonitorOptions | undefined,
): string {
  if (configured === undefined) return "nothing to collect: services.monitor is false";
  // A one-shot mode does not look for the daemon's file.
  const unread =
    config === undefined ? "; no configuration file was read, name one with -config FILE" : "";
  if (demo.demo)
    return `nothing to collect: the simulated network of the demo exists only in the daemon; set vpn.auth, or headscale.url and headscale.api_key, to collect a network of your own${unread}`;
  return `nothing to collect: no credential of a control plane is configured; set vpn.auth, or provider: headscale with headscale.url and headscale.api_key${unread}`;
}

/**
 * A real cycle moves the marks of the daemon's state, and two of them would send the same series.
 */
function lockFor({ stateDirectory }: DaemonConfiguration): ReturnType<typeof lockStateDirectory> {
  try {
    return lockStateDirectory(stateDirectory);
  } catch (error) {
    if (!(error instanceof StewardError) || error.code !== "conflict") throw error;
    throw new StewardError("conflict", `${error.message}, which collects and exports already`, {
      remedy: "use -preflight, which changes nothing, or stop that process",
      cause: error,
    });
  }
}

/** Opens no listener, and exports only what was requested. */
function telemetryFor(
  { mode, exports }: CycleArguments,
  { config }: DaemonConfiguration,
): TelemetryOptions {
  if (mode === "exposition-check") return { pull: true };
  if (mode === "preflight" && !exports) return { pull: false };
  const { scrape: _, ...options } = telemetryOptions(config, false);
  return options;
}

async function observe(trial: Trial): Promise<CycleOutcome> {
  const {
    requested,
    configuration: { config },
    telemetry: options,
    output,
    signal,
  } = trial;
  const { mode, timeoutMs } = requested;
  // What a trial finds is in its report; a real cycle is looked back upon in the log.
  const log = createLog({
    level: mode === "once" ? config.get(loggingLevel) : "error",
    format: config.get(loggingFormat),
    write: (line) => output.stderr(line),
    now: () => systemClock.now(),
  });
  const { telemetry } = await createProcessTelemetry({
    config,
    schema: daemonSchema,
    clock: systemClock,
    log,
    version: stewardVersion(),
    pull: options.pull,
    options,
  });
  await telemetry.component.start(signal, (error) => log.error("telemetry failed", { error }));
  telemetry.openOutput();
  try {
    const base = {
      requested: { mode, timeoutMs },
      ...(await collect(trial, telemetry, log)),
      aclValidateSkipped: false,
    };
    if (mode === "exposition-check") {
      using deadline = deadlineOf(signal, leftMs(trial));
      return {
        ...base,
        exportAttempted: false,
        exposition: await checkExpositions(telemetry, leftMs(trial), deadline.signal),
      };
    }
    if (!hasReceiver(options)) return { ...base, exportAttempted: false };
    const closeError = await exportAll(telemetry, leftMs(trial));
    const exportsToOutput = [options.metrics, options.logs, options.traces].some(
      (target) => target?.protocol === "stdout",
    );
    return {
      ...base,
      exportAttempted: true,
      exportsToOutput,
      ...(closeError === undefined ? {} : { closeError }),
    };
  } finally {
    // Everything was sent or given up: another export at the end would send it twice.
    await telemetry.component.stop(0);
  }
}

async function collect(
  trial: Trial,
  telemetry: Pick<Telemetry, "scope">,
  log: RootLog,
): Promise<Pick<CycleOutcome, "results" | "denied">> {
  const { monitor, signal, telemetry: options, requested } = trial;
  if (monitor === undefined) return { results: [] };
  const isAll = requested.mode !== "exposition-check" && !hasReceiver(options);
  const timeoutMs = Math.round(
    leftMs(trial) - (isAll ? 0 : Math.min(AFTER_MS, requested.timeoutMs * AFTER_SHARE)),
  );
  const cycle = await openMonitorCycle(
    {
      clock: systemClock,
      ids: systemIds,
      log: log.child("monitor"),
      openScope: (spec) => telemetry.scope(spec),
    },
    monitor,
  );
  try {
    using deadline = deadlineOf(signal, timeoutMs);
    const results = await cycle.run({ signal: deadline.signal, timeoutMs });
    return { results, denied: cycle.denied() };
  } finally {
    const closeMs = Math.min(CLOSE_MS, leftMs(trial));
    // What does not let go in its time is left behind: the process ends after this.
    await waitFor(cycle.close(closeMs), { clock: systemClock, timeoutMs: closeMs });
  }
}

function leftMs({ endsAtMs }: Trial): number {
  return Math.max(0, endsAtMs - systemClock.monotonic());
}

/** For work that ends by itself, with what it has, when its signal fires. */
function deadlineOf(signal: AbortSignal, timeoutMs: number): Deadline {
  return createDeadline(
    systemClock,
    timeoutMs,
    signal,
    () =>
      new StewardError("deadline", `not done after ${formatDuration(timeoutMs)}`, {
        remedy: "raise -preflight-timeout, or check why the other side does not answer",
      }),
  );
}
