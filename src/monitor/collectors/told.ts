/** What a collector knows beside its series, for who shows how the network is doing. */
import type { TargetsStatus } from "../nodemetrics/targets.ts";

/** When the credential that the control plane is asked with ends. */
export interface CredentialExpiry {
  /** Milliseconds since 1970. */
  readonly expiresMs: number;
  /** So long before it people are warned. */
  readonly warnMs: number;
}

/** What collectors told last; undefined is what nobody told, or what is not so any more. */
export interface Told {
  readonly credential?: CredentialExpiry | undefined;
  /** The agents of nodes, asked for when they are shown. */
  readonly nodeTargets?: (() => TargetsStatus) | undefined;
}
