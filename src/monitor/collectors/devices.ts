/**
 * Collector of devices: fetches all devices once per run, updates the device cache, and runs each
 * part over them.
 */
import type { AnyRow } from "../../kernel/telemetry/types.ts";
import { enrichCacheSize } from "../catalogue/collection.ts";
import { devicesMetrics } from "../catalogue/devices.ts";
import {
  deviceAttributeExpiringRecord,
  deviceInviteRecord,
  deviceKeyExpiringRecord,
  deviceNetworkLockErrorRecord,
  devicePostureRecord,
} from "../catalogue/records.ts";
import { defineCollector } from "./collector.ts";
import type { Collect, CollectorDeps } from "./collector.ts";
import {
  connectivityCounts,
  connectivityGauges,
  relayLatencies,
  relayRegions,
} from "./devices/connectivity.ts";
import { keyExpiries } from "./devices/expiry.ts";
import { fleetCounts, lockErrors, switchCounts } from "./devices/fleet.ts";
import { deviceGauges } from "./devices/gauges.ts";
import { byCountry } from "./devices/countries.ts";
import { byDistro, byTag } from "./devices/groups.ts";
import { createInvites } from "./devices/invites.ts";
import { identityOf } from "./devices/part.ts";
import type { Part, PartContext } from "./devices/part.ts";
import { createPosture } from "./devices/posture.ts";
import { exitNodes, subnetRoutes } from "./devices/routes.ts";
import {
  listDeviceInvites,
  getDevicePosture,
  devicesSection,
  listDevices,
  type DeviceOptions,
} from "./devices/section.ts";
import { byVersion, outdated } from "./devices/versions.ts";
import { forEachYielding } from "./yielding.ts";
import { nextTurn } from "../../kernel/async/turns.ts";

/** Share of the interval in which calls of single devices begin. */
const CALLS_SHARE = 0.8;

const emits: readonly AnyRow[] = [...devicesMetrics, enrichCacheSize];

/** Inventory, health, routes, connectivity and posture of devices; fills the device cache. */
export const devices = defineCollector({
  section: devicesSection,
  description:
    "Inventory, health, routes, connectivity and posture of devices; other collectors take their names from it.",
  needs: "devices",
  scopes: [["devices:core:read"]],
  operations: [listDevices, getDevicePosture, listDeviceInvites],
  subrequests: [
    {
      capability: "device_posture",
      needs: "devicePosture",
      operation: getDevicePosture,
      scopes: [["devices:posture_attributes:read"]],
      isWanted: ({ collectPosture }) => collectPosture,
    },
    {
      capability: "device_invites",
      needs: "deviceInvites",
      operation: listDeviceInvites,
      scopes: [["device_invites:read"]],
      isWanted: ({ collectDeviceInvites }) => collectDeviceInvites,
    },
  ],
  emits,
  records: [
    devicePostureRecord,
    deviceNetworkLockErrorRecord,
    deviceInviteRecord,
    deviceKeyExpiringRecord,
    deviceAttributeExpiringRecord,
  ],
  open: openDevices,
});

function openDevices(deps: CollectorDeps, options: DeviceOptions): Collect {
  const { provider } = deps;
  const hasPosture = options.collectPosture && provider.supports("devicePosture");
  const hasInvites = options.collectDeviceInvites && provider.supports("deviceInvites");
  const shareMs = (CALLS_SHARE * options.intervalMs) / (hasPosture && hasInvites ? 2 : 1);
  const posture = hasPosture ? createPosture(deps, options, shareMs) : undefined;
  const invites = hasInvites ? createInvites(deps, shareMs) : undefined;
  return async (tick) => {
    const list = await tick.call(listDevices, () => provider.devices(tick.signal));
    await deps.devices.replaceDevices(list);
    tick.sweep.gauge(enrichCacheSize, deps.devices.size, {});
    const parts = partsOf({ deps, options, nowMs: tick.nowMs, sweep: tick.sweep });
    await nextTurn(tick.signal);
    await forEachYielding(list, tick.signal, (device) => {
      const identity = identityOf(device);
      for (const part of parts) part.see(device, identity);
    });
    for (const part of parts) part.finish?.();
    await posture?.(tick, list);
    await invites?.(tick, list);
  };
}

function partsOf(context: PartContext): readonly Part[] {
  const {
    deps: {
      options: { cardinality },
    },
    options,
  } = context;
  const perDevice = cardinality.perEntity.device;
  return [
    ...(perDevice ? [deviceGauges(context), relayLatencies(context)] : []),
    fleetCounts(context),
    ...switchCounts(context),
    byDistro(context),
    ...(options.collectTagRollup ? [byTag(context)] : []),
    byVersion(context),
    ...outdated(context),
    keyExpiries(context),
    lockErrors(context),
    exitNodes(context),
    subnetRoutes(context),
    ...(options.collectConnectivity
      ? [
          ...(perDevice ? [connectivityGauges(context)] : []),
          ...connectivityCounts(context),
          ...byCountry(context),
        ]
      : []),
    ...(cardinality.derpRegionRollup ? [relayRegions(context)] : []),
  ];
}
