/**
 * Collector of virtual-IP services and, optionally, their hosts. Service addresses give names to
 * flows.
 */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { Values } from "../../kernel/telemetry/types.ts";
import { defineOperation, stateOfError } from "../capability/operation.ts";
import type { ApiState } from "../capability/operation.ts";
import type { ServiceHost, VirtualService } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { defineSection, flag } from "./section.ts";
import { Tally } from "./tally.ts";

const serviceHosts = defineMetric({
  name: "vpn.service.hosts",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.service.name", "vpn.service.approval", "vpn.service.configured"],
  group: "Services",
  help: "Hosts of a service by approval level and configured state.",
  when: "cardinality.per_entity.service and collectors.services.collect_hosts",
});
const servicePorts = defineMetric({
  name: "vpn.service.ports",
  kind: "gauge",
  unit: "{port}",
  attributes: ["vpn.service.name"],
  group: "Services",
  help: "Port rules of a service.",
  when: "cardinality.per_entity.service",
});
const servicesCount = defineMetric({
  name: "vpn.services.count",
  kind: "gauge",
  unit: "1",
  group: "Services",
  help: "Virtual-IP services in the network.",
});

const listServices = defineOperation("listServices");
const listHosts = defineOperation("listServiceHosts");

const section = defineSection("services", {
  collects: "services",
  intervalSeconds: 600,
  fields: {
    collectHosts: flag(false, "Collects the hosts of each service, with one call per service."),
  },
});

/** Reading hosts needs the device scope too. */
export const services = defineCollector({
  section,
  description: "Virtual-IP services",
  needs: "services",
  operations: [listServices, listHosts],
  scopes: (options) => [
    ["services:read"],
    ...(options?.collectHosts === true ? [["devices:core:read"]] : []),
  ],
  emits: catalogue([serviceHosts, servicePorts, servicesCount]),
  open:
    (deps, { collectHosts }) =>
    async (tick) => {
      const result = await tick.call(listServices, () => deps.provider.services(tick.signal));
      deps.devices.replaceServices(result);
      tick.sweep.gauge(servicesCount, result.length, {});
      if (!deps.options.cardinality.perEntity.service) return;
      for (const { name, ports } of result)
        tick.sweep.gauge(servicePorts, ports.length, { "vpn.service.name": name });
      if (collectHosts) await showHosts(result, deps, tick);
    },
});

/** Fetches hosts service by service. A service whose call fails has no hosts in this run. */
async function showHosts(
  result: readonly VirtualService[],
  { provider }: CollectorDeps,
  tick: Tick,
): Promise<void> {
  const failures: ApiState[] = [];
  for (const { name } of result) {
    try {
      showHostsOf(name, await provider.serviceHosts(name, tick.signal), tick);
    } catch (error) {
      tick.signal.throwIfAborted();
      failures.push(stateOfError(error, listHosts));
    }
  }
  if (result.length > 0) tick.covered(listHosts, { tried: result.length, failures });
}

function showHostsOf(name: string, hosts: readonly ServiceHost[], { sweep }: Tick): void {
  const tally = new Tally<
    Values<"vpn.service.name" | "vpn.service.approval" | "vpn.service.configured">
  >();
  for (const { approval, configured } of hosts)
    tally.add({
      "vpn.service.name": name,
      "vpn.service.approval": approval,
      "vpn.service.configured": configured,
    });
  for (const { values, count } of tally.entries()) sweep.gauge(serviceHosts, count, values);
}
