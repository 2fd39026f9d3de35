/** Counts one webhook event: log record, metrics, event store, latency. */
import type { Clock } from "../../../kernel/base/clock.ts";
import { boundName } from "../../../kernel/base/text/bounded-name.ts";
import type { LogRow, Values } from "../../../kernel/telemetry/types.ts";
import { webhookRecord } from "../../catalogue/records.ts";
import { createIngestObserver, type IngestObserver } from "../../ingest/observer.ts";
import type { Ingest } from "../target.ts";
import type { WebhookEvent } from "./event.ts";
import { webhookMetrics } from "./metrics.ts";
import {
  auditCounterparts,
  exportedMembers,
  KNOWN_VERSION,
  severityOf,
  type WebhookAttribute,
} from "./vocabulary.ts";

/** Further types are counted and logged as `other`. */
const MAX_TYPES = 64;
const OTHER = "other";

type Attribute = typeof webhookRecord extends LogRow<infer A> ? A : never;

export interface Emitter {
  readonly observer: IngestObserver;
  /** Does not wait and does not throw. */
  emit(event: WebhookEvent): void;
}

export function createEmitter(
  ingest: Ingest,
  clock: Clock,
  options: { readonly selfObservability: boolean },
): Emitter {
  const { scope } = ingest;
  const observer = createIngestObserver({ scope, clock }, { enabled: options.selfObservability });
  const metrics = webhookMetrics(scope);
  const types = new Set<string>();
  const fold = (type: string): string => {
    if (types.has(type)) return type;
    if (types.size === MAX_TYPES) return OTHER;
    types.add(type);
    return type;
  };
  return {
    observer,
    emit(event) {
      if (ingest.crossDedup?.isNew("webhook", changeFacts(event)) === false)
        return metrics.duplicate();
      const type = fold(event.type);
      log(ingest, event, type);
      metrics.event(type);
      metrics.version(event.version === KNOWN_VERSION);
      ingest.events.record(explorerEvent(event, { network: ingest.name, type, clock }));
      observer.accepted("webhook", "webhook", {
        eventMs: event.time?.ms,
        capturedMs: undefined,
      });
    },
  };
}

function log({ scope }: Ingest, event: WebhookEvent, type: string): void {
  const members =
    event.version === KNOWN_VERSION ? Object.entries(exportedMembers.get(event.type) ?? {}) : [];
  const attributes = Object.fromEntries(
    members.flatMap(([member, attribute]): [WebhookAttribute, string][] => {
      const value = event.data[member];
      if (typeof value === "string" && value !== "") return [[attribute, boundName(value)]];
      return isTexts(value) && value.length > 0 ? [[attribute, boundName(value.join(","))]] : [];
    }),
  );
  scope.log(
    webhookRecord,
    event.message,
    {
      ...attributes,
      "vpn.webhook.type": type,
      ...(event.network === "" ? {} : { "vpn.network": event.network }),
    } as Values<Attribute>,
    {
      type,
      severity: severityOf(event.type),
      ...(event.time === undefined ? {} : { timeMs: event.time.ms }),
    },
  );
}

function changeFacts({ type, data, time }: WebhookEvent) {
  const [verb = "", subject = ""] = auditCounterparts.get(type) ?? [];
  return { verb, subject, id: text(data["nodeID"]) || text(data["user"]), timeMs: time?.ms };
}

function explorerEvent(
  { data, type: original, network: named, message, time }: WebhookEvent,
  {
    network,
    type,
    clock,
  }: { readonly network: string; readonly type: string; readonly clock: Pick<Clock, "now"> },
) {
  return {
    timeMs: time?.ms ?? clock.now(),
    source: "webhook" as const,
    network: named || network,
    action: type,
    type,
    origin: "",
    actor: { id: text(data["actor"]), name: "", type: "" },
    target: {
      id: text(data["nodeID"]) || text(data["user"]),
      name: text(data["deviceName"]),
      type: "",
      property: "",
    },
    severity: severityOf(original),
    error: "",
    summary: message,
    details: message,
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? boundName(value) : "";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
