/** One request as the operations see it, and what they work with. */
import type { AppJwt } from "./app-jwt.ts";
import type { Estate } from "./estate/estate.ts";
import type { Bases } from "./estate/installation.ts";
import type { Limits } from "./limits.ts";
import type { Route } from "./routes.ts";
import type { TokenForms } from "./estate/token-form.ts";
import type { TokenStore } from "./estate/token-store.ts";
import type { CodeHostOptions, TokenForm } from "./types.ts";

/** A request whose body has been read. */
export interface Call {
  readonly route: Route;
  /** Path without query, as sent. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  readonly authorization: string | undefined;
  /** The wish of `X-GitHub-Stateless-S2S-Token`. */
  readonly stateless: string | undefined;
  readonly body: string;
  /** The host's clock, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly bases: Bases;
}

export interface Parts {
  readonly estate: Estate;
  readonly jwt: AppJwt;
  readonly tokens: TokenStore;
  readonly forms: TokenForms;
  readonly limits: Limits;
  readonly options: Settled;
}

/** The options that operations read, with their defaults. */
export interface Settled {
  readonly pageSize: number;
  readonly tokenForm: TokenForm;
  readonly tokenLifetimeMs: number;
  readonly replicationLagMs: number;
}

/** Fills in the defaults. */
export function settle(options: CodeHostOptions): Settled {
  return {
    pageSize: Math.min(100, Math.max(1, options.pageSize ?? 30)),
    tokenForm: options.tokenForm ?? "classic",
    tokenLifetimeMs: options.tokenLifetimeMs ?? 3_600_000,
    replicationLagMs: options.replicationLagMs ?? 0,
  };
}
