/** The device list as JSON text, cached for a second: thousands of devices are megabytes. */
import type { Network } from "../network/network.ts";
import { deviceObject } from "./devices.ts";

/** The latest list of each form. */
export interface DeviceList {
  body(fields: "default" | "all", nowMs: number): Buffer;
}

/** Keeps at most one text of each form. */
export function createDeviceList(network: Network): DeviceList {
  const kept = new Map<string, { readonly second: number; readonly body: Buffer }>();
  return {
    body(fields, nowMs) {
      const second = Math.floor(nowMs / 1000);
      const known = kept.get(fields);
      if (known?.second === second) return known.body;
      const body = Buffer.from(
        JSON.stringify({
          devices: network.devices
            .at(second * 1000)
            .map((device) => deviceObject(network, device, fields === "all")),
        }),
      );
      kept.set(fields, { second, body });
      return body;
    },
  };
}
