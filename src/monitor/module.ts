/** Where the monitor is; importing this does not import it. */
import type { ServiceModule } from "../kernel/threads/placed.ts";
import type { MonitorOptions } from "./options.ts";

/** The monitor as a service that can be placed on any thread. */
export const monitorModule: ServiceModule<MonitorOptions> = { name: "monitor", file: new URL("service.ts", import.meta.url), export: "createMonitor", descriptors: [] };
