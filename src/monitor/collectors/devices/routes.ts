/** Exit nodes and subnet routes. */
import {
  deviceExitNode,
  exitNodesCount,
  subnetRoutesAdvertised,
  subnetRoutesEnabled,
  subnetRoutesRouters,
  subnetRoutesUnapproved,
} from "../../catalogue/devices.ts";
import type { Part, PartContext } from "./part.ts";

/** Default routes: a device that advertises one is an exit node. */
const exits: ReadonlySet<string> = new Set(["0.0.0.0/0", "::/0"]);

/** Advertised and approved exit nodes. */
export function exitNodes({ deps: { options }, sweep }: PartContext): Part {
  const perDevice = options.cardinality.perEntity.device;
  let advertised = 0;
  let enabled = 0;
  return {
    see({ advertisedRoutes, enabledRoutes }, identity) {
      const offers = advertisedRoutes.some((route) => exits.has(route));
      const approved = enabledRoutes.some((route) => exits.has(route));
      advertised += Number(offers);
      enabled += Number(approved);
      if (offers && perDevice)
        sweep.gauge(deviceExitNode, 1, { ...identity, "vpn.exit_node.enabled": approved });
    },
    finish() {
      sweep.gauge(exitNodesCount, advertised, { "vpn.exit_node.state": "advertised" });
      sweep.gauge(exitNodesCount, enabled, { "vpn.exit_node.state": "enabled" });
    },
  };
}

/** Distinct subnets and the number of devices that advertise each. */
export function subnetRoutes({ deps: { options }, sweep }: PartContext): Part {
  const routers = new Map<string, number>();
  const enabled = new Set<string>();
  return {
    see({ advertisedRoutes, enabledRoutes }) {
      for (const route of new Set(advertisedRoutes))
        if (!exits.has(route)) routers.set(route, (routers.get(route) ?? 0) + 1);
      for (const route of enabledRoutes) if (!exits.has(route)) enabled.add(route);
    },
    finish() {
      sweep.gauge(subnetRoutesAdvertised, routers.size, {});
      sweep.gauge(subnetRoutesEnabled, enabled.size, {});
      sweep.gauge(
        subnetRoutesUnapproved,
        routers.keys().reduce((sum, route) => sum + Number(!enabled.has(route)), 0),
        {},
      );
      if (!options.cardinality.subnetRouteRollup) return;
      for (const [route, count] of routers)
        sweep.gauge(subnetRoutesRouters, count, { "vpn.route.cidr": route });
    },
  };
}
