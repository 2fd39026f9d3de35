/** Metrics of the monitor: virtual-IP services. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const serviceHosts = defineMetric({
  name: "vpn.service.hosts",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.service.name", "vpn.service.approval", "vpn.service.configured"],
  group: "Services",
  help: "Hosts of a service by approval level and configured state.",
  when: "cardinality.per_entity.service and collectors.services.collect_hosts",
});
export const servicePorts = defineMetric({
  name: "vpn.service.ports",
  kind: "gauge",
  unit: "{port}",
  attributes: ["vpn.service.name"],
  group: "Services",
  help: "Port rules of a service.",
  when: "cardinality.per_entity.service",
});
export const servicesCount = defineMetric({
  name: "vpn.services.count",
  kind: "gauge",
  unit: "1",
  group: "Services",
  help: "Virtual-IP services in the network.",
});

export const servicesMetrics: readonly AnyRow[] = catalogue([
  serviceHosts,
  servicePorts,
  servicesCount,
]);
