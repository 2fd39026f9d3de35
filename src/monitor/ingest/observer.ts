/** What came in by which way, and how late: `svc.ingest.*`. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  ingestCaptureDelay,
  ingestEventAge,
  ingestLastEventTimestamp,
  ingestRecords,
  ingestSize,
  ingestTimestampSkew,
} from "../catalogue/ingest.ts";
import type { IngestSource } from "../flows/types.ts";

/** Ways in; what is not listed counts as `other`. */
type ObservedSource = IngestSource | "webhook" | "other";
/** Kinds of record. */
type Signal = "flow" | "audit" | "webhook" | "other";

/** Times of an accepted record, milliseconds since 1970. */
interface ObservedTimes {
  /** When it happened; undefined when the record does not say. */
  readonly eventMs: number | undefined;
  /** When the control plane took it down. */
  readonly capturedMs: number | undefined;
}

/** Counts what is accepted. */
export interface IngestObserver {
  accepted(source: ObservedSource, signal: Signal, times: ObservedTimes): void;
  /** Bytes of a payload after decompression; pulled windows have none. */
  received(source: ObservedSource, bytes: number): void;
}

/** An observer of one network; without self-observability it does nothing. */
export function createIngestObserver(
  { scope, clock }: { readonly scope: Scope; readonly clock: Pick<Clock, "now"> },
  { enabled }: { readonly enabled: boolean },
): IngestObserver {
  const newest = new Map<string, number>();
  return {
    accepted(source, signal, times) {
      if (!enabled) return;
      const attributes = { source, signal };
      scope.add(ingestRecords, 1, attributes);
      const { eventMs } = times;
      if (eventMs === undefined) return;
      const nowMs = clock.now();
      scope.record(ingestEventAge, Math.max(0, nowMs - eventMs) / 1_000, attributes);
      const captureDelayMs = times.capturedMs === undefined ? 0 : times.capturedMs - eventMs;
      if (times.capturedMs !== undefined)
        scope.record(ingestCaptureDelay, Math.max(0, captureDelayMs) / 1_000, attributes);
      if (eventMs > nowMs || captureDelayMs < 0) scope.add(ingestTimestampSkew, 1, attributes);
      const key = `${source} ${signal}`;
      if (eventMs <= (newest.get(key) ?? Number.NEGATIVE_INFINITY)) return;
      newest.set(key, eventMs);
      scope.gauge(ingestLastEventTimestamp, eventMs / 1_000, attributes);
    },
    received(source, bytes) {
      if (enabled && source !== "poll") scope.add(ingestSize, bytes, { source });
    },
  };
}
