/**
 * Rows of the catalogue that no scene tells, by the reason. A row that comes to be told must leave
 * this list.
 */
import { processMetricRows } from "../../../src/kernel/telemetry/report/service-metrics.ts";
import type { AnyRow } from "../../../src/kernel/telemetry/types.ts";
import { monitorMetrics } from "../../../src/monitor/catalogue/monitor-catalogue.ts";

/** Every row, by its name. */
export const CATALOGUE: ReadonlyMap<string, AnyRow> = new Map([...processMetricRows, ...monitorMetrics].map((row) => [row.name, row]));

const REAL_DAEMON = "shown with real daemons in test/contract/monitor-catalogue.test.ts";

/** Absent from expositions and OTLP requests alike. */
export const ABSENT: Readonly<Record<string, readonly string[]>> = {
  "Node has no such figure": ["svc.runtime.memory.heap_objects", "svc.runtime.memory.stack_inuse", "svc.runtime.gc.next_target"],
  "receivers are off; shown in test/contract/streaming and test/contract/webhook": startingWith("vpn.stream.", "vpn.webhook."),
  "the ingress log is off; shown in test/contract/ingress-log.test.ts": startingWith("svc.ingress_wal."),
  "names and places of addresses are not looked up; shown in test/contract/reverse-dns.test.ts and geoip.test.ts": [...startingWith("vpn.geoip.", "vpn.rdns."), "vpn.devices.by_country"],
  "needs a flow that is older than the store keeps; shown in test/contract/flows.test.ts": ["vpn.network.store.dropped"],
  [`the document service is off, since jobs and stores take the machine's time; ${REAL_DAEMON}`]:
    [...startingWith("svc.jobs_total", "svc.jobs."), ...startingWith("svc.state.").filter((name) => !name.startsWith("svc.state.disk.")), "svc.backup.last_success"],
  [`the checkpoint file is written by other threads in the machine's time; ${REAL_DAEMON}`]:
    ["svc.checkpoint.disk.size", "svc.checkpoint.persist.age"],
  "needs replicas; shown in test/contract/coordination.test.ts": startingWith("svc.coordination."),
  "needs a disk that fails; shown in test/monitor/runner": ["svc.checkpoint.persist.errors"],
  [`needs a receiver that refuses, and tries again in the machine's time; ${REAL_DAEMON}`]:
    ["svc.export.failures", "svc.export.lost", "svc.export.diagnostics.suppressed"],
  [`uploads are profiles of the real process; ${REAL_DAEMON}`]: startingWith("svc.profiling."),
};

/** Told by OTLP requests alone, by the reason. */
export const ONLY_PUSHED: Readonly<Record<string, readonly string[]>> = {
  "counts exports, and the first is after the last pull": ["svc.export.duration"],
};

function startingWith(...prefixes: readonly string[]): string[] {
  return [...CATALOGUE.keys()].filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
}
