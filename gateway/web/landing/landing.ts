/**
 * The landing page as one view of the status and the process summary: rendered by the server, then
 * by the browser at each new status.
 */
import { formatCount } from "../format.ts";
import { html, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { dialog } from "../pieces/dialog.ts";
import { tabs, type Panel } from "../pieces/tabs.ts";
import { apiPanel } from "./api.ts";
import { capabilitiesPanel } from "./capabilities.ts";
import { cardinalityPanel } from "./cardinality.ts";
import { collectorsPanel } from "./collectors.ts";
import { configPanel } from "./config.ts";
import { cards, healthLine, processLine, updateBadge } from "./head.ts";
import type { LandingFacts } from "./process-summary.ts";
import { inventoryPanel } from "./inventory.ts";
import { overviewPanel } from "./overview.ts";
import { networkSelector, scopeOf, type Scope } from "./scope.ts";
import type { StatusJson } from "../../../src/gen/status-json.ts";

export function landing(facts: LandingFacts, state: PageState): View {
  const { status } = facts;
  if (status === undefined)
    return html`<div class=${stackOf(facts)}>${processLine(facts)}${cards(facts, state)}</div>`;
  const scope = scopeOf(status, state);
  return html`<div class=${stackOf(facts)}>
    <div class="row">${healthLine(status, facts)}${updateBadge(status)}</div>
    ${cards(facts, state)}
    ${networkSelector(status, scope, state)}
    ${tabs("The monitor", panels(status, scope, state), state)}
    ${dialog({ id: "purge", title: "Purge the names of addresses?", body: `All ${formatCount(status.reverse_dns.size)} cached names are deleted and resolved again as flows arrive; until then the resolver gets more queries.`, confirm: "Purge" })}
  </div>`;
}

/** Stale pages use the colours of unknown states. */
function stackOf({ stale }: LandingFacts): string {
  return stale === true ? "stack was" : "stack";
}

function panels(status: StatusJson, scope: Scope, state: PageState): readonly Panel[] {
  const trouble = scope.collectors.filter(
    ({ has_run, last_success }) => has_run && !last_success,
  ).length;
  const actionable = status.capability_matrix.filter((row) => row.actionable).length;
  const mark = (count: number): { readonly mark?: string } =>
    count === 0 ? {} : { mark: formatCount(count) };
  return [
    { id: "overview", title: "Overview", body: () => overviewPanel(status, scope, state) },
    {
      id: "collectors",
      title: "Collectors",
      ...mark(trouble),
      body: () => collectorsPanel(status, scope, state),
    },
    { id: "api", title: "API", body: () => apiPanel(scope, state) },
    {
      id: "capabilities",
      title: "Capabilities",
      ...mark(actionable),
      body: () => capabilitiesPanel(status, state),
    },
    {
      id: "cardinality",
      title: "Cardinality",
      ...mark(scope.cardinality.alerts?.length ?? 0),
      body: () => cardinalityPanel(scope, state),
    },
    {
      id: "inventory",
      title: "Inventory & Catalog",
      body: () => inventoryPanel(status, scope, state),
    },
    {
      id: "config",
      title: "Config",
      ...mark(status.advisories.length),
      body: () => configPanel(status, state),
    },
  ];
}

/** The ids of the panels, in order. */
export const PANELS: readonly string[] = [
  "overview",
  "collectors",
  "api",
  "capabilities",
  "cardinality",
  "inventory",
  "config",
];
