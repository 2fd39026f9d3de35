/** Processes audit events from every source: decode, deduplicate, classify, log, annotate, store. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { AnnotationSink } from "../annotations/types.ts";
import {
  configAuditChanges,
  configAuditDeferredDelay,
  configAuditEvents,
  configAuditProcessingDelay,
} from "../catalogue/flows.ts";
import type { EventSink } from "../events/types.ts";
import type { AuditIntake, DedupSetStatus, IngestSource, IntakeReport } from "../flows/types.ts";
import type { ChangeFacts, CrossDedup } from "../ingest/cross-dedup.ts";
import { createInstantReader } from "../ingest/instants.ts";
import { createIngestObserver } from "../ingest/observer.ts";
import type { NetworkOptions } from "../options.ts";
import { explorerEvent } from "./audit-event.ts";
import { logAuditEvent, summaryOf } from "./audit-log.ts";
import { AuditDedup, auditKey } from "./dedup.ts";
import { createDriftWatch } from "./drift.ts";
import { readAuditEvent } from "./record.ts";
import type { AuditEvent } from "./record.ts";
import { changeOf, fold } from "./vocabulary.ts";
import { nextTurn } from "../../kernel/async/turns.ts";

export interface AuditIntakeDeps {
  readonly options: Pick<NetworkOptions, "name" | "selfObservability">;
  readonly scope: Scope;
  readonly clock: Clock;
  /** Receives warnings about unknown words. */
  readonly log: Log;
  readonly annotations: AnnotationSink;
  /** Receives every accepted event, after it was counted and logged. */
  readonly events: EventSink;
  /** Changes that a webhook reports too; undefined: both count. */
  readonly crossDedup?: CrossDedup | undefined;
}

/** Events between two yields to the event loop; an event takes about 20 µs. */
const AT_ONCE = 128;

export function createAuditIntake(
  deps: AuditIntakeDeps,
): AuditIntake & { dedupSets(): DedupSetStatus[] } {
  const { scope, clock, options } = deps;
  const instants = createInstantReader();
  const dedup = new AuditDedup();
  const watch = createDriftWatch(deps);
  const observer = createIngestObserver(deps, { enabled: options.selfObservability });
  const apply = (event: AuditEvent, source: IngestSource): void => {
    watch(event);
    count(scope, event, clock.now());
    logAuditEvent(scope, event);
    annotate(deps, event);
    deps.events.record(explorerEvent(event, { network: options.name, nowMs: clock.now() }));
    observer.accepted(source, "audit", {
      eventMs: (event.time ?? event.logged)?.ms,
      capturedMs: event.time && event.logged?.ms,
    });
  };
  return {
    dedupSets: () => [dedup.status()],
    async accept({ records, ...origin }, signal): Promise<IntakeReport> {
      let accepted = 0;
      let malformed = 0;
      for (const [at, record] of records.entries()) {
        if (at % AT_ONCE === AT_ONCE - 1) await nextTurn();
        signal.throwIfAborted();
        const event = readAuditEvent(record, instants);
        if (event === undefined) malformed += 1;
        if (event === undefined || !dedup.isNew(event, origin)) continue;
        if (deps.crossDedup?.isNew("audit", changeFacts(event)) === false) continue;
        apply(event, origin.source);
        accepted += 1;
      }
      return { accepted, refused: malformed === 0 ? {} : { malformed } };
    },
  };
}

function count(scope: Scope, event: AuditEvent, nowMs: number): void {
  const action = fold("action", event.action);
  scope.add(configAuditEvents, 1, {
    "vpn.audit.action": action,
    "vpn.audit.origin": fold("origin", event.origin),
  });
  const change = changeOfEvent(event);
  if (change !== undefined)
    scope.add(configAuditChanges, 1, {
      "vpn.audit.change": change,
      "vpn.audit.action": action,
      "vpn.actor.type": fold("actor_type", event.actor.type),
    });
  const { time, deferred } = event;
  if (time !== undefined && deferred !== undefined && deferred.ms >= time.ms)
    scope.record(configAuditDeferredDelay, (deferred.ms - time.ms) / 1_000, {});
  const since = deferred ?? time;
  if (since !== undefined && nowMs >= since.ms)
    scope.record(configAuditProcessingDelay, (nowMs - since.ms) / 1_000, {});
}

function annotate({ annotations, clock, options }: AuditIntakeDeps, event: AuditEvent): void {
  const change = changeOfEvent(event);
  if (change === undefined) return;
  const timeMs = (event.time ?? event.logged)?.ms ?? clock.now();
  const summary = summaryOf({
    ...event,
    action: fold("action", event.action) ?? "",
    origin: fold("origin", event.origin) ?? "",
  });
  annotations.publish({
    category: "config_change",
    timeMs,
    text: `Configuration change (${change}): ${summary}${event.error === "" ? "" : ", which failed"}.`,
    tags: [change],
    identity: `audit ${options.name} ${auditKey(event)}`,
  });
}

function changeFacts({ action, target, time, logged }: AuditEvent): ChangeFacts {
  return {
    verb: action.toLowerCase(),
    subject: target.type.toLowerCase(),
    id: target.id,
    timeMs: (time ?? logged)?.ms,
  };
}

function changeOfEvent({ action, target }: AuditEvent): string | undefined {
  return changeOf({ action, targetType: target.type, property: target.property });
}
