/**
 * The monitor in the house: what it is told of the configuration, and what it may ask of everything
 * around it.
 */
import type { Clock } from "../kernel/base/clock.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { RootLog } from "../kernel/base/log.ts";
import type { Environment } from "../kernel/config/key.ts";
import { servicesMonitor } from "../kernel/config/process-keys.ts";
import type { Placement } from "../kernel/threads/hosted-service.ts";
import type { NetworkOptions } from "../monitor/options.ts";
import type { DaemonConfiguration } from "./configuration.ts";
import { monitorOptionsOf, placeMonitor, type PlacedMonitor } from "./monitor.ts";
import { createHouseStatus, type HouseStatusDeps } from "./status/process-status.ts";
import { stewardVersion } from "./version.ts";

/** What it is placed with. */
export interface HouseMonitorDeps extends Omit<HouseStatusDeps, "clock" | "log"> {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly on: Placement;
  readonly log: RootLog;
  readonly configuration: DaemonConfiguration;
  readonly environment: Environment;
  /** The demo's; then none of the configured ones is collected. */
  readonly demoNetwork: NetworkOptions | undefined;
  readonly needs: readonly string[];
}

/** Undefined when the configuration switches it off. */
export function placeHouseMonitor(deps: HouseMonitorDeps): PlacedMonitor | undefined {
  const { clock, ids, on, log, configuration, environment, demoNetwork, house, needs, readings } =
    deps;
  if (!configuration.config.get(servicesMonitor)) return undefined;
  const options = monitorOptionsOf(configuration, environment, demoNetwork);
  const startedAtMs = Math.round(clock.now() - readings.uptimeMs());
  const status = createHouseStatus(
    { ...deps, log: log.child("status") },
    { configuration, monitor: options, version: stewardVersion(), startedAtMs },
  );
  return placeMonitor({
    clock,
    ids,
    on,
    options,
    telemetry: house.telemetry,
    house: () => status.port(),
    log,
    needs,
  });
}
