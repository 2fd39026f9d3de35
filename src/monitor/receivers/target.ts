/** The network for which a receiver takes records. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { AuditIntake, FlowIntake } from "../flows/types.ts";

/** The parts of a network that take records, once it is open. */
export interface Ingest {
  readonly scope: Scope;
  readonly flows: FlowIntake;
  readonly audit: AuditIntake;
}

/** A network by its configured name; `ingest` is undefined until the network is open. */
export interface ReceiverTarget {
  readonly id: string;
  readonly selfObservability: boolean;
  ingest(): Ingest | undefined;
}
