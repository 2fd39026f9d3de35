/**
 * What the landing page says of the services beside the monitor: facts that the process knows
 * anyway.
 */
import type { State } from "../pieces/state.ts";
import type { HealthProblem, StatusJson } from "./status.ts";

/** The archive and its duplicates. */
export interface ArchiveFacts {
  readonly state: State;
  /** One or two words: `ready`, `last sync failed`. */
  readonly word: string;
  /** Figures are undefined where the service cannot tell them. */
  readonly documents: number | undefined;
  /** Groups of near-duplicates, and of them those that wait for a reviewer. */
  readonly groups: number | undefined;
  readonly pending: number | undefined;
  /** How many are configured; undefined where that is not known. */
  readonly archives?: number | undefined;
  /** RFC 3339; undefined when it never was. */
  readonly lastSyncAt?: string | undefined;
  readonly lastAnalysisAt?: string | undefined;
}

/** The secrets engine. */
export interface TokenFacts {
  readonly state: State;
  /** One or two words: `open`, `sealed`. */
  readonly word: string;
  /** Figures are undefined where the service cannot tell them. */
  readonly leases: number | undefined;
  /** Engines that mint tokens. */
  readonly mounts: number | undefined;
  /** Leases that could not be ended and that somebody has to look at. */
  readonly irrevocable: number | undefined;
  /** RFC 3339; undefined unless the newest mint failed although its caller was allowed it. */
  readonly failedMintAt?: string | undefined;
  /** RFC 3339: when a mint was refused last; undefined when none was since the start. */
  readonly refusedMintAt?: string | undefined;
}

/** A service that is switched off is undefined. */
export interface ProcessSummary {
  readonly archive?: ArchiveFacts | undefined;
  readonly tokens?: TokenFacts | undefined;
  /**
   * What is not well with the process, root causes first; the monitor's own findings are in its
   * status.
   */
  readonly problems?: readonly HealthProblem[];
}

/**
 * What is shown. Without a status the monitor is off or does not answer, and the page tells of the
 * other services.
 */
export interface LandingFacts {
  readonly status: StatusJson | undefined;
  /** Why there is no status although the monitor is on. */
  readonly problem?: string | undefined;
  readonly summary: ProcessSummary;
  /** When the house was asked, in milliseconds since 1970. */
  readonly summaryAtMs: number;
  /** The listener serves the APIs and their reference: cards may link to them. */
  readonly api?: boolean;
  /**
   * The server no longer answers, or is not asked: what is shown was so once, and nothing of it is
   * shown as good now.
   */
  readonly stale?: boolean;
}
