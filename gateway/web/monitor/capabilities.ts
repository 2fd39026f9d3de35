/** The capabilities panel: what is collected, and why other data is not. */
import { formatWord } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { listView } from "../pieces/key-values.ts";
import { part } from "../pieces/section.ts";
import { badge, stateText, type State } from "../pieces/state.ts";
import { table } from "../pieces/table.ts";
import { moment } from "../pieces/time.ts";
import type { StatusJson, Capability } from "../../../src/gen/status-json.ts";

const OPERATION: Readonly<Record<Capability["state"], State>> = {
  unknown: "unknown",
  disabled: "unknown",
  supported: "good",
  transient_failure: "notice",
  request_rejected: "bad",
  scope_denied: "bad",
  credential_rejected: "bad",
};

/** How a row's data is collected, or why it is not. */
function capabilityLabel(
  row: Pick<Capability, "active" | "reason" | "source" | "actionable" | "state">,
): readonly [state: State, word: string] {
  const [state, word] = sourceLabel(row);
  return [row.active && row.actionable ? (OPERATION[row.state] ?? "bad") : state, word];
}

function sourceLabel({
  active,
  reason,
  source,
}: Pick<Capability, "active" | "reason" | "source">): readonly [state: State, word: string] {
  if (!active) {
    if (reason === "provider_unsupported") return ["unknown", "unsupported"];
    return reason === "config_disabled"
      ? ["unknown", "disabled in config"]
      : ["notice", "not polling"];
  }
  if (source === "stream") return ["good", "streamed"];
  if (source === "objectstore") return ["good", "object storage"];
  return ["good", source === "both" ? "polled and streamed" : "polling"];
}

export function capabilitiesPanel(status: StatusJson, state: PageState): Child {
  return [
    status.networks.length === 0
      ? undefined
      : html`<p class="note">Supported by ${status.provider}: ${listView(status.capabilities, "nothing")}${status.networks.length > 1 ? " The table describes the first network." : ""}</p>`,
    part(
      "Matrix",
      table(
        {
          id: "capabilities",
          what: "capabilities",
          rows: status.capability_matrix,
          keyOf: ({ collector, subrequest }) => `${collector} ${subrequest ?? ""}`,
          empty:
            status.networks.length === 0
              ? "No network is configured. Its credentials (vpn.auth or headscale) decide what can be collected."
              : "Nothing is known of the credentials yet.",
          columns: [
            {
              key: "collector",
              title: "Collector",
              text: ({ collector, subrequest, capability }) =>
                `${collector} ${subrequest ?? ""} ${capability}`,
              order: ({ collector, subrequest }) => `${collector} ${subrequest ?? ""}`,
              cell: nameCell,
            },
            {
              key: "label",
              title: "Now",
              text: (row) => capabilityLabel(row)[1],
              order: (row) => capabilityLabel(row)[1],
              cell: labelCell,
            },
            {
              key: "state",
              title: "Last answer",
              text: (row) => formatWord(row.state),
              order: (row) => row.state,
              cell: (row) => answerCell(row, state),
            },
            {
              key: "scopes",
              title: "Scopes",
              text: (row) => `${row.scope_status} ${(row.required_scopes ?? []).join(" ")}`,
              order: ({ scope_status }) => scope_status,
              cell: scopeCell,
            },
            {
              key: "operations",
              title: "Operations",
              text: ({ operations = [] }) => operations.map(({ operation }) => operation).join(" "),
              cell: (row) => operationsCell(row, state),
            },
          ],
        },
        state,
      ),
    ),
  ];
}

function nameCell({ collector, subrequest, capability }: Capability): View {
  return html`<span><strong>${collector}</strong>${subrequest === undefined ? undefined : html`<span> / ${subrequest}</span>`}${capability === collector ? undefined : html`<small>capability ${capability}</small>`}</span>`;
}

function labelCell(row: Capability): View {
  const why = [
    row.config_enabled ? "switched on" : "switched off",
    row.provider_supported ? "known to the provider" : "not known to the provider",
    ...(row.reason === undefined ? [] : [formatWord(row.reason)]),
    ...(row.source === undefined ? [] : [`by ${row.source}`]),
  ];
  return html`<span>${badge(...capabilityLabel(row))}<small>${why.join(", ")}</small></span>`;
}

function answerCell(row: Capability, state: PageState): View {
  return html`<span>${stateText(OPERATION[row.state] ?? "unknown", formatWord(row.state))}${row.actionable ? html`<small class="error">needs attention</small>` : undefined}<small>${moment(row.last_probe, state, "not called yet")}</small></span>`;
}

function scopeCell(row: Capability): View {
  const state: State =
    row.scope_status === "satisfied"
      ? "good"
      : row.scope_status === "insufficient"
        ? "bad"
        : "unknown";
  return html`<span>${stateText(state, formatWord(row.scope_status))}${row.required_scopes === undefined ? undefined : html`<small>needs ${listView(row.required_scopes)}</small>`}${row.missing_scopes === undefined ? undefined : html`<small class="error">missing ${listView(row.missing_scopes)}</small>`}</span>`;
}

function operationsCell({ operations = [] }: Capability, state: PageState): View {
  return html`<ul class="plain">${operations.map((each) => html`<li>${stateText(OPERATION[each.state] ?? "unknown", html`<code>${each.operation}</code>`)} <small>${formatWord(each.state)}, ${moment(each.last_probe, state, "not called yet")}</small></li>`)}</ul>`;
}
