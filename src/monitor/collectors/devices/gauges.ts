/**
 * Gauges per device: times, flags, distribution and route counts. A field that a device does not
 * report has no series.
 */
import type { Row } from "../../../kernel/telemetry/types.ts";
import {
  deviceBlocksIncomingConnections,
  deviceDistro,
  deviceKeyExpiry,
  deviceKeyExpiryDisabled,
  deviceLastSeen,
  deviceMultipleConnections,
  deviceOnline,
  devicePostureIdentityDisabled,
  deviceRoutesAdvertised,
  deviceRoutesEnabled,
  deviceSshEnabled,
  deviceUpdateAvailable,
} from "../../catalogue/devices.ts";
import type { Device } from "../../providers/model.ts";
import { unixSeconds } from "../units.ts";
import { distroOf } from "./groups.ts";
import type { IdentityName, Part, PartContext } from "./part.ts";

const flags: readonly (readonly [
  row: Row<IdentityName, "gauge">,
  of: (device: Device) => boolean | undefined,
])[] = [
  [deviceOnline, ({ online }) => online],
  [deviceUpdateAvailable, ({ updateAvailable }) => updateAvailable],
  [deviceMultipleConnections, ({ multipleConnections }) => multipleConnections],
  [deviceBlocksIncomingConnections, ({ blocksIncomingConnections }) => blocksIncomingConnections],
  [deviceSshEnabled, ({ sshEnabled }) => sshEnabled],
  [deviceKeyExpiryDisabled, ({ keyExpiryDisabled }) => keyExpiryDisabled],
  [devicePostureIdentityDisabled, ({ postureIdentityDisabled }) => postureIdentityDisabled],
];

/** Undefined when the key never expires. */
export function expiryOf({ expiresMs, keyExpiryDisabled }: Device): number | undefined {
  return keyExpiryDisabled === true ? undefined : expiresMs;
}

export function deviceGauges({ sweep, options: { collectRoutes } }: PartContext): Part {
  return {
    see(device, identity) {
      for (const [row, of] of flags) {
        const value = of(device);
        if (value !== undefined) sweep.gauge(row, Number(value), identity);
      }
      const expiresMs = expiryOf(device);
      if (device.lastSeenMs !== undefined)
        sweep.gauge(deviceLastSeen, unixSeconds(device.lastSeenMs), identity);
      if (expiresMs !== undefined) sweep.gauge(deviceKeyExpiry, unixSeconds(expiresMs), identity);
      const distro = distroOf(device);
      if (distro) sweep.gauge(deviceDistro, 1, { ...identity, ...distro });
      if (!collectRoutes) return;
      sweep.gauge(deviceRoutesAdvertised, device.advertisedRoutes.length, identity);
      sweep.gauge(deviceRoutesEnabled, device.enabledRoutes.length, identity);
    },
  };
}
