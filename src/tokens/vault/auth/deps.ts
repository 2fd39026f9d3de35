/** Dependencies of auth backends. */
import type { Clock } from "../../../kernel/base/clock.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { ExpiryClock } from "../expiry/expiry-clock.ts";
import type { TokenStore } from "../token-store/token-store.ts";
import type { TtlLimits } from "../token-store/ttl.ts";
import type { Policies } from "../types.ts";
import type { OpenHttp } from "./jwt/keys.ts";

/** Shared by all auth backends. */
export interface AuthDeps {
  /** Holds `tokenTables`. */
  readonly env: Env;
  readonly tokens: TokenStore;
  readonly policies: Policies;
  readonly clock: Clock;
  /** Clock for expiries of their own, e.g. of secret ids. */
  readonly expiry: ExpiryClock;
  readonly ids: Ids;
  /** Clients of issuers of identity tokens. */
  readonly openHttp: OpenHttp;
  /** Lease TTLs of `auth/token/`. */
  readonly limits: () => TtlLimits;
}
