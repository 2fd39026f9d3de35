/** What providers live with. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { CallReport } from "../../kernel/client/types.ts";

/** Passed to `createProvider`. */
export interface ProviderDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Of Steward, for the User-Agent. */
  readonly version: string;
  /**
   * Told of each logical request, those for access tokens included; see `createApiObserver`. Must
   * not throw.
   */
  readonly observe: (report: CallReport) => void;
}
