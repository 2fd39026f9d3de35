/** From an address to the name that metrics and records show for it. */
import type { Host } from "./addresses.ts";
import type { DeviceCache, KnownDevice } from "./types.ts";

/** Stands before a name that only a reporter vouches for. */
const UNVERIFIED = "unverified:";
/** The name of an address of the network that nobody is known to have. */
const UNKNOWN = "unknown";
/** The name of everything outside of the network. */
const EXTERNAL = "external";

/** How a device is called: its host name, or what comes closest. */
export function deviceLabel(
  device: Pick<KnownDevice, "hostname" | "name" | "nodeId" | "id">,
): string {
  return device.hostname || device.name.split(".", 1)[0] || device.nodeId || device.id;
}

/**
 * Device, service, unverified device, else what kind of address it is. `device` is who has the
 * address, if anybody; with `collapseExternal` an address without a name is told by its kind only.
 */
export function nodeName(
  devices: DeviceCache,
  device: KnownDevice | undefined,
  host: Host,
  collapseExternal: boolean,
): string {
  if (device !== undefined) return deviceLabel(device);
  const service = devices.serviceAt(host.address);
  if (service !== undefined) return service;
  const suggested = devices.suggestedAt(host.address);
  if (suggested !== undefined) return `${UNVERIFIED}${suggested}`;
  if (!collapseExternal) return host.address;
  return host.overlay || host.kind === "name" ? UNKNOWN : EXTERNAL;
}
