/**
 * The page `/monitor`: how the monitor itself does, in tabs. One view of the status, rendered by the
 * server, then by the browser at each new status.
 */
import type { StatusJson } from "../../../src/gen/status-json.ts";
import { formatCount } from "../format.ts";
import { html, type View } from "../html.ts";
import { healthLine, processLine } from "../landing/head.ts";
import type { LandingFacts } from "../landing/process-summary.ts";
import type { PageState } from "../page-state.ts";
import { dialog } from "../pieces/dialog.ts";
import { tabs, type Panel } from "../pieces/tabs.ts";
import { apiPanel } from "./api.ts";
import { capabilitiesPanel } from "./capabilities.ts";
import { cardinalityPanel } from "./cardinality.ts";
import { collectorsPanel } from "./collectors.ts";
import { configPanel } from "./config.ts";
import { inventoryPanel } from "./inventory.ts";
import { overviewPanel } from "./overview.ts";
import { networkSelector, scopeOf, type Scope } from "./scope.ts";

export function monitorPage(facts: LandingFacts, state: PageState): View {
  const { status, stale } = facts;
  const stack = stale === true ? "stack was" : "stack";
  if (status === undefined) return html`<div class=${stack}>${processLine(facts)}</div>`;
  const scope = scopeOf(status, state);
  return html`<div class=${stack}>
    ${healthLine(status, facts)}
    ${networkSelector(status, scope, state)}
    ${tabs("The monitor", panels(status, scope, state), state)}
    ${dialog({ id: "purge", title: "Purge the names of addresses?", body: `All ${formatCount(status.reverse_dns.size)} cached names are deleted and resolved again as flows arrive; until then the resolver gets more queries.`, confirm: "Purge" })}
  </div>`;
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
