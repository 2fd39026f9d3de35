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
  /** Names that several devices share. */
  readonly collisions: readonly string[];
}

/**
 * Selects devices by the options, in device order. Of several with one name, one keeps it, and the
 * others have their address beside it; host names are not unique and always have it.
 */
export function discover(devices: readonly Device[], options: DiscoveryOptions): Discovery {
  const chosen = devices
    .filter((device) => isChosen(device, options))
    .flatMap((device) => {
      const address = addressOf(device, options.addressOrder);
      return address === undefined
        ? []
        : [{ device, address, name: nameOf(device, address, options) }];
    });
  // Also of those that are offline or beyond the limit: when they come back, no series of another
  // device may have their name.
  const byName = Map.groupBy(chosen, ({ name }) => name);
  const keepers = new Map(
    [...byName].map(([name, sharing]) => [name, keeperOf(sharing.map(({ device }) => device))]),
  );
  const wanted = chosen.filter(({ device }) => device.online || !options.onlineOnly);
  const shown = wanted.slice(0, options.maxTargets);
  return {
    left: wanted.length - shown.length,
    collisions: [...new Set(shown.map(({ name }) => name))].filter(
      (name) => (byName.get(name)?.length ?? 0) > 1,
    ),
    targets: shown.map(({ device, address, name }) => ({
      url: `${options.scheme}://${hostOf(address)}:${options.port}${options.path}`,
      instance:
        options.instanceSource === "hostname" || keepers.get(name) !== device
          ? `${name}@${address}`
          : name,
      labels: labelsOf(device, options),
    })),
  };
}

/** Own devices come before those shared in, then the lowest id: no order of a list decides. */
function keeperOf(sharing: readonly Device[]): Device | undefined {
  const [first] = sharing.toSorted(
    (left, right) =>
      Number(left.external) - Number(right.external) || (left.id < right.id ? -1 : 1),
  );
  return first;
}

/** Whether its agent is scraped while it is online. */
function isChosen(
  device: Device,
  { excludeExternal, includeTags, excludeTags }: DiscoveryOptions,
): boolean {
  if (excludeExternal && device.external) return false;
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
