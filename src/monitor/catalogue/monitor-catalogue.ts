/** All metrics and log records of the monitor. */
import { catalogue } from "../../kernel/telemetry/catalogue.ts";
import type { AnyLogRow, AnyRow } from "../../kernel/telemetry/types.ts";
import { allCollectors } from "../collectors/all.ts";
import { apiMetrics } from "./api.ts";
import { collectionMetrics } from "./collection.ts";
import { devicesMetrics } from "./devices.ts";
import { enrichmentMetrics } from "./enrichment.ts";
import { flowsMetrics } from "./flows.ts";
import { ingestMetrics } from "./ingest.ts";
import { publishingMetrics } from "./publishing.ts";
import { receiversMetrics } from "./receivers.ts";
import { webhookRecord } from "./records.ts";

/** What no collector declares: the collection itself, and features that collectors share. */
const sharedMetrics = [
  apiMetrics,
  collectionMetrics,
  devicesMetrics,
  enrichmentMetrics,
  flowsMetrics,
  ingestMetrics,
  publishingMetrics,
  receiversMetrics,
];

/** Includes metrics of features that are off. */
export const monitorMetrics: readonly AnyRow[] = catalogue([
  ...new Set([...sharedMetrics.flat(), ...allCollectors.flatMap(({ emits }) => emits)]),
]);

export const monitorRecords: readonly AnyLogRow[] = [
  ...new Set([...allCollectors.flatMap(({ records }) => records), webhookRecord]),
];
