/** The newest single connections with their filters. */
import type { Flow, FlowReport } from "../../../src/gen/flows-json.ts";
import { formatBytes, formatCount, formatSome, formatWord } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { empty, part } from "../pieces/section.ts";
import { badge, type State } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { FLOW_FILTERS, FLOW_PARAMS, MAX_ROWS, type FlowFacts } from "./flow-facts.ts";
import { bytesOf } from "./rankings.ts";

const TYPES = ["virtual", "subnet", "exit", "physical"] as const;
const PATHS = ["direct_ipv4", "direct_ipv6", "derp"] as const;
/** Fields of text, with what they look in. */
const FIELDS = [
  ["device", "Device"],
  ["addr", "Address"],
  ["service", "Service"],
  ["identity", "User or tag"],
] as const;

export function connections(facts: FlowFacts, report: FlowReport, state: PageState): View {
  return part(
    "Connections",
    html`<div class="stack tight">${filters(state)}${rowsView(facts, report, state)}</div>`,
    "Single connections, the newest first. Filters select these only: the sums above are those of the whole window.",
  );
}

function filters(state: PageState): View {
  const { params } = state;
  const choice = (name: string, label: string, any: string, values: readonly string[]): View =>
    html`<nav class="segments" aria-label=${label}>${[undefined, ...values].map((value) => html`<a data-stay href=${linkWith(state, { [name]: value, cursor: undefined })} aria-current=${(params.get(name) || undefined) === value ? "true" : undefined}>${value === undefined ? any : formatWord(value)}</a>`)}</nav>`;
  const isFiltered = FLOW_FILTERS.some((name) => (params.get(name) ?? "") !== "");
  return html`<div class="stack tight" role="search" aria-label="Filter connections">
    <div class="tools review-tools">
      ${choice("type", "Kind of traffic", "Any kind", TYPES)}
      ${choice("path", "Path", "Any path", PATHS)}
      ${isFiltered ? html`<a data-stay href=${clearLink(state)}>Clear the filters</a>` : undefined}
      <span class="actions-inline"><a href=${exportLink("csv", state)} download>CSV</a><a href=${exportLink("json", state)} download>JSON</a></span>
    </div>
    <div class="tools review-tools scripted">${FIELDS.map(([name, label]) => html`<label class="filter"><span class="sr">${label}</span><input type="search" maxlength="128" data-param=${name} value=${params.get(name) ?? ""} placeholder=${label} autocomplete="off" spellcheck="false" /></label>`)}</div>
  </div>`;
}

/** All connections of the window that the filters select. */
function exportLink(kind: "csv" | "json", { params }: PageState): string {
  const query = new URLSearchParams();
  for (const name of FLOW_PARAMS) {
    const value = params.get(name) ?? "";
    if (value !== "") query.set(name, value);
  }
  return `/api/flows/export.${kind}?${query.toString()}`;
}

function clearLink(state: PageState): string {
  return linkWith(
    state,
    Object.fromEntries([...FLOW_FILTERS, "cursor"].map((name) => [name, undefined])),
  );
}

function rowsView({ rows, olderCursor }: FlowFacts, report: FlowReport, state: PageState): View {
  if (rows.length === 0)
    return empty(
      report.filters === undefined
        ? html`<span>No connection within this window.</span>`
        : html`<span>None of the connections within this window matches. <a data-stay href=${clearLink(state)}>Show all</a></span>`,
    );
  const isFirst = (state.params.get("cursor") ?? "") === "";
  return html`<div class="table">
    <span class="count" role="status">${formatCount(rows.length)} of ${formatSome(report.recent_matched, "matching connection")}${isFirst ? "" : ", from an older page"}${report.recent_truncated ? "; older ones were evicted" : ""}</span>
    ${isFirst ? undefined : html`<p class="note"><a data-stay href=${linkWith(state, { cursor: undefined })}>Go to the newest connections</a></p>`}
    <div class="scroll"><table aria-label="connections">
      <thead><tr>${["Time", "From", "To", "Traffic", "Policy"].map((title) => html`<th scope="col">${title}</th>`)}<th scope="col" class="figure">Bytes</th></tr></thead>
      <tbody>${rows.map((row) => connection(row, state))}</tbody></table></div>
    ${older(rows.length, olderCursor, state)}
  </div>`;
}

function older(shown: number, cursor: string | undefined, state: PageState): View | undefined {
  if (cursor === undefined) return undefined;
  if (shown >= MAX_ROWS)
    return html`<p class="note">The newest ${formatCount(shown)} are shown: narrow the filters to see older ones.</p>`;
  return html`<nav class="paging" aria-label="Older connections"><a class="button" data-older href=${linkWith(state, { cursor })} rel="next">Load older connections</a></nav>`;
}

function connection(flow: Flow, state: PageState): View {
  const { counts } = flow;
  return html`<tr>
    <td data-label="Time">${moment(flow.time, state)}</td>
    <td data-label="From">${end(flow.src_node, flow.src_addr, flow.src_user, flow.src_tags)}</td>
    <td data-label="To">${end(flow.dst_node, flow.dst_addr, flow.dst_user, flow.dst_tags)}</td>
    <td data-label="Traffic">${flow.dst_service ?? flow.transport}<small>${[flow.traffic_type, flow.transport, flow.path === undefined ? undefined : formatWord(flow.path), flow.derp_region].filter((word) => word !== undefined && word !== "").join(" · ")}</small></td>
    <td data-label="Policy">${verdict(flow)}</td>
    <td class="figure" data-label="Bytes" title=${`${formatBytes(counts.tx_bytes)} sent, ${formatBytes(counts.rx_bytes)} received`}>${formatBytes(bytesOf(counts))}</td>
  </tr>`;
}

function end(
  node: string | undefined,
  address: string | undefined,
  user: string | undefined,
  tags: string | undefined,
): Child {
  const below = [node === undefined ? undefined : address, user, tags?.replaceAll(",", " ")].filter(
    (word) => word !== undefined && word !== "",
  );
  return html`<span class="long">${node ?? address ?? "–"}${below.length === 0 ? undefined : html`<small>${below.join(" · ")}</small>`}</span>`;
}

const VERDICTS: Readonly<Record<string, readonly [State, string]>> = {
  permitted: ["good", "permitted"],
  no_rule: ["bad", "no rule"],
  undetermined: ["unknown", "undetermined"],
};

function verdict(flow: Flow): Child {
  const known = VERDICTS[flow.verdict ?? ""];
  if (known === undefined) return "–";
  return badge(known[0], flow.rule >= 0 ? `${known[1]} by rule ${flow.rule}` : known[1]);
}
