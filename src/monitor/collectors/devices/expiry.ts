/** Key expiries of devices: a histogram of days left, and a warning for those that expire soon. */
import { devicesKeyExpiry } from "../../catalogue/devices.ts";
import { deviceKeyExpiringRecord } from "../../catalogue/records.ts";
import { DAY_MS, dayOf } from "../units.ts";
import { expiryOf } from "./gauges.ts";
import type { Part, PartContext } from "./part.ts";

/** Each run warns about keys that expire within this many days. */
const WARN_DAYS = 14;

/** Days left with two decimals; undefined outside the warning period. */
export function daysUntilExpiry(expiresMs: number, nowMs: number): string | undefined {
  const days = (expiresMs - nowMs) / DAY_MS;
  return days > 0 && days <= WARN_DAYS ? days.toFixed(2) : undefined;
}

/** Over all devices whose key expires; past expiries are negative days. */
export function keyExpiries({ deps: { scope, annotations, network }, nowMs }: PartContext): Part {
  return {
    see(device, identity) {
      const expiresMs = expiryOf(device);
      if (expiresMs === undefined) return;
      scope.record(devicesKeyExpiry, (expiresMs - nowMs) / DAY_MS, {});
      const days = daysUntilExpiry(expiresMs, nowMs);
      if (days === undefined) return;
      scope.log(
        deviceKeyExpiringRecord,
        `the key of device ${device.hostname} expires in ${days} days`,
        { ...identity, "vpn.device.key_expires_in_days": days },
      );
      annotations.publish({
        category: "expiry",
        timeMs: nowMs,
        tags: ["device"],
        identity: `${network}/device/${device.id}/${expiresMs}`,
        text: `The key of device ${device.hostname} expires on ${dayOf(expiresMs)}.`,
      });
    },
  };
}
