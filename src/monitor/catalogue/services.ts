/** Metrics of the monitor: virtual-IP services (facts, metric catalogue). */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow, Row } from "../../kernel/telemetry/types.ts";

/** Hosts of a service by approval level and configured state. */
export const serviceHosts: Row<"vpn.service.name" | "vpn.service.approval" | "vpn.service.configured", "gauge"> = defineMetric({ name: "vpn.service.hosts", kind: "gauge", unit: "1", attributes: ["vpn.service.name", "vpn.service.approval", "vpn.service.configured"], group: "Services", help: "Hosts of a service by approval level and configured state.", when: "cardinality.per_entity.service and collectors.services.collect_hosts" });
/** Port rules of a service. */
export const servicePorts: Row<"vpn.service.name", "gauge"> = defineMetric({ name: "vpn.service.ports", kind: "gauge", unit: "{port}", attributes: ["vpn.service.name"], group: "Services", help: "Port rules of a service.", when: "cardinality.per_entity.service" });
/** Virtual-IP services in the network. */
export const servicesCount: Row<never, "gauge"> = defineMetric({ name: "vpn.services.count", kind: "gauge", unit: "1", group: "Services", help: "Virtual-IP services in the network." });

/** All rows of this file. */
export const servicesMetrics: readonly AnyRow[] = catalogue([
  serviceHosts, servicePorts, servicesCount,
]);
