/**
 * Types shared by the parts of the secrets manager: tokens, policies, leases, audit. `core/core.ts`
 * runs a request through them in that order.
 */
import type { Secret } from "../../kernel/base/secret.ts";
import type { Snapshot, Tx } from "../../kernel/state/types.ts";
import type {
  AuthGrant,
  Data,
  ListPage,
  LogicalResponse,
  Operation,
  Remote,
} from "../logical/types.ts";

/** Capabilities of a policy. */
export type Capability =
  | "create"
  | "read"
  | "update"
  | "patch"
  | "delete"
  | "list"
  | "sudo"
  | "deny"
  | "root";

/** Bounds of a wrapped response's TTL. */
export interface WrapLimits {
  readonly minMs?: number;
  readonly maxMs?: number;
}

/** Policy decision on one request. */
export interface Decision {
  readonly allowed: boolean;
  /** Names of the granting policies. */
  readonly granting: readonly string[];
  readonly wrap: WrapLimits;
  /** Whether the root policy applies. */
  readonly root: boolean;
}

/** The compiled union of several policies. */
export interface Acl {
  /** `path` with its mount, without a leading slash. */
  check(request: {
    readonly operation: Operation;
    readonly path: string;
    readonly data: Data;
    readonly sudo: boolean;
  }): Decision;
  /** Sorted; `["deny"]` for nothing, `["root"]` for the root policy. */
  capabilities(path: string): readonly Capability[];
  /** Whether any capability exists at or below a prefix. */
  anyBelow(prefix: string): boolean;
  /** Rules in force by path; empty for the root policy. */
  rules(): AclRules;
}

/**
 * Capabilities by path, as `sys/internal/ui/resultant-acl` shows them; `["deny"]` for a rule that
 * grants nothing.
 */
export interface AclRules {
  readonly exact: ReadonlyMap<string, readonly Capability[]>;
  /**
   * A path that ends in `*` is listed without it, one with `+` segments as it was written.
   */
  readonly glob: ReadonlyMap<string, readonly Capability[]>;
}

/** A stored policy. */
export interface PolicyDocument {
  /** Lower case. */
  readonly name: string;
  readonly text: string;
}

/** The policies. `default` and `root` are always there. */
export interface Policies {
  get(name: string): PolicyDocument | undefined;
  /** Sorted, `root` last. */
  list(): readonly string[];
  /**
   * Parses, stores; gives lint warnings (e.g. `update` without `create` on a minting path). Throws
   * `invalid` with line and remedy.
   */
  write(name: string, text: string): Promise<{ readonly warnings: readonly string[] }>;
  /** The same warnings of a stored policy; none for an unknown one. */
  warnings(name: string): readonly string[];
  /**
   * Warnings of all policies about paths of the mount at `point`, each with its policy's name; at
   * most 20. Gives way to other work.
   */
  warningsAbout(point: string): Promise<readonly string[]>;
  /** Done, too, when there was none. Throws `invalid` for `default` and `root`. */
  delete(name: string): Promise<void>;
  /** Compiled and cached, bounded; unknown names grant nothing. */
  acl(names: readonly string[]): Acl;
}

/** The two kinds of tokens. */
export type TokenType = "service" | "batch";

/** A live token. Its id is not in it: `key` is the HMAC that the store knows it by. */
export interface TokenEntry {
  readonly key: string;
  readonly type: TokenType;
  readonly accessor: string;
  readonly policies: readonly string[];
  /** Where it was made, e.g. `auth/token/create`. */
  readonly path: string;
  readonly displayName: string;
  readonly meta: Readonly<Record<string, string>> | undefined;
  readonly entityId: string;
  /** Uses left, 0 for unlimited; -1 while its last use is served. */
  readonly numUses: number;
  /** `key` of the parent; undefined for an orphan. */
  readonly parent: string | undefined;
  readonly createdAtMs: number;
  readonly creationTtlMs: number;
  /** Undefined: never. */
  readonly expiresAtMs: number | undefined;
  readonly explicitMaxTtlMs: number;
  readonly periodMs: number;
  readonly renewable: boolean;
  readonly lastRenewalAtMs: number | undefined;
  readonly role: string | undefined;
  /** CIDRs that may use it; empty for all. */
  readonly boundCidrs: readonly string[];
}

/** A token to be. */
export interface TokenSpec {
  readonly type: TokenType;
  /** A given id; random otherwise. */
  readonly id?: Secret;
  readonly policies: readonly string[];
  readonly path: string;
  readonly displayName: string;
  readonly meta?: Readonly<Record<string, string>>;
  readonly numUses: number;
  readonly parent: string | undefined;
  /** 0: never expires (root tokens only). */
  readonly ttlMs: number;
  readonly explicitMaxTtlMs: number;
  /** What its role allows at most, besides the mount's maximum; 0 for no such bound. */
  readonly maxTtlMs?: number;
  readonly periodMs: number;
  readonly renewable: boolean;
  readonly role?: string;
  /** Who sets the terms of its renewals, see `TokenStore.issuer`. */
  readonly issuer?: string;
  readonly boundCidrs?: readonly string[];
}

/** A token that was just made, with the only copy of its id. */
export interface CreatedToken {
  readonly id: Secret;
  readonly entry: TokenEntry;
}

/** A token as issued by a built-in auth backend. */
export interface IssuedAuth extends AuthGrant {
  readonly entry: TokenEntry;
}

/**
 * The tokens. All times by the wall clock; an expired token is gone at once, its row when the timer
 * gets to it.
 */
export interface Tokens {
  /**
   * Undefined for unknown and ended ones alike, also while the last use is served. Throws `corrupt`
   * for a damaged row.
   */
  lookup(id: Secret): TokenEntry | undefined;
  byAccessor(accessor: string): TokenEntry | undefined;
  byKey(key: string): TokenEntry | undefined;
  /** Whether a service token has ended; one whose last use is being served has not. */
  hasEnded(key: string): boolean;
  /**
   * Whether a service token has ended, so that `onEnd` has been or never will be called for it: what
   * is stored beside it then stays for ever. A token past its time is there until its timer ends it.
   */
  isGoneIn(snapshot: Snapshot, key: string): boolean;
  /** Durable before it resolves. */
  create(spec: TokenSpec): Promise<CreatedToken>;
  /** Inside a change of the caller's, e.g. with a lease. */
  createIn(tx: Tx, spec: TokenSpec): CreatedToken;
  /**
   * Takes one use of a token with limited uses, durably; undefined when there was none left. The
   * last use is to be followed by `revoke`.
   */
  use(entry: TokenEntry): Promise<TokenEntry | undefined>;
  /**
   * New expiry by increment, period and maxima; warnings say when it was cut. Throws `invalid` for
   * what cannot be renewed.
   */
  renew(
    entry: TokenEntry,
    incrementMs: number | undefined,
  ): Promise<{ readonly entry: TokenEntry; readonly warnings: readonly string[] }>;
  /**
   * Revokes it, its children and all their leases; `orphanChildren` spares the children. Resolves
   * when no use of them can begin any more.
   */
  revoke(key: string, options?: { readonly orphanChildren?: boolean }): Promise<void>;
  /** Sorted, all or those of a page; yields to the event loop. */
  accessors(signal: AbortSignal, page?: ListPage): Promise<readonly string[]>;
  /** Called for each token that ends, in the transaction that ends it. */
  onEnd(seen: (tx: Tx, entry: { readonly key: string; readonly accessor: string }) => void): void;
}

/** A lease as people may see it. */
export interface LeaseInfo {
  /** `<request path>/<24 base62>`. */
  readonly id: string;
  readonly path: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  readonly renewable: boolean;
  /** Set after the last try to revoke it failed; text without secrets. */
  readonly irrevocable: string | undefined;
  readonly attempts: number;
  /** Other leases may hold its token, too. */
  readonly shared: boolean;
}

/** A lease with what its response said about the token. */
export interface LedgerEntry extends LeaseInfo {
  /** Base64 of the token's SHA-256; undefined where the response had none. */
  readonly hashedToken: string | undefined;
}

/**
 * What a crash or an unclear answer left: something may have been made outside, and only its expiry
 * ends it.
 */
export interface Orphan {
  readonly requestId: string;
  readonly path: string;
  readonly beganAtMs: number;
  /** The latest possible expiry. */
  readonly untilMs: number;
  /** The request, without secrets. */
  readonly about: Data;
  readonly reason: string;
}

/** A record of a minting request, written before anything happens. */
export interface Intent {
  readonly requestId: string;
}

/** A lease to be recorded. */
export interface LeaseSpec {
  readonly path: string;
  /** Mount with slash, so that an unmount finds it. */
  readonly mountPoint: string;
  readonly response: LogicalResponse;
  readonly ttlMs: number;
  /** `key` and kind of the requesting token; a batch token's leases belong to its parent. */
  readonly token: { readonly key: string; readonly expiresAtMs: number | undefined } | undefined;
  readonly intent: Intent | undefined;
}

/** Sends a lease's revocation to the backend it came from. Injected by the mounts. */
export type RevokeBackend = (
  lease: {
    readonly id: string;
    readonly path: string;
    readonly mountPoint: string;
    readonly data: Data;
    readonly internalData: Data;
  },
  signal: AbortSignal,
) => Promise<void>;

/** The leases. */
export interface Leases {
  /** Durable when it resolves. `about` has no secrets in it. */
  intend(request: {
    readonly requestId: string;
    readonly path: string;
    readonly mountPoint: string;
    readonly about: Data;
  }): Promise<Intent>;
  /** Nothing was issued: deletes the record. Does not wait for the disk. */
  drop(intent: Intent): void;
  /** Something may have been created: the record stays as an orphan. */
  orphan(intent: Intent, reason: string, about: Data): Promise<void>;
  /**
   * Lease in, intent out, in one change: known at once, durable when `stored` resolves, so that the
   * audit can be written beside it.
   */
  register(spec: LeaseSpec): { readonly info: LeaseInfo; readonly stored: Promise<void> };
  lookup(id: string): LeaseInfo | undefined;
  /**
   * Names directly below a prefix, sub-levels with a slash; sorted. Gives way to other work: there
   * may be 100,000 of them.
   */
  list(prefix: string): Promise<readonly string[]>;
  /**
   * `sync` waits for the backend and throws its error, keeping the lease; otherwise it is due at
   * once and retried. Unknown ids are fine.
   */
  revoke(id: string, options: { readonly sync: boolean }): Promise<void>;
  /**
   * All below a prefix, which names whole segments, or the one with this id. `force` ends the leases
   * even if the backend fails, and logs how many tokens may still be valid; not with
   * `expectsFailures`, for a prefix whose platform is gone.
   */
  revokePrefix(
    prefix: string,
    options: {
      readonly sync: boolean;
      readonly force: boolean;
      readonly expectsFailures?: boolean;
    },
  ): Promise<void>;
  /** Inside a change of the caller's: the lease becomes due now. Unknown ids are fine. */
  endIn(tx: Tx, id: string): void;
  /** Inside the change that ends a token: its leases become due now. */
  endToken(tx: Tx, tokenKey: string): void;
  /** The oldest ones, so many; read with turns for other work. */
  irrevocable(count: number): Promise<readonly LeaseInfo[]>;
  /** The latest ones, newest first. */
  newest(count: number): readonly LedgerEntry[];
  /** So many; read with turns for other work. */
  orphans(count: number): Promise<readonly Orphan[]>;
  /** For status and metrics. */
  counts(snapshot?: Snapshot): {
    readonly leases: number;
    readonly irrevocable: number;
    readonly orphans: number;
    readonly due: number;
  };
  /** Tokens that may have several leases: their last one is revoked by the backend. */
  readonly sharing: {
    /** From here on the token may get further leases; `path` is the request that minted it. */
    open(share: string, path: string): void;
    /**
     * False once its last lease ends, a prefix of its path is revoked, or Steward has restarted.
     * Check it in the same turn as `register`.
     */
    isOpen(share: string): boolean;
    /**
     * Whether nothing holds the token of a lease that could not be stored, so that it must be
     * revoked. Waits for leases that are being stored.
     */
    abandon(share: string): Promise<boolean>;
  };
  /** Tries irrevocable leases again and clears what is over. */
  tidy(): Promise<void>;
}

/** One request to audit, in clear: the audit hashes what must be hashed. */
export interface AuditRequest {
  readonly id: string;
  /** The effective one. */
  readonly operation: Operation;
  readonly mount: AuditMount | undefined;
  readonly token: { readonly id: Secret; readonly entry: TokenEntry | undefined } | undefined;
  readonly path: string;
  readonly data: Data | undefined;
  readonly remote: Remote | undefined;
  readonly wrapTtlMs: number | undefined;
  readonly granting: readonly string[];
  readonly allowed: boolean;
  /** What the devices wrote of it, for the records of its answer; theirs alone. */
  written?: WrittenRequest[];
}

/** The part of a request that both of its records show, as one device writes it. */
export interface WrittenRequest {
  /** Told apart from a copy with other content. */
  readonly of: AuditRequest;
  readonly by: object;
  readonly members: { readonly auth: string; readonly request: string };
}

/** Where a request went. */
export interface AuditMount {
  readonly point: string;
  readonly type: string;
  readonly accessor: string;
  readonly class: "secret" | "auth" | "system";
}

/** What was answered. */
export interface AuditResponse {
  readonly data?: Data | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly leaseId?: string | undefined;
  /** `id` is undefined where the caller must not learn it. */
  readonly auth?: { readonly id: Secret | undefined; readonly entry: TokenEntry } | undefined;
  readonly wrap?:
    | {
        readonly token: Secret;
        readonly accessor: string;
        readonly ttlMs: number;
        readonly creationPath: string;
      }
    | undefined;
  readonly error?: string | undefined;
}

/** Failed requests without a live token that have no records of their own. */
export interface AuditSummary {
  /** The address, or the /64 of an IPv6 one; undefined for many addresses together. */
  readonly address: string | undefined;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/**
 * Each call resolves when every configured device has the record on disk, or rejects: then the
 * request must have no effect and no response.
 */
export interface Audit {
  request(request: AuditRequest, error?: string): Promise<void>;
  response(request: AuditRequest, response: AuditResponse): Promise<void>;
  /** One record for many requests. */
  summary(summary: AuditSummary): Promise<void>;
  /** As `sys/audit-hash` gives it; undefined for an unknown device. */
  hash(device: string, input: string): Promise<string | undefined>;
  devices(): readonly AuditDeviceInfo[];
  /** After a rotation of the files. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/** A device as it is listed. */
export interface AuditDeviceInfo {
  /** Ends in a slash, e.g. `file/`. */
  readonly path: string;
  readonly type: "file";
  readonly description: string;
  readonly options: Readonly<Record<string, string>>;
}
