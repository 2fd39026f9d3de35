/**
 * Writes `docs/metrics.md` from the catalogue: every metric and log record that Steward can emit.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { familyName } from "../src/kernel/telemetry/exposition/naming.ts";
import { processMetricRows } from "../src/kernel/telemetry/report/service-metrics.ts";
import type { AnyLogRow, AnyRow } from "../src/kernel/telemetry/types.ts";
import { monitorMetrics, monitorRecords } from "../src/monitor/catalogue/monitor-catalogue.ts";
import { dedupMetrics } from "../src/dedup/telemetry/metrics.ts";
import { tokensMetrics } from "../src/tokens/telemetry/metrics.ts";

/** Where the reference is committed. */
export const METRICS_PAGE = join(import.meta.dirname, "../docs/metrics.md");

const HEAD = `# Metrics and log records

<!-- Made by \`npm run generate\` from the catalogue. -->

The first name is that in Prometheus, from a scrape or from a backend that receives OTLP; the second is the OpenTelemetry name. Every series
of a network also carries \`svc_provider\` and the network's name as \`vpn_network\`, unless privacy settings hide the name or Headscale's is
not configured. A metric with a condition is emitted only when the condition holds. A histogram with exemplars has the trace and span id of the
latest observation in each bucket while \`tracing.enabled\` is on.
`;

/** Writes the reference. */
export function writeMetricsDocs(): void {
  writeFileSync(
    METRICS_PAGE,
    metricsPage(
      [...processMetricRows, ...dedupMetrics, ...tokensMetrics, ...monitorMetrics],
      monitorRecords,
    ),
  );
}

/** The reference of a catalogue. */
export function metricsPage(rows: readonly AnyRow[], records: readonly AnyLogRow[]): string {
  const groups = [...Map.groupBy(rows, ({ group }) => group)].toSorted(([left], [right]) =>
    left < right ? -1 : 1,
  );
  const parts = groups.map(
    ([group, members]) =>
      `## ${group}\n\n| metric | kind | labels | what it is |\n|---|---|---|---|\n${members.toSorted(byName).map(metricRow).join("\n")}\n`,
  );
  const logs = `## Log records\n\n| record | severity | attributes | what it is |\n|---|---|---|---|\n${records.toSorted(byName).map(recordRow).join("\n")}\n`;
  return `${HEAD}\n${[...parts, logs].join("\n")}`;
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : 1;
}

function metricRow(row: AnyRow): string {
  const labels = row.attributes.map((attribute) => `\`${attribute}\``).join(" ");
  return `| \`${familyName(row)}\`<br>\`${row.name}\` | ${row.kind}${row.exemplars ? " with exemplars" : ""}${row.unit === "1" || row.unit === "" ? "" : `, ${row.unit}`} | ${labels} | ${cell(row.help)}${row.when === undefined ? "" : ` *Only with: ${cell(row.when)}.*`} |`;
}

function recordRow(row: AnyLogRow): string {
  return `| \`${row.name}${row.family ? ".‹type›" : ""}\` | ${row.severityText} | ${row.attributes.map((attribute) => `\`${attribute}\``).join(" ")} | ${cell(row.help)} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
