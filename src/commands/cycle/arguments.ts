/** Arguments of `-preflight`, `-once` and `-exposition-check`. */
import type { DaemonArguments } from "../../daemon/configuration.ts";

/** Mutually exclusive. */
export const cycleModes = ["exposition-check", "preflight", "once"] as const;
type CycleMode = (typeof cycleModes)[number];

export interface CycleArguments extends DaemonArguments {
  readonly mode: CycleMode;
  readonly json: boolean;
  /** For all of it. */
  readonly timeoutMs: number;
  /** Whether a preflight exports what it collected. */
  readonly exports: boolean;
}
