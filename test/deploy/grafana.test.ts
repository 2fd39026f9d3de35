/** Dashboards: generated from the catalogue, and no panel is empty for the demo. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { dashboardFiles } from "../../tools/dashboards.ts";
import { removeTemporaryFolders, rest, startDaemon, temporaryFolder } from "../contract/daemon.ts";
import { runPrometheus } from "../support/otlp/prometheus.ts";
import { readQueries, root, unknownIn } from "./watched.ts";

const prometheus = spawnSync("prometheus", ["--version"]).status === 0;
if (!prometheus)
  process.stderr.write(
    "skipped: prometheus is not on this machine, so the queries of the dashboards did not run\n",
  );

afterAll(removeTemporaryFolders);

it("the committed dashboards are those of the catalogue", () => {
  for (const [file, text] of dashboardFiles())
    expect(readFileSync(join(root, "deploy/grafana", file), "utf8"), file).toBe(text);
});

it("every metric and label of a dashboard is in the catalogue", () => {
  const queries = readQueries();
  expect(queries.length).toBeGreaterThan(40);
  expect(
    queries.flatMap(({ panel, expr }) => unknownIn(expr).map((what) => `${panel}: ${what}`)),
  ).toEqual([]);
});

it.skipIf(!prometheus)("no panel is empty when a real Prometheus scrapes the demo", async () => {
  const demo = await startDaemon({
    args: ["-demo"],
    env: {
      STEWARD_STATE__DIRECTORY: temporaryFolder(),
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
      STEWARD_DEMO_ROOT_TOKEN: "demo",
      // Some minutes of the demo's network have no change; somebody logs in every 35 minutes.
      STEWARD_COLLECTORS__AUDITLOGS__INITIAL_LOOKBACK: "1h",
    },
  });
  try {
    // The pull endpoint opens after the start line.
    const port = await vi.waitFor(
      () => {
        const shown = demo.stderr.join("\n").match(/http:\/\/127\.0\.0\.1:(\d+)\/metrics/)?.[1];
        expect(shown).toBeDefined();
        return Number(shown);
      },
      { timeout: 60_000, interval: 100 },
    );
    await using server = await runPrometheus(port, ["/metrics"]);
    let empty = readQueries();
    const emptyPanels = async (): Promise<string[]> => {
      // Rates and quantiles need requests and jobs between two scrapes.
      await rest(demo, "POST", "/v1/github/token", '{"org_name":"example-org"}', {
        "x-vault-token": "demo",
      });
      await rest(demo, "POST", "/api/v1/sync", {});
      const answers = await Promise.all(
        empty.map(async ({ expr }) => await server.queryOnce(withValues(expr))),
      );
      empty = empty.filter(
        (_, index) => !answers[index]?.some(({ value }) => !Number.isNaN(value)),
      );
      return empty.map(({ panel, expr }) => `${panel}: ${expr}`);
    };
    await expect.poll(emptyPanels, { timeout: 180_000, interval: 2_000 }).toEqual([]);
  } finally {
    await demo.stop();
  }
});

/** The query as Grafana sends it with all values of the variables chosen. */
function withValues(expr: string): string {
  return expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$(?:instance|network)/g, ".*");
}
