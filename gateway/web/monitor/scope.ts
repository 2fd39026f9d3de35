/** Which network's part of the status is shown: one of several, or all together. */
import { html, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import type { NetworkStatus, StatusJson } from "../../../src/gen/status-json.ts";

/** What networks have each, and the process has together. */
export type Scope = Pick<
  NetworkStatus,
  "api" | "cardinality" | "collectors" | "device_cache" | "devices"
> & {
  /** The network that was chosen; undefined for all. */
  readonly network: string | undefined;
};

/** The scope named in the URL; all when it names none that exists. */
export function scopeOf(status: StatusJson, { params }: Pick<PageState, "params">): Scope {
  const chosen =
    status.networks.length > 1
      ? status.networks.find(({ name }) => name === params.get("network"))
      : undefined;
  const { api, cardinality, collectors, device_cache, devices } = chosen ?? status;
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
