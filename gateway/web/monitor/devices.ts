/** The device table, and one device: connection, expiry, version and routes. */
import { formatAge, formatMoment } from "../format.ts";
import type { Strips } from "../devices/strip.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { listView, type KeyValue } from "../pieces/key-values.ts";
import { stateText, type State } from "../pieces/state.ts";
import { table } from "../pieces/table.ts";
import { moment } from "../pieces/time.ts";
import { deviceLink, type NetworkDevice } from "./scope.ts";
import type { Device } from "../../../src/gen/status-json.ts";

/** A key that expires within this time is shown as a notice. */
const KEY_SOON_MS = 14 * 86_400_000;

/** With presence, the strip of each device. */
export function deviceTable(
  rows: readonly NetworkDevice[],
  state: PageState,
  stripOf?: Strips,
): View {
  // Rows of one network need not say which.
  const isJoined = new Set(rows.map(({ network }) => network)).size > 1;
  return table<NetworkDevice>(
    {
      id: "devices",
      what: "devices",
      rows,
      keyOf: ({ network = "", name, addrs }) => `${network} ${name} ${addrs[0] ?? ""}`,
      empty:
        "No devices are known yet. The Collectors tab says whether the devices collector runs, and why it fails.",
      columns: [
        {
          key: "name",
          title: "Device",
          text: ({ name, hostname, network, tags = [] }) =>
            [name, hostname, ...(isJoined ? [network] : []), ...tags].join(" "),
          order: ({ name }) => name,
          cell: (device) => nameCell(device, isJoined),
        },
        {
          key: "state",
          title: "State",
          text: ({ online }) => onlineText(online),
          order: onlineOrder,
          cell: (device) => onlineCell(device, state),
        },
        ...(stripOf === undefined
          ? []
          : [
              {
                key: "day",
                title: "24 hours",
                cell: stripOf,
              },
            ]),
        {
          key: "key",
          title: "Key expires",
          order: keyOrder,
          cell: (device) => keyCell(device, state),
        },
        {
          key: "version",
          title: "Version",
          text: ({ client_version, update_available }) =>
            `${client_version ?? ""}${update_available === true ? " update available" : ""}`,
          order: ({ client_version }) => versionOrder(client_version),
          cell: versionCell,
        },
        {
          key: "routes",
          title: "Routes",
          text: ({ advertised_routes = [], enabled_routes = [] }) =>
            [...advertised_routes, ...enabled_routes].join(" "),
          order: ({ advertised_routes = [] }) => advertised_routes.length,
          cell: routesCell,
        },
        { key: "user", title: "User", text: ({ user }) => user, cell: ({ user }) => user },
        {
          key: "os",
          title: "System",
          text: ({ os, os_version }) => `${os} ${os_version}`,
          cell: ({ os, os_version }) => `${os} ${os_version}`,
        },
        {
          key: "addrs",
          title: "Addresses",
          text: ({ addrs }) => addrs.join(" "),
          cell: ({ addrs }) => listView(addrs),
        },
      ],
    },
    state,
  );
}

/** Everything known of one device. */
export function deviceFacts(
  device: NetworkDevice,
  state: PageState,
  stripOf: Strips,
): readonly KeyValue[] {
  const { network, hostname, os, os_version, user, tags, addrs, external } = device;
  return [
    network === undefined ? undefined : ["Network", network],
    ["State", onlineCell(device, state)],
    ["24 hours", stripOf(device)],
    ["Key expires", keyCell(device, state)],
    ["Version", versionCell(device)],
    ["Routes", routesCell(device)],
    ["Tags", listView(tags)],
    user === "" ? undefined : ["User", user],
    ["Host name", hostname],
    ["System", `${os} ${os_version}`],
    ["Addresses", listView(addrs)],
    external ? ["Shared", "from another network"] : undefined,
  ];
}

function nameCell(device: NetworkDevice, isJoined: boolean): View {
  const { name, hostname, network, external, tags } = device;
  const [first = name] = name.split(".");
  const details = [
    ...(first === name ? [] : [name]),
    ...(hostname === first || hostname === name ? [] : [hostname]),
    ...(external ? ["shared from another network"] : []),
    ...(isJoined && network !== undefined ? [`in ${network}`] : []),
  ];
  return html`<span><a class="row-link" href=${deviceLink(device)}><strong>${first}</strong></a>${details.length === 0 ? undefined : html`<small>${breakable(details.join(", "))}</small>`}${tags === undefined ? undefined : html`<small>${listView(tags)}</small>`}</span>`;
}

/** Names of hosts that are too long for their column are broken after a dot. */
function breakable(names: string): Child[] {
  return names
    .split(/(?<=\.)/)
    .flatMap((label, index) => (index === 0 ? [label] : [html`<wbr />`, label]));
}

function onlineText(online: boolean): string {
  return online ? "online" : "offline";
}

/** Ascending: offline longest first, then those that are connected. */
function onlineOrder({ online, last_seen }: Device): number {
  return online ? Infinity : (timeOf(last_seen) ?? 0);
}

function onlineCell({ online, last_seen }: Device, state: PageState): View {
  return html`<span>${stateText(online ? "good" : "unknown", onlineText(online))}<small>seen ${moment(last_seen, state)}</small></span>`;
}

function keyOrder({ key_expires_at, key_expiry_disabled }: Device): number {
  return key_expiry_disabled === true ? Infinity : (timeOf(key_expires_at) ?? Number.MAX_VALUE);
}

function keyCell(
  { key_expires_at, key_expiry_disabled }: Device,
  { nowMs, zone }: PageState,
): Child {
  const at = timeOf(key_expires_at);
  if (key_expiry_disabled === true) return html`<span class="muted">never</span>`;
  if (at === undefined) return html`<span class="muted">not known</span>`;
  const state: State = at <= nowMs ? "bad" : at - nowMs < KEY_SOON_MS ? "notice" : "good";
  const time = html`<time datetime=${key_expires_at} title=${formatMoment(at, zone)}>${at <= nowMs ? `expired ${formatAge(at, nowMs)}` : formatAge(at, nowMs)}</time>`;
  return state === "good" ? time : stateText(state, time);
}

/** `1.8.2` before `1.80.1`: each number with leading zeros. */
function versionOrder(version: string | undefined): string {
  return (version ?? "").replaceAll(/\d+/g, (digits) => digits.padStart(6, "0"));
}

/** Without the build's commit (`1.90.4-t6678354ef`), which is on hover. */
function versionCell({ client_version, update_available }: Device): Child {
  return html`<span>${client_version === undefined ? html`<span class="muted">not known</span>` : html`<span title=${client_version}>${client_version.replace(/-.*/, "")}</span>`}${update_available === true ? html`<small class="unbroken">${stateText("notice", "update available")}</small>` : undefined}</span>`;
}

function routesCell({
  advertised_routes: advertised = [],
  enabled_routes: enabled = [],
}: Device): Child {
  const waiting = advertised.filter((route) => !enabled.includes(route));
  if (advertised.length === 0 && enabled.length === 0) return html`<span class="muted">none</span>`;
  return html`<span>${enabled.length === 0 ? undefined : listView(enabled)}${waiting.length === 0 ? undefined : html`<small>${stateText("notice", html`<span>not approved: ${listView(waiting)}</span>`)}</small>`}</span>`;
}

function timeOf(time: string | undefined): number | undefined {
  const at = Date.parse(time ?? "");
  return Number.isNaN(at) ? undefined : at;
}
