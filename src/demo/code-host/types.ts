/** Data of the simulated code host: apps, installations, limits, and what tests can observe. */
import type { KeyObject } from "node:crypto";
import type { Address } from "../../kernel/config/values/address.ts";
import type { Operation } from "./routes.ts";

/** What an account may be. Enterprises have a slug and no login in the answers, as upstream. */
export type AccountType = "Organization" | "User" | "Enterprise";

/** Access to one kind of thing. */
export type Level = "read" | "write" | "admin";

/** Permission name, spelled with underscores, to level. */
export type Permissions = Readonly<Record<string, Level>>;

/**
 * A repository as a test or the demo names it; the other hundred members of its object follow from
 * these.
 */
export interface RepositorySpec {
  readonly id: number;
  /** Short name, without the owner. */
  readonly name: string;
  /** Default true. */
  readonly private?: boolean;
  readonly description?: string;
  /** Default `main`. */
  readonly defaultBranch?: string;
}

/** One app on one account. */
export interface InstallationSpec {
  readonly id: number;
  readonly account: {
    /** Default: the installation's id plus 5,000,000. */
    readonly id?: number;
    readonly login: string;
    readonly type: AccountType;
    /** Names it had before: looked up by one of these, it is answered 301. */
    readonly formerLogins?: readonly string[];
  };
  /** What the account's owner has accepted. */
  readonly permissions: Permissions;
  /** What the installation may reach. */
  readonly repositories: readonly RepositorySpec[];
  /** Default `all`. */
  readonly repositorySelection?: "all" | "selected";
  /** RFC 3339; absent or null: not suspended. */
  readonly suspendedAt?: string | null;
  readonly events?: readonly string[];
  /** The files that the `single_file` permission is about. */
  readonly singleFilePaths?: readonly string[];
  /** RFC 3339. Default 2025-03-04T09:26:53Z. */
  readonly updatedAt?: string;
}

/** A registered app. */
export interface AppSpec {
  readonly id: number;
  readonly clientId: string;
  readonly slug: string;
  /** Default: the slug. */
  readonly name?: string;
  /** Default `example-org`. */
  readonly owner?: string;
  /** SPKI PEM or key objects. Several while a key is being replaced. */
  readonly publicKeys: readonly (string | KeyObject)[];
  /** Default: the highest level that any installation has accepted. */
  readonly permissions?: Permissions;
  readonly installations: readonly InstallationSpec[];
}

/** The limits upstream does not publish, so none applies unless it is named here. */
export interface SecondaryLimit {
  /** Requests at once, over the whole host. */
  readonly concurrent?: number;
  /** Mints of one app within a minute of the host's clock. */
  readonly mintsPerMinute?: number;
  /** Default 403; upstream uses both. */
  readonly status?: 403 | 429;
  /**
   * How the client learns when to come back: `retry-after`, or `x-ratelimit-remaining: 0` with
   * `x-ratelimit-reset`. Default the first.
   */
  readonly announce?: "retry-after" | "reset";
  /** Default 60. */
  readonly retryAfterS?: number;
}

/** The two forms of an installation token. */
export type TokenForm = "classic" | "stateless";

/** How a host is set up. */
export interface CodeHostOptions {
  readonly apps: readonly AppSpec[];
  /** Default 127.0.0.1, any port. */
  readonly address?: Address;
  /** What addresses in answers, `Link` and `Location` begin with. Default: the bound address. */
  readonly publicUrl?: string;
  /** Elements of a page when the request does not say; 1 to 100, default 30. */
  readonly pageSize?: number;
  /** How far the host's clock is ahead of ours. Its `Date` header shows it. Default 0. */
  readonly skewMs?: number;
  /** Default `classic`; a request may override it with `X-GitHub-Stateless-S2S-Token`. */
  readonly tokenForm?: TokenForm;
  /** Default one hour. */
  readonly tokenLifetimeMs?: number;
  /** For so long a new token is answered 401, also when it is to be revoked. Default 0. */
  readonly replicationLagMs?: number;
  /** Time before each answer. Default 0. */
  readonly latencyMs?: number;
  /**
   * Tokens remembered, default 250,000. At the bound the dead are forgotten first, then the oldest
   * living one, which is answered 401 from then on and counted in `counts().dropped`.
   */
  readonly tokensKept?: number;
  /** Largest request body, default 1 MiB; more is answered 413. */
  readonly maxBodyBytes?: number;
  /**
   * Calls of one installation's tokens in an hour. `upstream`: 5,000, and 50 more for each
   * repository above 20, up to 12,500. Default `upstream`; `off` as on a server of one's own.
   */
  readonly hourlyLimit?: "upstream" | "off" | number;
  readonly secondary?: SecondaryLimit;
  /** Compress answers of 1 KiB and more for clients that accept it. Default false. */
  readonly gzip?: boolean;
  /** Refuse an `iss` that is text, as upstream was seen to do in August 2026. Default false. */
  readonly integerIssuer?: boolean;
}

/** One minted token, by its hash. Times are the host's own, in milliseconds since 1970. */
export interface MintedToken {
  /** 1 for the first. */
  readonly number: number;
  /** Padded base64 of SHA-256 over the token: what `hashed_token` holds. */
  readonly hash: string;
  readonly form: TokenForm;
  readonly appId: number;
  readonly installationId: number;
  readonly permissions: Permissions;
  /** Ids of the repositories it is limited to; undefined: all of its installation. */
  readonly repositoryIds: readonly number[] | undefined;
  readonly mintedAtMs: number;
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | undefined;
}

/** Figures about tokens since the host began. */
export interface TokenCounts {
  readonly minted: number;
  readonly revoked: number;
  /** Neither revoked nor expired. */
  readonly live: number;
  /** Living ones that were forgotten at the bound. */
  readonly dropped: number;
  readonly kept: number;
}

/** One request, without its credential. */
export interface SeenRequest {
  readonly operation: Operation;
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  /** Lower-case names; of `authorization` only the scheme. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The claims of the app's JWT, unverified, when one was sent. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
}
