/** Collector of the configuration audit log, read in consecutive time windows. */
import type { Log } from "../../kernel/base/log.ts";
import { defineOperation } from "../capability/operation.ts";
import {
  configAuditChanges,
  configAuditDeferredDelay,
  configAuditEvents,
  configAuditProcessingDelay,
  configAuditSchemaDrift,
} from "../catalogue/flows.ts";
import { configAuditRecord } from "../catalogue/records.ts";
import type { IntakeReport } from "../flows/types.ts";
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
  open({ provider, audit, log }) {
    const unfinished = new UnfinishedWindow();
    return async (tick, window) => {
      const refused = new Map<string, number>();
      try {
        await unfinished.read(window, tick, () =>
          eachBatch(tick, listAuditLogs, provider.auditLogs(window, tick.signal), async (records) =>
            addTo(
              refused,
              await audit.accept({ records, source: "poll", unfinished }, tick.signal),
            ),
          ),
        );
      } finally {
        warnOfRefused(log, refused);
      }
    };
  },
});

function addTo(refused: Map<string, number>, report: IntakeReport): void {
  for (const [reason, count] of Object.entries(report.refused))
    refused.set(reason, (refused.get(reason) ?? 0) + count);
}

/** The run succeeds: a window that is read again has the same records. */
function warnOfRefused(log: Pick<Log, "warn">, refused: ReadonlyMap<string, number>): void {
  for (const [reason, count] of refused)
    log.warn(
      "records of the configuration audit log were refused and are not counted: the upstream may be newer than this version",
      { count, class: reason },
    );
}
