/** What rules and dashboards say, read from their files. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { familyName, labelName } from "../../src/kernel/telemetry/exposition/naming.ts";
import { catalogueRows } from "../../tools/dashboards.ts";

export const root = join(import.meta.dirname, "../..");

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Query {
  readonly panel: string;
  readonly expr: string;
  readonly legend: string;
}

export function readRules(): Rule[] {
  const file = parse(readFileSync(join(root, "deploy/prometheus/rules.yml"), "utf8")) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return file.groups.flatMap(({ rules }) => rules);
}

interface DashboardFile {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

/** Every query of every committed dashboard. */
export function readQueries(): Query[] {
  return globSync("deploy/grafana/*.json", { cwd: root }).flatMap((file) => {
    const { panels } = JSON.parse(readFileSync(join(root, file), "utf8")) as DashboardFile;
    return panels.flatMap(({ title, targets }) =>
      targets.map(({ expr, legendFormat }) => ({
        panel: `${file}: ${title}`,
        expr,
        legend: legendFormat,
      })),
    );
  });
}

/** Labels that Prometheus or the network's scope adds to every series. */
const COMMON = ["job", "instance", "le", "svc_provider", "vpn_network"];

/** Labels by the name of a sample, those of histograms included. */
const samples: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...catalogueRows.values()].flatMap((row) => {
    const labels = new Set([...row.attributes.map(labelName), ...COMMON]);
    const family = familyName(row);
    const names =
      row.kind === "histogram"
        ? ["_bucket", "_sum", "_count"].map((suffix) => `${family}${suffix}`)
        : [family];
    return names.map((name) => [name, labels] as const);
  }),
);

/** Metrics and labels of an expression that the catalogue does not have; empty when all exist. */
export function unknownIn(expr: string): string[] {
  const unknown: string[] = [];
  const used = new Set<string>(COMMON);
  for (const [, name = "", matchers = ""] of withoutLists(expr).matchAll(
    /\b((?:svc|vpn|process|up)(?:_\w+)?)\b(?!\s*=)(?:\{([^}]*)\})?/g,
  )) {
    if (name === "up") continue;
    const labels = samples.get(name);
    if (labels === undefined) {
      unknown.push(name);
      continue;
    }
    for (const label of labels) used.add(label);
    for (const [, label = ""] of matchers.matchAll(/(\w+)\s*(?:=~|!=|!~|=)\s*"/g))
      if (!labels.has(label)) unknown.push(`${name}{${label}}`);
  }
  for (const [, list = ""] of expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g))
    for (const label of list.split(",").map((each) => each.trim()))
      if (!used.has(label)) unknown.push(`by (${label})`);
  return unknown;
}

/** Labels in `by (...)` look like metrics and are checked apart. */
function withoutLists(expr: string): string {
  return expr
    .replaceAll(/\b(?:by|on)\s*\([^)]*\)/g, "")
    .replaceAll(/\{([^}]*)\}/g, (matchers) => matchers.replaceAll(/"[^"]*"/g, '""'));
}
