/**
 * Counts over all devices, their ages, and network lock errors. A count is omitted when no device
 * reports its field.
 */
import type { Row } from "../../../kernel/telemetry/types.ts";
import {
  devicesAge,
  devicesCount,
  devicesEphemeral,
  devicesKeyExpiryDisabled,
  devicesSshEnabled,
  devicesUntagged,
  networkLockErrors,
} from "../../catalogue/devices.ts";
import { deviceNetworkLockErrorRecord } from "../../catalogue/records.ts";
import type { Device } from "../../providers/model.ts";
import { Tally } from "../tally.ts";
import { known, secondsSince } from "../units.ts";
import type { Part, PartContext } from "./part.ts";

/** Devices by OS, authorization and origin; untagged devices; ages. */
export function fleetCounts({ deps: { scope }, sweep, nowMs }: PartContext): Part {
  const tally = new Tally<{
    readonly "os.type": string | undefined;
    readonly "vpn.authorized": boolean;
    readonly "vpn.external": boolean;
  }>();
  let untagged = 0;
  return {
    see({ os, authorized, external, tags, createdMs }) {
      tally.add({ "os.type": known(os), "vpn.authorized": authorized, "vpn.external": external });
      if (tags.length === 0 && !external) untagged += 1;
      if (createdMs !== undefined) scope.record(devicesAge, secondsSince(createdMs, nowMs), {});
    },
    finish() {
      for (const { values, count } of tally.entries()) sweep.gauge(devicesCount, count, values);
      sweep.gauge(devicesUntagged, untagged, {});
    },
  };
}

/** Number of devices with a flag set. */
export function switchCount(
  { sweep }: PartContext,
  row: Row<never, "gauge">,
  of: (device: Device) => boolean | undefined,
): Part {
  let on: number | undefined;
  return {
    see(device) {
      const value = of(device);
      if (value !== undefined) on = (on ?? 0) + Number(value);
    },
    finish() {
      if (on !== undefined) sweep.gauge(row, on, {});
    },
  };
}

export function switchCounts(context: PartContext): Part[] {
  return [
    switchCount(context, devicesEphemeral, ({ ephemeral }) => ephemeral),
    switchCount(context, devicesSshEnabled, ({ sshEnabled }) => sshEnabled),
    switchCount(context, devicesKeyExpiryDisabled, ({ keyExpiryDisabled }) => keyExpiryDisabled),
  ];
}

/** Devices with a network lock error. */
export function lockErrors({ deps: { scope }, sweep }: PartContext): Part {
  let errors = 0;
  return {
    see({ lockError }, identity) {
      if (lockError === "") return;
      errors += 1;
      scope.log(deviceNetworkLockErrorRecord, lockError, identity);
    },
    finish: () => sweep.gauge(networkLockErrors, errors, {}),
  };
}
