/** Descriptor of the monitor module. Importing this does not import the monitor. */
import { EventService } from "../gen/steward/monitor/v1/event_service_pb.ts";
import { FlowService } from "../gen/steward/monitor/v1/flow_service_pb.ts";
import { PresenceService } from "../gen/steward/monitor/v1/presence_service_pb.ts";
import { ReverseDnsService } from "../gen/steward/monitor/v1/reverse_dns_service_pb.ts";
import { StatusService } from "../gen/steward/monitor/v1/status_service_pb.ts";
import type { ServiceModule } from "../kernel/threads/hosted-service.ts";
import type { MonitorOptions } from "./options.ts";

/** Hosts the monitor on any thread. */
export const monitorModule: ServiceModule<MonitorOptions> = {
  name: "monitor",
  file: new URL("service.ts", import.meta.url),
  export: "createMonitor",
  descriptors: [StatusService, EventService, FlowService, PresenceService, ReverseDnsService],
};
