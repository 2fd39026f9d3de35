/** Data of the landing page about the process and the services besides the monitor. */
import type { DayFacts } from "./day.ts";
import type { State } from "../pieces/state.ts";
import type { HealthProblem, StatusJson } from "../../../src/gen/status-json.ts";

export interface ArchiveFacts {
  readonly state: State;
  /** One or two words: `ready`, `last sync failed`. */
  readonly word: string;
  /** Figures are undefined when unknown. */
  readonly documents: number | undefined;
  /** Groups of near-duplicates, and those awaiting review. */
  readonly groups: number | undefined;
  readonly pending: number | undefined;
  /** Number configured; undefined when unknown. */
  readonly archives?: number | undefined;
  /** RFC 3339; undefined when never. */
  readonly lastSyncAt?: string | undefined;
  readonly lastAnalysisAt?: string | undefined;
}

/** The secrets engine. */
export interface TokenFacts {
  readonly state: State;
  /** One or two words: `open`, `sealed`. */
  readonly word: string;
  /** Figures are undefined when unknown. */
  readonly leases: number | undefined;
  /** Engines that mint tokens. */
  readonly mounts: number | undefined;
  /** Leases that could not be revoked and need attention. */
  readonly irrevocable: number | undefined;
  /** RFC 3339; undefined unless the newest authorised mint failed. */
  readonly failedMintAt?: string | undefined;
  /** RFC 3339: the last refused mint; undefined when none since the start. */
  readonly refusedMintAt?: string | undefined;
}

/** A service that is switched off is undefined. */
export interface ProcessSummary {
  readonly archive?: ArchiveFacts | undefined;
  readonly tokens?: TokenFacts | undefined;
  /** Problems of the process, root causes first; the monitor's own are in its status. */
  readonly problems?: readonly HealthProblem[];
}

/**
 * Without a status the monitor is off or does not respond, and the page shows the other services.
 */
export interface LandingFacts {
  readonly status: StatusJson | undefined;
  /** Why there is no status although the monitor is on. */
  readonly problem?: string | undefined;
  readonly summary: ProcessSummary;
  /** The second by whose end the summary was made, in milliseconds since 1970. */
  readonly summaryAtMs: number;
  /** The last day; undefined until it was read. */
  readonly day?: DayFacts | undefined;
  /** The listener serves the APIs and their reference: cards may link to them. */
  readonly api?: boolean;
  /** The server no longer responds, or is not polled: nothing is shown as currently good. */
  readonly stale?: boolean;
}
