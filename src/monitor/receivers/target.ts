/** The network for which a receiver takes records. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { EventSink } from "../events/types.ts";
import type { CrossDedup } from "../ingest/cross-dedup.ts";
import type { AuditIntake, DecodedFlowIntake } from "../flows/types.ts";

/** The parts of a network that take records, once it is open. */
export interface Ingest {
  /** As the control plane knows it, or the configured name. */
  readonly name: string;
  readonly scope: Scope;
  readonly flows: DecodedFlowIntake;
  readonly audit: AuditIntake;
  readonly events: EventSink;
  /** Undefined unless `webhook.dedup_audit_events` is set. */
  readonly crossDedup: CrossDedup | undefined;
}

/** A network by its configured name; `ingest` is undefined until the network is open. */
export interface ReceiverTarget {
  readonly id: string;
  readonly selfObservability: boolean;
  ingest(): Ingest | undefined;
}

/** Throws `not_ready` until the network is open. */
export function openIngest(target: ReceiverTarget): Ingest {
  const ingest = target.ingest();
  if (ingest === undefined) throw new StewardError("not_ready", "the network is not open yet");
  return ingest;
}
