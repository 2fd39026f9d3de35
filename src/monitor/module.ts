/** Where the monitor is; importing this does not import it. */
import { StatusService } from "../gen/steward/monitor/v1/status_service_pb.ts";
import type { ServiceModule } from "../kernel/threads/hosted-service.ts";
import type { MonitorOptions } from "./options.ts";

/** The monitor as a service that can be placed on any thread. */
export const monitorModule: ServiceModule<MonitorOptions> = {
  name: "monitor",
  file: new URL("service.ts", import.meta.url),
  export: "createMonitor",
  descriptors: [StatusService],
};
