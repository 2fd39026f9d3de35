/** Metrics of the streaming receiver, in the scope of the network. */
import type { Scope } from "../../../kernel/telemetry/types.ts";
import { networkDataQuality } from "../../catalogue/flows.ts";
import {
  streamDecodeErrors,
  streamInflight,
  streamRecords,
  streamRejected,
  streamRequestDuration,
  streamSkipped,
} from "../../catalogue/receivers.ts";
import type { RefusalReason } from "../../flows/record.ts";
import type { Batch, RecordKind } from "./batch.ts";

export interface StreamMetrics {
  inFlight(change: 1 | -1): void;
  took(seconds: number): void;
  /** Nothing is counted for an undefined reason. */
  rejected(reason: string | undefined): void;
  undecodable(kind: RecordKind, records: number): void;
  invalid(reasons: ReadonlyMap<RefusalReason, number>): void;
  accepted(batch: Batch): void;
}

/** Counts nothing without a scope: the network is not open yet. */
export function streamMetrics(scope: Scope | undefined): StreamMetrics {
  return {
    inFlight: (change) => scope?.add(streamInflight, change, {}),
    took: (seconds) => scope?.record(streamRequestDuration, seconds, {}),
    rejected(reason) {
      if (reason !== undefined) scope?.add(streamRejected, 1, { reason });
    },
    undecodable: (kind, records) => scope?.add(streamDecodeErrors, records, { type: kind }),
    invalid(reasons) {
      for (const [reason, records] of reasons)
        scope?.add(networkDataQuality, records, { source: "stream", reason });
    },
    accepted({ flows, audits, skipped }) {
      if (flows > 0) scope?.add(streamRecords, flows, { type: "flow" });
      if (audits > 0) scope?.add(streamRecords, audits, { type: "audit" });
      for (const [reason, values] of Object.entries(skipped))
        if (values > 0) scope?.add(streamSkipped, values, { reason });
    },
  };
}
