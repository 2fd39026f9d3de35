/** Metrics of ingested records by source, and their latency: `svc.ingest.*`. */
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

/** Unlisted sources count as `other`. */
type ObservedSource = IngestSource | "webhook" | "other";
type Signal = "flow" | "audit" | "webhook" | "other";

/** Times of an accepted record, milliseconds since 1970. */
interface ObservedTimes {
  /** Time of the event; undefined when absent. */
  readonly eventMs: number | undefined;
  /** When the control plane recorded it. */
  readonly capturedMs: number | undefined;
}

/** Counts accepted records. */
export interface IngestObserver {
  accepted(source: ObservedSource, signal: Signal, times: ObservedTimes): void;
  /** Bytes of a payload after decompression; polled windows have none. */
  received(source: ObservedSource, bytes: number): void;
}

/** A no-op without self-observability. */
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
