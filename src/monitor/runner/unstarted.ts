/** Status of a collector whose network is not open yet. */
import type { Collector, PreparedCollector } from "../collectors/collector.ts";
import type { CollectorStatus } from "./collector-runner.ts";
import { RunHistory } from "./run-history.ts";

export function unstarted(
  { name, description }: Pick<Collector, "name" | "description">,
  { intervalMs }: Pick<PreparedCollector, "intervalMs">,
): CollectorStatus {
  return {
    ...new RunHistory().totals(),
    name,
    description,
    intervalMs,
    nextRunInMs: 0,
    overdue: false,
    freshnessMs: undefined,
    freshness: "none",
    checkpoint: undefined,
  };
}
