/** The pages `/devices`, who is online and what expires, and `/devices/{id}`, one device. */
import type { Device, StatusJson } from "../../../src/gen/status-json.ts";
import { formatCount } from "../format.ts";
import type { PresenceReport } from "../../../src/gen/presence-json.ts";
import { html, type View } from "../html.ts";
import { deviceFacts, deviceTable } from "../monitor/devices.ts";
import { devicesOf, networkSelector, scopeOf, type NetworkDevice } from "../monitor/scope.ts";
import type { PageState } from "../page-state.ts";
import { figures } from "../pieces/card.ts";
import { keyValues } from "../pieces/key-values.ts";
import { banner, problemBanner } from "../review/words.ts";
import { stripsOf, type Strips } from "./strip.ts";

export interface DevicesFacts {
  /** Undefined when it could not be read. */
  readonly status: StatusJson | undefined;
  /** Undefined until it was read. */
  readonly presence?: PresenceReport | undefined;
  /** In place of presence until it was read. */
  readonly strips?: Strips | undefined;
  /** Why not. */
  readonly problem?: string | undefined;
  /** The status may be outdated. */
  readonly stale?: boolean;
}

/** A key that expires within this time needs somebody. */
const KEY_SOON_MS = 14 * 86_400_000;

/** The list; with a name, the device of that name. */
export function devicesPage(
  { status, presence, strips: drawn, problem = "", stale }: DevicesFacts,
  name: string | undefined,
  state: PageState,
): View {
  const read = stripsOf(presence, state.nowMs);
  const strips = presence === undefined ? (drawn ?? read) : read;
  const body =
    status === undefined
      ? problemBanner("The devices", problem)
      : name === undefined
        ? list(status, strips, state)
        : one(status, name, strips, state);
  return html`<div class=${stale === true ? "stack was" : "stack"}>${body}</div>`;
}

function list(status: StatusJson, strips: Strips, state: PageState): View {
  const scope = scopeOf(status, state);
  const { devices } = scope;
  const count = (of: (device: Device) => boolean): string => formatCount(devices.filter(of).length);
  return html`<div class="stack">
    <h2>Devices</h2>
    <section class="card" aria-label="All devices">${figures([
      { label: "Devices", value: formatCount(devices.length) },
      { label: "Online", value: count(({ online }) => online) },
      { label: "Offline", value: count(({ online }) => !online) },
      { label: "Keys that end within 14 days", value: count((device) => endsSoon(device, state)) },
      { label: "Updates available", value: count((device) => device.update_available === true) },
    ])}</section>
    ${networkSelector(status, scope, state)}
    ${deviceTable(devices, state, strips)}
  </div>`;
}

function endsSoon({ key_expires_at, key_expiry_disabled }: Device, { nowMs }: PageState): boolean {
  const at = Date.parse(key_expires_at ?? "");
  return key_expiry_disabled !== true && at - nowMs < KEY_SOON_MS;
}

function one(status: StatusJson, name: string, strips: Strips, state: PageState): View {
  const wanted = state.params.get("network") ?? "";
  const [only] = status.networks;
  const device = devicesOf(status).find(
    ({ name: own, network = only?.name }) => own === name && (wanted === "" || network === wanted),
  );
  return html`<div class="stack">
    <a class="back-always" href="/devices">← All devices</a>
    <h2>${name}</h2>
    ${
      device === undefined
        ? banner(
            "notice",
            html`<span><strong>This device is not known.</strong> It left its network, or the link is wrong.</span>`,
          )
        : html`<div class="stack">${keyValues(deviceFacts(device, state, strips))}${status.event_store.enabled ? changes(device) : undefined}</div>`
    }
  </div>`;
}

/** Events are found by the name of their target, which devices of several networks may have. */
function changes({ name, network }: NetworkDevice): View {
  const title =
    network === undefined ? "Changes of this device" : `Changes of ${name}, in any network`;
  return html`<p><a href=${`/events?target=${encodeURIComponent(name)}`}>${title}</a></p>`;
}
