/** Sections of the log collectors: flows, audit, and Kubernetes recordings. */
import {
  defineKeyGroup,
  keysOf,
  type KeyField,
  type KeyGroup,
} from "../../kernel/config/key-group.ts";
import { noBlank, positive } from "../../kernel/config/checks/rules.ts";
import {
  duration,
  integer,
  listOf,
  oneOf,
  string,
  type KeyType,
} from "../../kernel/config/values/types.ts";
import {
  hasLocation,
  objectStoreFields,
  objectStoreOptions,
  type ObjectStoreSection,
} from "../config/object-store-fields.ts";
import type { FlowLogOptions, LogOptions, ObjectStoreOptions } from "../options.ts";
import { flag, readWhileOn, scheduleFields, sectionOver, type Switched } from "./section.ts";

/** Limits of a preflight: short, so that a trial of a busy network ends. */
const PREFLIGHT_WINDOW_MS = 300_000;
/** Objects are written about hourly. */
const PREFLIGHT_OBJECTS_WINDOW_MS = 3_600_000;
const PREFLIGHT_OBJECTS = 20;

type AuditSection = Switched<Omit<LogOptions, "objectStore">>;
type FlowSection = Switched<Omit<FlowLogOptions, "objectStore">>;

const source: KeyType<LogOptions["source"]> = oneOf<LogOptions["source"]>([
  "poll",
  "stream",
  "both",
  "objectstore",
]);

function windowFields(
  lagSeconds: number,
  windowHours: number,
): Record<"lagMs" | "initialLookbackMs" | "maxWindowMs", KeyField<number>> & {
  readonly source: KeyField<LogOptions["source"]>;
} {
  return {
    source: {
      type: source,
      default: "poll",
      help: "Where records come from: poll asks the control plane, stream is the receiver of streaming, both are these two, objectstore reads a bucket.",
    },
    lagMs: {
      type: duration,
      default: lagSeconds * 1000,
      help: "How long records take to appear; each window ends this long before now.",
    },
    initialLookbackMs: {
      type: duration,
      default: 300_000,
      rule: positive,
      help: "How far back the first window begins.",
    },
    maxWindowMs: {
      type: duration,
      default: windowHours * 3_600_000,
      help: "Maximum window when catching up; 0 is no limit.",
    },
  };
}

export const flowlogsKeys = defineKeyGroup<FlowSection>("collectors.flowlogs", {
  ...scheduleFields("flow logs", 60),
  ...windowFields(120, 1),
  replayOverlapMs: {
    type: duration,
    default: 300_000,
    rule: (ms) => (ms > 3_600_000 ? { rule: "must be at most 1h" } : undefined),
    help: "How much of the last window is read again to find late records; records seen before are not counted twice.",
  },
  replaySeenCapacity: {
    type: integer(1, 1_048_576),
    default: 131_072,
    help: "Number of connections of the overlap to remember. With more, less is read again.",
  },
  logMode: {
    type: oneOf(["per_connection", "per_record", "off"]),
    default: "per_connection",
    help: "Which flows are written as log records.",
  },
  maxLogRecordsPerWindow: {
    type: integer(0, 100_000_000),
    default: 0,
    help: "Maximum log records written per window; 0 is no limit.",
  },
  trustedReporterNodeIds: {
    type: listOf(string),
    default: [],
    rule: noBlank,
    help: "Node ids whose flow reports are trusted. A node is trusted when its id or one of its tags matches. Both lists empty: all nodes.",
  },
  trustedReporterTags: {
    type: listOf(string),
    default: [],
    rule: noBlank,
    help: "Tags of nodes whose flow reports are trusted.",
  },
});

export const auditlogsKeys = defineKeyGroup<AuditSection>("collectors.auditlogs", {
  ...scheduleFields("audit logs", 60),
  ...windowFields(60, 6),
});

export const k8sAuditKeys = defineKeyGroup<{ readonly enabled: boolean }>("collectors.k8s_audit", {
  enabled: flag(false, "Collects recordings of Kubernetes sessions from an object store."),
});

export const feeds: Readonly<Record<"flow" | "audit" | "k8sAudit", KeyGroup<ObjectStoreSection>>> =
  {
    flow: defineKeyGroup<ObjectStoreSection>(
      "collectors.flowlogs.objectstore",
      objectStoreFields("logs"),
    ),
    audit: defineKeyGroup<ObjectStoreSection>(
      "collectors.auditlogs.objectstore",
      objectStoreFields("logs"),
    ),
    k8sAudit: defineKeyGroup<ObjectStoreSection>(
      "collectors.k8s_audit.objectstore",
      objectStoreFields("recorder"),
    ),
  };

export const flowlogsSection = sectionOver<FlowLogOptions>({
  name: "flowlogs",
  enabled: flowlogsKeys.enabled,
  schema: keysOf(flowlogsKeys, feeds.flow),
  read(config, share) {
    const options = readWhileOn(config, flowlogsKeys);
    return options && { ...options, objectStore: feedOf(options.source, share.feeds.flow) };
  },
  forPreflight: (options) => ({ ...options, ...shortWindow(options) }),
});

export const auditlogsSection = sectionOver<LogOptions>({
  name: "auditlogs",
  enabled: auditlogsKeys.enabled,
  schema: keysOf(auditlogsKeys, feeds.audit),
  read(config, share) {
    const options = readWhileOn(config, auditlogsKeys);
    return options && { ...options, objectStore: feedOf(options.source, share.feeds.audit) };
  },
  forPreflight: (options) => ({ ...options, ...shortWindow(options) }),
});

export const k8sAuditSection = sectionOver<{ readonly objectStore: ObjectStoreOptions }>({
  name: "k8s_audit",
  enabled: k8sAuditKeys.enabled,
  schema: keysOf(k8sAuditKeys, feeds.k8sAudit),
  read: (config, share) =>
    config.get(k8sAuditKeys.enabled) && hasLocation(share.feeds.k8sAudit)
      ? { objectStore: objectStoreOptions(share.feeds.k8sAudit) }
      : undefined,
  forPreflight: ({ objectStore }) => ({ objectStore: fewObjects(objectStore) }),
});

/** Whether the records come from the control plane's API. */
export function isPolled({ source }: Pick<LogOptions, "source">): boolean {
  return source === "poll" || source === "both";
}

function feedOf(source: string, feed: ObjectStoreSection): ObjectStoreOptions | undefined {
  return source === "objectstore" && hasLocation(feed) ? objectStoreOptions(feed) : undefined;
}

function shortWindow({
  initialLookbackMs,
  objectStore,
}: LogOptions): Pick<LogOptions, "initialLookbackMs" | "objectStore"> {
  return {
    initialLookbackMs: Math.min(initialLookbackMs, PREFLIGHT_WINDOW_MS),
    objectStore: objectStore && fewObjects(objectStore),
  };
}

function fewObjects(store: ObjectStoreOptions): ObjectStoreOptions {
  return {
    ...store,
    initialLookbackMs: Math.min(store.initialLookbackMs, PREFLIGHT_OBJECTS_WINDOW_MS),
    maxObjects: Math.min(store.maxObjects, PREFLIGHT_OBJECTS),
  };
}
