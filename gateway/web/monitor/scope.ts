/** Which network's part of the status is shown: one of several, or all together. */
import { html, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import type { Device, NetworkStatus, StatusJson } from "../../../src/gen/status-json.ts";

/** A device with its network where there are several: they may have devices of the same name. */
export interface NetworkDevice extends Device {
  readonly network?: string;
}

/** The devices of all networks, by name; those of one name are in the order of their networks. */
export function devicesOf({ networks, devices }: StatusJson): readonly NetworkDevice[] {
  if (networks.length < 2) return devices;
  const networksByName = new Map<string, string[]>();
  for (const { name: network, devices: own } of networks)
    for (const { name } of own) {
      const names = networksByName.get(name);
      if (names === undefined) networksByName.set(name, [network]);
      else names.push(network);
    }
  return devices.map((device) => {
    const network = networksByName.get(device.name)?.shift();
    return network === undefined ? device : { ...device, network };
  });
}

function networkDevices({ name: network, devices }: NetworkStatus): readonly NetworkDevice[] {
  return devices.map((device) => ({ ...device, network }));
}

/** The path of its page. */
export function deviceLink({ name, network }: Pick<NetworkDevice, "name" | "network">): string {
  const path = `/devices/${encodeURIComponent(name)}`;
  return network === undefined ? path : `${path}?network=${encodeURIComponent(network)}`;
}

/** What networks have each, and the process has together. */
export type Scope = Pick<NetworkStatus, "api" | "cardinality" | "collectors" | "device_cache"> & {
  readonly devices: readonly NetworkDevice[];
  /** The network that was chosen; undefined for all. */
  readonly network: string | undefined;
};

/** The scope named in the URL; all when it names none that exists. */
export function scopeOf(status: StatusJson, { params }: Pick<PageState, "params">): Scope {
  const chosen =
    status.networks.length > 1
      ? status.networks.find(({ name }) => name === params.get("network"))
      : undefined;
  const { api, cardinality, collectors, device_cache } = chosen ?? status;
  const devices = chosen === undefined ? devicesOf(status) : networkDevices(chosen);
  return { network: chosen?.name, api, cardinality, collectors, device_cache, devices };
}

/** Links to each network; nothing where there is only one. */
export function networkSelector(
  { networks }: StatusJson,
  scope: Scope,
  state: PageState,
): View | undefined {
  if (networks.length < 2) return undefined;
  const choices = [
    { name: "All networks", value: undefined as string | undefined },
    ...networks.map(({ name }) => ({ name, value: name as string | undefined })),
  ];
  return html`<nav class="segments" aria-label="Network">${choices.map(
    ({ name, value }) =>
      html`<a data-stay href=${linkWith(state, { network: value }, state.panel)} aria-current=${scope.network === value ? "true" : undefined}>${name}</a>`,
  )}</nav>`;
}
