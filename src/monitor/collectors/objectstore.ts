/**
 * Collectors that read exported logs from a bucket: flows, configuration audit, Kubernetes session
 * recordings.
 */
import { defineOperation } from "../capability/operation.ts";
import { k8sAuditMetrics } from "../catalogue/k8s-audit.ts";
import { objectStoreMetrics } from "../catalogue/object-store.ts";
import { k8sApiRequestRecord, k8sSessionRecord } from "../catalogue/records.ts";
import { createK8sIntake } from "../k8s/intake.ts";
import { createIngestObserver } from "../ingest/observer.ts";
import { createBucket } from "../objectstore/bucket.ts";
import { createFeed, type FeedDeps } from "../objectstore/feed.ts";
import { recorderOf } from "../objectstore/object-keys.ts";
import type { LogOptions, ObjectStoreOptions } from "../options.ts";
import { auditlogs } from "./auditlogs.ts";
import { defineCollector, type Collector, type CollectorDeps } from "./collector.ts";
import { flowlogs } from "./flowlogs.ts";
import { auditlogsSection, flowlogsSection, k8sAuditSection } from "./log-sections.ts";
import type { CollectorSection } from "./section.ts";

const listObjects = defineOperation("listObjects");

interface Kind<S extends object> {
  readonly section: CollectorSection<S>;
  readonly name: string;
  readonly signal: string;
  readonly description: string;
  readonly emits: Collector["emits"];
  readonly records: Collector["records"];
  readonly namesDevices?: boolean;
  select(options: S): ObjectStoreOptions | undefined;
  accept(deps: CollectorDeps): FeedDeps["accept"];
}

function defineFeed<S extends object>(kind: Kind<S>): Collector {
  return defineCollector({
    section: kind.section,
    name: kind.name,
    isFeed: true,
    description: kind.description,
    scopes: [],
    operations: [listObjects],
    emits: [...objectStoreMetrics, ...kind.emits],
    records: kind.records,
    namesDevices: kind.namesDevices ?? false,
    select: (options) => kind.select(options),
    open(deps, options) {
      const bucket = createBucket(options);
      deps.closed.addEventListener("abort", () => bucket.close(), { once: true });
      const observer = createIngestObserver(deps, { enabled: deps.options.selfObservability });
      const received = (bytes: number): void => observer.received("objectstore", bytes);
      const feed = createFeed(
        {
          clock: deps.clock,
          log: deps.log,
          scope: deps.scope,
          evidence: deps.memory.evidence,
          bucket,
          accept: kind.accept(deps),
          received,
        },
        kind.signal,
        options,
      );
      return (tick) =>
        feed.run({
          nowMs: tick.nowMs,
          signal: tick.signal,
          sweep: tick.sweep,
          list: (call) => tick.call(listObjects, call),
        });
    },
  });
}

function exportedTo({ source, objectStore }: LogOptions): ObjectStoreOptions | undefined {
  return source === "objectstore" ? objectStore : undefined;
}

/** Exported flow logs. */
export const objectstore = defineFeed({
  name: "objectstore",
  section: flowlogsSection,
  signal: "flow",
  namesDevices: true,
  description: "Network flow logs exported to an object store.",
  emits: flowlogs.emits,
  records: flowlogs.records,
  select: exportedTo,
  accept:
    ({ flows }) =>
    (records, signal) =>
      flows.accept({ records, source: "objectstore" }, signal),
});

/** Exported configuration audit logs. */
export const objectstoreAudit = defineFeed({
  name: "objectstore-audit",
  section: auditlogsSection,
  signal: "audit",
  description: "Configuration audit logs exported to an object store.",
  emits: auditlogs.emits,
  records: auditlogs.records,
  select: exportedTo,
  accept:
    ({ audit }) =>
    (records, signal) =>
      audit.accept({ records, source: "objectstore" }, signal),
});

/** Kubernetes session recordings. */
export const objectstoreK8sAudit = defineFeed({
  name: "objectstore-k8s_audit",
  section: k8sAuditSection,
  signal: "k8s_audit",
  description:
    "Cluster API requests and terminal sessions that recorders wrote to an object store.",
  emits: k8sAuditMetrics,
  records: [k8sApiRequestRecord, k8sSessionRecord],
  select: ({ objectStore }) => objectStore,
  accept(deps) {
    const intake = createK8sIntake(deps);
    return (records, signal, { key, name }) =>
      intake.accept({ records, recording: name.recording, recorder: recorderOf(key) }, signal);
  },
});
