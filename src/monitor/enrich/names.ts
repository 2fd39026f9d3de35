/** Display name of an address in metrics and records. */
import type { Host } from "./addresses.ts";
import type { ReverseNames } from "../reverse-dns/types.ts";
import type { DeviceCache, KnownDevice } from "./types.ts";

/** Prefix of names that only a reporter vouches for. */
const UNVERIFIED = "unverified:";
/** Overlay addresses of no known device. */
const UNKNOWN = "unknown";
/** Addresses outside the network. */
const EXTERNAL = "external";

export interface NameOptions {
  readonly collapseExternal: boolean;
  /** Undefined while reverse DNS is off. */
  readonly reverseNames?: ReverseNames | undefined;
}

/** Host name of a device, or the closest substitute. */
export function deviceLabel(
  device: Pick<KnownDevice, "hostname" | "name" | "nodeId" | "id">,
): string {
  return device.hostname || device.name.split(".", 1)[0] || device.nodeId || device.id;
}

/**
 * In order: device, service, unverified device, reverse name, kind of address. With
 * `collapseExternal`, unnamed external addresses are named by kind only.
 */
export function nodeName(
  devices: DeviceCache,
  device: KnownDevice | undefined,
  host: Host,
  { collapseExternal, reverseNames }: NameOptions,
): string {
  if (device !== undefined) return deviceLabel(device);
  const service = devices.serviceAt(host.address);
  if (service !== undefined) return service;
  const suggested = devices.suggestedAt(host.address);
  if (suggested !== undefined) return `${UNVERIFIED}${suggested}`;
  const external = !host.overlay && host.kind !== "name";
  const reverse = external ? reverseNames?.nameOf(host.address) : undefined;
  if (reverse !== undefined) return reverse;
  if (!collapseExternal) return host.address;
  return external ? EXTERNAL : UNKNOWN;
}
