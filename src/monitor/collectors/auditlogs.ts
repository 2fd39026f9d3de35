/** Collector of the configuration audit log, read in consecutive time windows. */
import { defineOperation } from "../capability/operation.ts";
import {
  configAuditChanges,
  configAuditDeferredDelay,
  configAuditEvents,
  configAuditProcessingDelay,
  configAuditSchemaDrift,
} from "../catalogue/flows.ts";
import { configAuditRecord } from "../catalogue/records.ts";
import { UnfinishedWindow } from "../ingest/unfinished-window.ts";
import { defineWindowCollector } from "./collector.ts";
import { eachBatch } from "./log-batches.ts";
import { auditlogsSection, isPolled } from "./log-sections.ts";

const listAuditLogs = defineOperation("listConfigurationAuditLogs");

export const auditlogs = defineWindowCollector({
  section: auditlogsSection,
  description: "Changes of the network's configuration, and who made them",
  needs: "auditLogs",
  scopes: [["logs:configuration:read"]],
  operations: [listAuditLogs],
  emits: [
    configAuditEvents,
    configAuditChanges,
    configAuditDeferredDelay,
    configAuditProcessingDelay,
    configAuditSchemaDrift,
  ],
  records: [configAuditRecord],
  select: (options) => (isPolled(options) ? options : undefined),
  window: ({ lagMs, initialLookbackMs, maxWindowMs }) => ({
    lagMs,
    initialLookbackMs,
    maxWindowMs,
    overlapMs: 0,
  }),
  open({ provider, audit }) {
    const unfinished = new UnfinishedWindow();
    return (tick, window) =>
      unfinished.read(window, tick, () =>
        eachBatch(tick, listAuditLogs, provider.auditLogs(window, tick.signal), (records) =>
          audit.accept({ records, source: "poll", unfinished }, tick.signal),
        ),
      );
  },
});
