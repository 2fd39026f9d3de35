/**
 * What passes between the parts of the core: a request on its way, its answer, and what all of them
 * stand on. Only shapes.
 */
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

/** A request, before the existence check tells a create from an update. */
export interface CoreRequest {
  readonly verb: "read" | "write" | "patch" | "delete" | "list" | "help";
  /** With its mount, without a leading slash; lists end in a slash. */
  readonly path: string;
  readonly data: Data;
  readonly token: Secret | undefined;
  readonly remote: Remote | undefined;
  readonly wrapTtlMs: number | undefined;
  readonly signal: AbortSignal;
  /**
   * The body was not read, because `maxBodyBytes` was 0: the request is refused whatever else
   * changed since.
   */
  readonly unread?: true;
}

/** What is known of a request before its body is read. */
export type RequestHead = Pick<CoreRequest, "path" | "token" | "remote">;

/** What goes back, before anybody writes it. */
export interface CoreAnswer {
  readonly requestId: string;
  /** It was a read, list or help: no data then means that nothing is there. */
  readonly isRead: boolean;
  readonly response: LogicalResponse | undefined;
  readonly lease:
    | { readonly id: string; readonly renewable: boolean; readonly durationSeconds: number }
    | undefined;
  readonly auth: IssuedAuth | undefined;
  readonly wrap: WrapInfo | undefined;
  readonly warnings: readonly string[];
  /** Answers of `sys/` repeat their data at the top level. */
  readonly copyToTop: boolean;
}

/** The secrets manager's one entrance. */
export interface Core {
  /** Throws StewardError; every text in it may be seen. */
  handle(request: CoreRequest): Promise<CoreAnswer>;
  /**
   * Whether a token is live, from memory: takes no use, writes and records nothing, never throws.
   * False while sealed.
   */
  isLive(token: Secret): boolean;
  /**
   * Bytes of body that a request may bring, by its head; 0 for one that is refused whatever its
   * body says. Never throws.
   */
  maxBodyBytes(head: RequestHead): number;
}

/** What the core stands on. */
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

/** A request on its way. */
export interface RequestContext {
  readonly request: CoreRequest;
  readonly requestId: string;
  readonly operation: Operation;
  readonly mount: Mount;
  /** What is left of the path below the mount. */
  readonly rest: string;
  readonly standing: Standing;
  readonly audited: AuditRequest;
}

/** What the request's token is good for. */
export interface Standing {
  readonly tokenId: Secret | undefined;
  /** Undefined on paths that need no token, unless the house serves them. */
  readonly entry: TokenEntry | undefined;
  readonly decision: Decision;
  readonly wrapTtlMs: number | undefined;
  /**
   * The declared path; undefined when the mount has none of this name, which the backend then says.
   */
  readonly declared: Path | undefined;
}

/** `wrap_info` as clients read it. */
export interface WrapInfo extends Readonly<Record<string, unknown>> {
  readonly token: string;
  readonly accessor: string;
  /** Seconds. */
  readonly ttl: number;
  readonly creation_time: string;
  readonly creation_path: string;
  readonly wrapped_accessor?: string;
}

/** What is known of a wrapped answer without fetching it. */
export interface WrappedInfo {
  readonly creationPath: string;
  readonly createdAtMs: number;
  readonly ttlMs: number;
}

/** The wrapped answers. */
export interface Wrapping {
  /** Durable when it resolves. Throws `too_large`. */
  wrap(
    answer: CoreAnswer,
    about: { readonly path: string; readonly ttlMs: number },
  ): Promise<{ readonly token: Secret; readonly info: WrapInfo }>;
  /** The envelope, once: a second fetch finds nothing. Throws `invalid`. */
  unwrap(token: Secret): Promise<{ readonly envelope: string; readonly info: WrappedInfo }>;
  lookup(token: Secret): WrappedInfo;
  /**
   * The same answer under a new token for as long again; the old token finds nothing any more.
   * Throws `invalid`.
   */
  rewrap(token: Secret): Promise<WrapInfo>;
}
