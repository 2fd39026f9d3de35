/** Where the monitor of bench/status.ts is; importing this does not import it. */
import type { ServiceModule } from "../src/kernel/threads/hosted-service.ts";
import { monitorModule } from "../src/monitor/module.ts";
import type { MonitorOptions } from "../src/monitor/options.ts";

/** What the monitor of the bench is told. */
export interface BenchOptions {
  readonly monitor: MonitorOptions;
  readonly devices: number;
}

/** The monitor with a control plane of so many devices. */
export const benchMonitorModule: ServiceModule<BenchOptions> = {
  name: "monitor",
  file: new URL("status-monitor.ts", import.meta.url),
  export: "createBenchMonitor",
  descriptors: monitorModule.descriptors,
};
