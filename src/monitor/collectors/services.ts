/**
 * Virtual-IP services and, when asked for, the devices behind them. Their addresses give names to
 * flows.
 */
import type { Values } from "../../kernel/telemetry/types.ts";
import { operations, stateOfError } from "../capability/operation.ts";
import type { ApiState } from "../capability/operation.ts";
import {
  serviceHosts,
  servicePorts,
  servicesCount,
  servicesMetrics,
} from "../catalogue/services.ts";
import type { ServiceHost, VirtualService } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { Tally } from "./tally.ts";

/** Services, their ports and hosts. Hosts are devices and need their scope too. */
export const services = defineCollector({
  name: "services",
  description: "Virtual-IP services",
  capability: "services",
  operations: [operations.services, operations.serviceHosts],
  scopes: ({ collectors }) => [
    ["services:read"],
    ...(collectors.services?.collectHosts === true ? [["devices:core:read"]] : []),
  ],
  emits: servicesMetrics,
  options: ({ collectors }) => collectors.services,
  open:
    (deps, { collectHosts }) =>
    async (tick) => {
      const told = await tick.call(operations.services, () => deps.provider.services(tick.signal));
      deps.devices.replaceServices(told);
      tick.sweep.gauge(servicesCount, told.length, {});
      if (!deps.options.cardinality.perEntity.service) return;
      for (const { name, ports } of told)
        tick.sweep.gauge(servicePorts, ports.length, { "vpn.service.name": name });
      if (collectHosts) await showHosts(told, deps, tick);
    },
});

/**
 * Asks one service after the other. A service whose call fails has no hosts in this run; the others
 * do.
 */
async function showHosts(
  told: readonly VirtualService[],
  { provider }: CollectorDeps,
  tick: Tick,
): Promise<void> {
  const failures: ApiState[] = [];
  for (const { name } of told) {
    try {
      showHostsOf(name, await provider.serviceHosts(name, tick.signal), tick);
    } catch (error) {
      tick.signal.throwIfAborted();
      failures.push(stateOfError(error, operations.serviceHosts));
    }
  }
  if (told.length > 0) tick.covered(operations.serviceHosts, { tried: told.length, failures });
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
