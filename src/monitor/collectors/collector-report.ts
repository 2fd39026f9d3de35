/** Values that collectors report besides metrics, for the status. */
import type { TargetsStatus } from "../nodemetrics/targets.ts";

/** Expiry of the credential in use. */
export interface CredentialExpiry {
  /** Milliseconds since 1970. */
  readonly expiresMs: number;
  /** How long before the expiry to warn. */
  readonly warnMs: number;
}

/** The latest reported values; undefined when never reported or no longer valid. */
export interface CollectorReport {
  readonly credential?: CredentialExpiry | undefined;
  /** Node agents, evaluated when shown. */
  readonly nodeTargets?: (() => TargetsStatus) | undefined;
  /** Connections of the overlap of flow logs that were forgotten before they expired, since the start. */
  readonly replayEvictions?: number;
}
