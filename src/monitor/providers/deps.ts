/** Dependencies of providers. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { CallReport } from "../../kernel/client/types.ts";

export interface ProviderDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Steward's version, for `User-Agent`. */
  readonly version: string;
  /**
   * Called for each logical request, including token requests; see `createApiObserver`. Must not
   * throw.
   */
  readonly observe: (report: CallReport) => void;
}
