/** Ranked lists of a window's traffic: who, between whom, to which ports, over which paths. */
import type { FlowCounts, FlowLabel, FlowReport, FlowResult } from "../../../src/gen/flows-json.ts";
import { formatBytes, formatCount, formatWord } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { part } from "../pieces/section.ts";

/** Bytes in both directions. */
export function bytesOf({ tx_bytes: sent, rx_bytes: received }: FlowCounts): number {
  return sent + received;
}

/** The name that rows beyond the limit of a table are merged into. */
const OTHER = "__other__";

/** A name of the store for readers. */
export function nameOf(name: string): string {
  return name === OTHER ? "all others" : name === "" ? "–" : name;
}

interface Ranked {
  readonly name: Child;
  readonly counts: FlowCounts;
  readonly further?: readonly Child[];
}

/** A table whose rows have bars for their share of the largest. */
function ranking(
  what: string,
  heads: readonly string[],
  rows: readonly Ranked[],
): View | undefined {
  if (rows.length === 0) return undefined;
  const largest = Math.max(1, ...rows.map(({ counts }) => bytesOf(counts)));
  return html`<div class="table"><div class="scroll"><table aria-label=${what}>
    <thead><tr>${heads.map((title, at) => html`<th scope="col" class=${at === 0 || title === "Service" ? undefined : "figure"}>${title}</th>`)}</tr></thead>
    <tbody>${rows.map(({ name, counts, further = [] }) => html`<tr><td data-label=${heads[0]}><span class="long">${name}</span>${bar(bytesOf(counts) / largest)}</td>${further.map((cell, at) => html`<td class=${heads[at + 1] === "Service" ? undefined : "figure"} data-label=${heads[at + 1]}>${cell}</td>`)}</tr>`)}</tbody></table></div></div>`;
}

/** Drawn, not spoken: the figures say the same. */
function bar(share: number): View {
  return html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width=${Math.max(1, Math.round(share * 100))} height="4" rx="1" /></svg>`;
}

function figuresOf(counts: FlowCounts): readonly Child[] {
  return [formatBytes(counts.tx_bytes), formatBytes(counts.rx_bytes), formatCount(counts.flows)];
}

/** All lists that have rows. */
export function rankings({ result }: FlowReport, state: PageState): readonly View[] {
  const link = (name: string): Child =>
    name === OTHER || name === ""
      ? nameOf(name)
      : html`<a data-stay href=${linkWith(state, { device: name, cursor: undefined })}>${name}</a>`;
  const lists: readonly (readonly [title: string, note: string, View | undefined])[] = [
    ["Talkers", "Devices by their traffic as source and as destination.", talkers(result, link)],
    ["Pairs", "From source to destination.", pairs(result, link)],
    ["Ports", "Destinations inside the network.", ports(result)],
    ["Peers", "How physical traffic reaches them: directly, or through a relay.", peers(result)],
    ["Users", "One at both ends counts once.", labels("users", "User", result.users)],
    ["Tags", "Each tag by itself.", labels("tags", "Tag", result.tags)],
    ["Systems", "", labels("operating systems", "System", result.oses)],
    ["Kinds of traffic", "", labels("kinds of traffic", "Kind", result.traffic_types)],
    ["Transports", "", labels("transports", "Transport", result.transports)],
    ["Paths", "Of physical traffic.", labels("paths", "Path", result.paths)],
    ["Relay regions", "", labels("relay regions", "Region", result.derp_regions)],
  ];
  return lists.flatMap(([title, note, view]) =>
    view === undefined ? [] : [part(title, view, note === "" ? undefined : note)],
  );
}

function talkers({ nodes }: FlowResult, link: (name: string) => Child): View | undefined {
  return ranking(
    "talkers",
    ["Device", "As source", "As destination"],
    nodes.map(({ node, sent, received }) => ({
      name: link(node),
      counts: {
        ...sent,
        tx_bytes: sent.tx_bytes + received.tx_bytes,
        rx_bytes: sent.rx_bytes + received.rx_bytes,
      },
      further: [formatBytes(bytesOf(sent)), formatBytes(bytesOf(received))],
    })),
  );
}

function pairs({ pairs: rows }: FlowResult, link: (name: string) => Child): View | undefined {
  return ranking(
    "pairs",
    ["From and to", "Sent", "Received", "Connections"],
    rows.map(({ src, dst, traffic_type: type, counts }) => ({
      name: html`<span>${link(src)} → ${link(dst)} <small>${type}</small></span>`,
      counts,
      further: figuresOf(counts),
    })),
  );
}

function ports({ ports: rows }: FlowResult): View | undefined {
  return ranking(
    "ports",
    ["Port", "Service", "Sent", "Received", "Connections"],
    rows.map(({ port, transport, service, counts }) => ({
      name: port === OTHER ? nameOf(port) : `${port}/${transport}`,
      counts,
      further: [service === "" ? "–" : service, ...figuresOf(counts)],
    })),
  );
}

function peers({ peer_paths: rows }: FlowResult): View | undefined {
  return ranking(
    "peers",
    ["Peer", "Direct", "Relayed"],
    rows.map(({ peer, direct, relayed }) => ({
      name: nameOf(peer),
      counts: relayed,
      further: [formatBytes(bytesOf(direct)), formatBytes(bytesOf(relayed))],
    })),
  );
}

function labels(what: string, head: string, rows: readonly FlowLabel[]): View | undefined {
  return ranking(
    what,
    [head, "Sent", "Received", "Connections"],
    rows.map(({ label, counts }) => ({
      name: label === "direct_ipv4" || label === "direct_ipv6" ? formatWord(label) : nameOf(label),
      counts,
      further: figuresOf(counts),
    })),
  );
}
