/** Types shared by the request pipeline. */
import type { Clock } from "../../../kernel/base/clock.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Data, LogicalResponse, Operation, Path, Remote } from "../../logical/types.ts";
import type { Mount, Mounts } from "../mounts/mounts.ts";
import type {
  Audit,
  AuditRequest,
  Decision,
  IssuedAuth,
  Leases,
  Policies,
  TokenEntry,
  Tokens,
} from "../types.ts";
import type { Attempts } from "./attempts.ts";
import type { Refusals } from "./refusals.ts";

/** A request before the existence check distinguishes create from update. */
export interface CoreRequest {
  readonly verb: "read" | "write" | "patch" | "delete" | "list" | "help";
  /** Mount included, without a leading slash; lists end in a slash. */
  readonly path: string;
  readonly data: Data;
  readonly token: Secret | undefined;
  readonly remote: Remote | undefined;
  readonly wrapTtlMs: number | undefined;
  readonly signal: AbortSignal;
  /**
   * The body was not read because `maxBodyBytes` was 0; the request is rejected regardless of later
   * changes.
   */
  readonly unread?: true;
}

/** What is known before the body is read. */
export type RequestHead = Pick<CoreRequest, "path" | "token" | "remote">;

/** A response before serialization. */
export interface CoreAnswer {
  readonly requestId: string;
  /** A read, list or help: empty data then means 404. */
  readonly isRead: boolean;
  readonly response: LogicalResponse | undefined;
  readonly lease:
    | { readonly id: string; readonly renewable: boolean; readonly durationSeconds: number }
    | undefined;
  readonly auth: IssuedAuth | undefined;
  readonly wrap: WrapInfo | undefined;
  readonly warnings: readonly string[];
  /** Responses of `sys/` repeat their data at the top level. */
  readonly copyToTop: boolean;
}

/** Entry point of the secrets manager. */
export interface Core {
  /** Throws StewardError; its texts are safe to show. */
  handle(request: CoreRequest): Promise<CoreAnswer>;
  /**
   * Whether a token is live, from memory: consumes no use, writes nothing, never throws. False
   * while sealed.
   */
  isLive(token: Secret): boolean;
  /** Largest body for a request head; 0 if it will be rejected anyway. Never throws. */
  maxBodyBytes(head: RequestHead): number;
}

export interface CoreDeps {
  readonly mounts: Mounts;
  readonly tokens: Tokens;
  readonly policies: Policies;
  readonly leases: Leases;
  readonly audit: Audit;
  readonly wrapping: Wrapping;
  readonly attempts: Attempts;
  readonly refusals: Refusals;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** An authorized request in progress. */
export interface RequestContext {
  readonly request: CoreRequest;
  readonly requestId: string;
  readonly operation: Operation;
  readonly mount: Mount;
  /** The path below the mount. */
  readonly rest: string;
  readonly authorization: Authorization;
  readonly audited: AuditRequest;
}

/** What the request's token permits. */
export interface Authorization {
  readonly tokenId: Secret | undefined;
  /** Undefined on unauthenticated paths of plugin backends. */
  readonly entry: TokenEntry | undefined;
  readonly decision: Decision;
  readonly wrapTtlMs: number | undefined;
  /** Undefined when the mount declares no such path; its backend reports that. */
  readonly declared: Path | undefined;
}

/** `wrap_info` in the response. */
export interface WrapInfo extends Readonly<Record<string, unknown>> {
  readonly token: string;
  readonly accessor: string;
  /** Seconds. */
  readonly ttl: number;
  readonly creation_time: string;
  readonly creation_path: string;
  readonly wrapped_accessor?: string;
}

/** What is known of a wrapped response without unwrapping it. */
export interface WrappedInfo {
  readonly creationPath: string;
  readonly createdAtMs: number;
  readonly ttlMs: number;
}

/** Response wrapping. */
export interface Wrapping {
  /** Durable when it resolves. Throws `too_large`. */
  wrap(
    answer: CoreAnswer,
    about: { readonly path: string; readonly ttlMs: number },
  ): Promise<{ readonly token: Secret; readonly info: WrapInfo }>;
  /** Returns the envelope once. Throws `invalid`. */
  unwrap(token: Secret): Promise<{ readonly envelope: string; readonly info: WrappedInfo }>;
  lookup(token: Secret): WrappedInfo;
  /**
   * Moves the response to a new token with the same TTL; the old token becomes invalid. Throws
   * `invalid`.
   */
  rewrap(token: Secret): Promise<WrapInfo>;
}
