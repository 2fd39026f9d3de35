/** How a collector is doing that waits for its network to be opened. */
import type { Collector, PreparedCollector } from "../collectors/collector.ts";
import type { CollectorStatus } from "./collector-runner.ts";
import { RunHistory } from "./run-history.ts";

/** It has not run. */
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
