/** Metrics of the monitor: runs of collectors, checkpoints and duplicate sets. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;

export const checkpointDiskSize = defineMetric({
  name: "svc.checkpoint.disk.size",
  kind: "gauge",
  unit: "By",
  group: "Self-observability",
  help: "Size of the checkpoint file.",
  when: "self_observability.enabled and file checkpoint store in effect",
});
export const checkpointPersistAge = defineMetric({
  name: "svc.checkpoint.persist.age",
  kind: "gauge",
  unit: "s",
  group: "Self-observability",
  help: "Seconds since the checkpoint file changed.",
  when: "self_observability.enabled and file checkpoint store in effect",
});
export const checkpointPersistErrors = defineMetric({
  name: "svc.checkpoint.persist.errors",
  kind: "counter",
  unit: "1",
  attributes: ["vpn.collector"],
  group: "Self-observability",
  help: "High-water marks that could not be saved after a good window.",
  when: "self_observability.enabled",
});
export const configValid = defineMetric({
  name: "svc.config.valid",
  kind: "gauge",
  unit: "1",
  group: "Self-observability",
  help: "1 while the running configuration passes validation.",
  when: "self_observability.enabled",
});
export const configWarnings = defineMetric({
  name: "svc.config.warnings",
  kind: "gauge",
  unit: "1",
  group: "Self-observability",
  help: "Number of active configuration advisories.",
  when: "self_observability.enabled",
});
export const dedupEvictions = defineMetric({
  name: "svc.dedup.evictions",
  kind: "counter",
  unit: "1",
  attributes: ["dedup.set"],
  group: "Self-observability",
  help: "Keys pushed out of a full duplicate-suppression set.",
  when: "self_observability.enabled",
});
export const dedupHits = defineMetric({
  name: "svc.dedup.hits",
  kind: "counter",
  unit: "1",
  attributes: ["dedup.set"],
  group: "Self-observability",
  help: "Records dropped because their key was already present.",
  when: "self_observability.enabled",
});
export const dedupSize = defineMetric({
  name: "svc.dedup.size",
  kind: "gauge",
  unit: "1",
  attributes: ["dedup.set"],
  group: "Self-observability",
  help: "Keys held by a duplicate-suppression set (flow, audit, webhook_cross).",
  when: "self_observability.enabled",
});
export const enrichCacheAge = defineMetric({
  name: "svc.enrich.cache_age",
  kind: "gauge",
  unit: "s",
  group: "Self-observability",
  help: "Seconds since the device cache was replaced; written by a reporter each metric interval.",
  when: "self_observability.enabled and collectors.devices.enabled",
});
export const enrichCacheSize = defineMetric({
  name: "svc.enrich.cache_size",
  kind: "gauge",
  unit: "1",
  group: "Self-observability",
  help: "Devices in the device cache.",
});
export const scrapeBudget = defineMetric({
  name: "svc.scrape.budget",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.collector"],
  group: "Self-observability",
  help: "Last duration divided by the interval.",
  when: "self_observability.enabled",
});
export const scrapeDuration = defineMetric({
  name: "svc.scrape.duration",
  kind: "gauge",
  unit: "s",
  attributes: ["vpn.collector"],
  group: "Self-observability",
  help: "Duration of the last run of a collector.",
  when: "self_observability.enabled",
});
export const scrapeDurationHistogram = defineMetric({
  name: "svc.scrape.duration.histogram",
  kind: "histogram",
  unit: "s",
  attributes: ["vpn.collector"],
  bounds: SECONDS,
  exemplars: true,
  group: "Self-observability",
  help: "Distribution of run durations.",
  when: "self_observability.enabled",
});
export const scrapeErrors = defineMetric({
  name: "svc.scrape.errors",
  kind: "counter",
  unit: "1",
  attributes: ["vpn.collector", "error.type"],
  group: "Self-observability",
  help: "Failed runs by class: error, timeout or panic.",
  when: "self_observability.enabled",
});
export const scrapeLastTimestamp = defineMetric({
  name: "svc.scrape.last_timestamp",
  kind: "gauge",
  unit: "s",
  attributes: ["vpn.collector"],
  group: "Self-observability",
  help: "Finish time of the last run, good or bad.",
  when: "self_observability.enabled",
});
export const scrapeStaleness = defineMetric({
  name: "svc.scrape.staleness",
  kind: "gauge",
  unit: "s",
  attributes: ["vpn.collector"],
  group: "Self-observability",
  help: "Seconds since the last good run, counted from loop start before the first one.",
  when: "self_observability.enabled",
});
export const scrapeSuccess = defineMetric({
  name: "svc.scrape.success",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.collector"],
  group: "Self-observability",
  help: "1 when the last run returned no error, otherwise 0.",
  when: "self_observability.enabled",
});

export const collectionMetrics: readonly AnyRow[] = catalogue([
  checkpointDiskSize,
  checkpointPersistAge,
  checkpointPersistErrors,
  configValid,
  configWarnings,
  dedupEvictions,
  dedupHits,
  dedupSize,
  enrichCacheAge,
  enrichCacheSize,
  scrapeBudget,
  scrapeDuration,
  scrapeDurationHistogram,
  scrapeErrors,
  scrapeLastTimestamp,
  scrapeStaleness,
  scrapeSuccess,
]);
