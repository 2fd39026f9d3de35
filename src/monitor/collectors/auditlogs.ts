/** Collector of the configuration audit log, read in consecutive time windows. */
import { operations } from "../capability/operation.ts";
import {
  configAuditChanges,
  configAuditDeferredDelay,
  configAuditEvents,
  configAuditProcessingDelay,
  configAuditSchemaDrift,
} from "../catalogue/flows.ts";
import { configAuditRecord } from "../catalogue/records.ts";
import type { LogOptions } from "../options.ts";
import { defineWindowCollector } from "./collector.ts";
import { eachBatch } from "./log-batches.ts";

export const auditlogs = defineWindowCollector<LogOptions>({
  name: "auditlogs",
  description: "Changes of the network's configuration, and who made them",
  capability: "auditlogs",
  scopes: [["logs:configuration:read"]],
  operations: [operations.auditLogs],
  emits: [
    configAuditEvents,
    configAuditChanges,
    configAuditDeferredDelay,
    configAuditProcessingDelay,
    configAuditSchemaDrift,
  ],
  records: [configAuditRecord],
  options: ({ collectors: { auditlogs } }) =>
    auditlogs?.source === "poll" || auditlogs?.source === "both" ? auditlogs : undefined,
  window: ({ lagMs, initialLookbackMs, maxWindowMs }) => ({
    lagMs,
    initialLookbackMs,
    maxWindowMs,
    overlapMs: 0,
  }),
  open:
    ({ provider, audit }) =>
    (tick, window) =>
      eachBatch(tick, operations.auditLogs, provider.auditLogs(window, tick.signal), (records) =>
        audit.accept({ records, source: "poll" }, tick.signal),
      ),
});
