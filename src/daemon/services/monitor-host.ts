/**
 * Hosts the monitor in the daemon: passes it its configuration and a port to the process's status.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { RootLog } from "../../kernel/base/log.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { servicesMonitor } from "../config/process-keys.ts";
import type { Placement } from "../../kernel/threads/hosted-service.ts";
import { coordinationOptions } from "../../monitor/coordination/config/keys.ts";
import type { NetworkOptions } from "../../monitor/options.ts";
import type { DaemonConfiguration } from "../configuration.ts";
import {
  monitorOptionsOf,
  hostMonitor,
  type HostedMonitor,
  type HostMonitorDeps,
} from "./monitor.ts";
import { createProcessStatus, type ProcessStatusDeps } from "../status/process-status.ts";
import { stewardVersion } from "../version.ts";

export interface MonitorHostDeps extends Omit<ProcessStatusDeps, "clock" | "log"> {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly on: Placement;
  readonly log: RootLog;
  readonly configuration: DaemonConfiguration;
  readonly environment: Environment;
  /** Replaces the configured networks in a demo. */
  readonly demoNetwork: NetworkOptions | undefined;
  readonly needs: readonly string[];
}

/** Undefined when `services.monitor` is off. */
export function createMonitorHost(deps: MonitorHostDeps): HostedMonitor | undefined {
  const {
    clock,
    ids,
    on,
    log,
    configuration,
    environment,
    demoNetwork,
    processTelemetry,
    needs,
    readings,
  } = deps;
  if (!configuration.config.get(servicesMonitor)) return undefined;
  const options = monitorOptionsOf(configuration, environment, demoNetwork);
  const startedAtMs = Math.round(clock.now() - readings.uptimeMs());
  const status = createProcessStatus(
    { ...deps, log: log.child("status") },
    { configuration, monitor: options, version: stewardVersion(), startedAtMs },
  );
  return hostMonitor({
    clock,
    ids,
    on,
    options,
    telemetry: processTelemetry.telemetry,
    processStatus: () => status.port(),
    log,
    needs,
    coordination: coordinationOf(deps),
  });
}

/** A demo shares nothing. */
function coordinationOf({
  configuration: { config, demo },
  environment,
  processTelemetry: { scope },
}: MonitorHostDeps): HostMonitorDeps["coordination"] {
  const options = demo.demo ? undefined : coordinationOptions(config);
  return options && { options, environment, scope };
}
