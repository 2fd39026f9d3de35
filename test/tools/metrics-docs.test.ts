import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { processMetricRows } from "../../src/kernel/telemetry/report/service-metrics.ts";
import { monitorMetrics, monitorRecords } from "../../src/monitor/catalogue/monitor-catalogue.ts";
import { dedupMetrics } from "../../src/dedup/telemetry/metrics.ts";
import { tokensMetrics } from "../../src/tokens/telemetry/metrics.ts";
import { METRICS_PAGE, metricsPage } from "../../tools/metrics-docs.ts";

const rows = [...processMetricRows, ...dedupMetrics, ...tokensMetrics, ...monitorMetrics];
const page = metricsPage(rows, monitorRecords);

describe("the reference page of metrics and records", () => {
  it("is the committed one; `npm run generate` writes it anew", () => {
    expect(readFileSync(METRICS_PAGE, "utf8")).toBe(page);
  });

  it("has every row once", () => {
    for (const { name } of rows)
      expect(
        page.match(new RegExp(`<br>\`${name.replaceAll(".", "\\.")}\` \\|`, "g")),
      ).toHaveLength(1);
    for (const { name } of monitorRecords)
      expect(
        page
          .split("\n")
          .filter((line) => line.startsWith(`| \`${name}\``) || line.startsWith(`| \`${name}.‹`)),
      ).toHaveLength(1);
  });
});
