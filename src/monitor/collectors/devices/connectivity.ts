/** Device connectivity: NAT and protocol support, and latency to relay regions. */
import {
  derpRegionDevices,
  derpRegionLatencyMin,
  derpRegionPreferred,
  deviceConnectivityDirectCapable,
  deviceConnectivityEndpoints,
  deviceConnectivityHardNat,
  deviceConnectivityIpv6,
  deviceConnectivityUdp,
  deviceDerpLatency,
  devicesClientSupports,
  devicesDirectCapable,
  devicesHardNat,
} from "../../catalogue/devices.ts";
import type { Connectivity } from "../../providers/model.ts";
import { switchCount } from "./fleet.ts";
import type { Part, PartContext } from "./part.ts";

const capabilities = ["udp", "ipv6", "pcp", "pmp", "upnp"] as const;

/**
 * Estimates whether a device can connect directly, without a relay. Undefined when UDP support is
 * unknown.
 */
function directCapable({ supports: { udp }, hardNat }: Connectivity): boolean | undefined {
  return udp === undefined ? undefined : udp && !hardNat;
}

/** Gauges per device. */
export function connectivityGauges({ sweep }: PartContext): Part {
  return {
    see({ connectivity }, identity) {
      if (connectivity === undefined) return;
      const { hardNat, endpoints, supports } = connectivity;
      const direct = directCapable(connectivity);
      sweep.gauge(deviceConnectivityEndpoints, endpoints.length, identity);
      sweep.gauge(deviceConnectivityHardNat, Number(hardNat), identity);
      if (supports.ipv6 !== undefined)
        sweep.gauge(deviceConnectivityIpv6, Number(supports.ipv6), identity);
      if (supports.udp !== undefined)
        sweep.gauge(deviceConnectivityUdp, Number(supports.udp), identity);
      if (direct !== undefined)
        sweep.gauge(deviceConnectivityDirectCapable, Number(direct), identity);
    },
  };
}

/** Counts over all devices. */
export function connectivityCounts(context: PartContext): Part[] {
  return [
    switchCount(context, devicesHardNat, ({ connectivity }) => connectivity?.hardNat),
    switchCount(
      context,
      devicesDirectCapable,
      ({ connectivity }) => connectivity && directCapable(connectivity),
    ),
    clientSupports(context),
  ];
}

function clientSupports({ sweep }: PartContext): Part {
  const counts = new Map<string, number>();
  return {
    see({ connectivity }) {
      for (const capability of capabilities) {
        const value = connectivity?.supports[capability];
        if (value !== undefined)
          counts.set(capability, (counts.get(capability) ?? 0) + Number(value));
      }
    },
    finish() {
      for (const [capability, count] of counts)
        sweep.gauge(devicesClientSupports, count, { "vpn.connectivity.capability": capability });
    },
  };
}

/** Latency from each device to each relay region. */
export function relayLatencies({ sweep }: PartContext): Part {
  return {
    see({ connectivity }, identity) {
      for (const { region, preferred, seconds } of connectivity?.latency ?? []) {
        sweep.gauge(deviceDerpLatency, seconds, {
          ...identity,
          "vpn.derp.region": region,
          "vpn.derp.preferred": preferred,
        });
      }
    },
  };
}

/** Per relay region: devices that see it, devices that prefer it, and lowest latency. */
export function relayRegions({ sweep }: PartContext): Part {
  const regions = new Map<string, { devices: number; preferred: number; seconds: number }>();
  return {
    see({ connectivity }) {
      for (const { region, preferred, seconds } of connectivity?.latency ?? []) {
        const known = regions.get(region) ?? {
          devices: 0,
          preferred: 0,
          seconds: Number.POSITIVE_INFINITY,
        };
        regions.set(region, {
          devices: known.devices + 1,
          preferred: known.preferred + Number(preferred),
          seconds: Math.min(known.seconds, seconds),
        });
      }
    },
    finish() {
      for (const [region, { devices, preferred, seconds }] of regions) {
        const labels = { "vpn.derp.region": region };
        sweep.gauge(derpRegionDevices, devices, labels);
        sweep.gauge(derpRegionPreferred, preferred, labels);
        sweep.gauge(derpRegionLatencyMin, seconds, labels);
      }
    },
  };
}
