/** Events for the explorer, as plain data. */

/** A configuration change or an announcement of a webhook. Texts are empty when unknown. */
export interface EventRecord {
  /** Milliseconds since 1970; of the arrival when the time of the event is unknown. */
  readonly timeMs: number;
  readonly source: "audit" | "webhook";
  readonly network: string;
  readonly action: string;
  readonly type: string;
  readonly origin: string;
  readonly actor: EventParty;
  readonly target: EventParty & { readonly property: string };
  readonly severity: "info" | "warn";
  readonly error: string;
  readonly summary: string;
  readonly details: string;
}

/** Who did it, or what it was done to. */
interface EventParty {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/** Receives events; never throws and never waits. */
export interface EventSink {
  /** Texts other than error, summary and details must be bounded (`boundName`). */
  record(event: EventRecord): void;
}

/** A stored event. */
export interface StoredEvent extends EventRecord {
  /** Number of its arrival, from 1. */
  readonly seq: number;
  /** A text was cut. */
  readonly truncated: boolean;
}

/** Fill of the store, for the status. */
export interface EventStoreStatus {
  readonly capacity: number;
  readonly retained: number;
  /** Since the start. */
  readonly recorded: number;
  readonly evicted: number;
}
