/** Discovers node agents among the devices of a network. */
import { isIPv4, isIPv6 } from "node:net";
import type { NodeMetricsOptions } from "../options.ts";
import type { Device } from "../providers/model.ts";

type DiscoveryOptions = NonNullable<NodeMetricsOptions["discovery"]>;

export interface Discovered {
  readonly url: string;
  readonly instance: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Result of a discovery. */
export interface Discovery {
  readonly targets: readonly Discovered[];
  /** Devices beyond the limit. */
  readonly left: number;
  /** Host names that several devices share. */
  readonly collisions: readonly string[];
}

/** Selects devices by the options, in device order. */
export function discover(devices: readonly Device[], options: DiscoveryOptions): Discovery {
  const wanted = devices
    .filter((device) => isWanted(device, options))
    .flatMap((device) => {
      const address = addressOf(device, options.addressOrder);
      return address === undefined
        ? []
        : [{ device, address, name: nameOf(device, address, options) }];
    });
  const shown = wanted.slice(0, options.maxTargets);
  const counts = new Map<string, number>();
  for (const { name } of shown) counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    left: wanted.length - shown.length,
    collisions: [...counts].filter(([, count]) => count > 1).map(([name]) => name),
    targets: shown.map(({ device, address, name }) => ({
      url: `${options.scheme}://${hostOf(address)}:${options.port}${options.path}`,
      // Host names are not unique: a second device of the same name must not take over the first
      // one's series.
      instance:
        options.instanceSource === "hostname" || (counts.get(name) ?? 0) > 1
          ? `${name}@${address}`
          : name,
      labels: labelsOf(device, options),
    })),
  };
}

function isWanted(
  device: Device,
  { onlineOnly, excludeExternal, includeTags, excludeTags }: DiscoveryOptions,
): boolean {
  if ((onlineOnly && !device.online) || (excludeExternal && device.external)) return false;
  if (device.tags.some((tag) => excludeTags.includes(tag))) return false;
  return includeTags.length === 0 || device.tags.some((tag) => includeTags.includes(tag));
}

function addressOf({ addresses }: Device, order: "ipv4" | "ipv6"): string | undefined {
  const [first, second] = order === "ipv4" ? [isIPv4, isIPv6] : [isIPv6, isIPv4];
  return (
    addresses.find((address) => first(address)) ?? addresses.find((address) => second(address))
  );
}

function nameOf(
  device: Device,
  address: string,
  { instanceSource, port }: DiscoveryOptions,
): string {
  switch (instanceSource) {
    case "name":
      return device.name.split(".")[0] || device.hostname || address;
    case "hostname":
      return device.hostname || address;
    case "address":
      return `${hostOf(address)}:${port}`;
  }
}

function labelsOf(
  device: Device,
  { includeHostLabels, includeTagsLabel }: DiscoveryOptions,
): Record<string, string> {
  return {
    ...(includeHostLabels ? { "host.name": device.hostname, "host.id": device.id } : {}),
    ...(includeTagsLabel && device.tags.length > 0 ? { "vpn.tags": device.tags.join(",") } : {}),
  };
}

function hostOf(address: string): string {
  return isIPv6(address) ? `[${address}]` : address;
}
