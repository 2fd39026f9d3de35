/**
 * Interface of a backend behind Vault's HTTP API. It is independent of its host, so the same
 * backend runs inside Steward and as a plugin of Vault or OpenBao.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Secret } from "../../kernel/base/secret.ts";

/**
 * `create` and `update` are the same request; the existence check distinguishes them before the
 * policy decision.
 */
export type Operation =
  | "create"
  | "read"
  | "update"
  | "patch"
  | "delete"
  | "list"
  | "help"
  | "revoke"
  | "renew"
  | "rollback";

/**
 * JSON values by name, in order of arrival. A number that a double would round is a raw number
 * (`json.ts`).
 */
export type Data = Readonly<Record<string, unknown>>;

/** The requesting token as a backend may see it; never its id. */
interface Requester {
  readonly displayName: string;
  readonly accessor: string;
  readonly entityId: string;
  readonly policies: readonly string[];
  /** Equal for tokens of one requester: the same login, role, name, policies, networks. */
  readonly principal?: string;
}

/** Peer of the connection. */
export interface Remote {
  readonly address: string;
  readonly port: number;
}

/**
 * Announces a side effect that only its response could undo. The host records every request to a
 * minting path before the backend runs: without `begin` a failure leaves no record, with it the
 * record stays as an orphan until the latest possible expiry of what may have been created.
 */
interface Effect {
  /**
   * Call right before the request that may create something; `about` (no secrets) completes the
   * record.
   */
  begin(about: Data): void;
  /** The other side confirmed that nothing was created. */
  none(): void;
}

export interface LogicalRequest {
  /** A UUID. */
  readonly id: string;
  readonly operation: Operation;
  /** Below the mount; lists end in a slash. */
  readonly path: string;
  readonly data: Data;
  /** Ends in a slash, e.g. `github/`. */
  readonly mountPoint: string;
  readonly signal: AbortSignal;
  readonly requester?: Requester;
  readonly remote?: Remote;
  /** The response is wrapped: nobody but the one who unwraps it may know what is in it. */
  readonly wrapped?: true;
  /** Present for minting paths. */
  readonly effect?: Effect;
  /** The secret to revoke or renew; `data` is the leased data. */
  readonly secret?: { readonly internalData: Data; readonly leaseId: string };
}

/** A lease to create. */
export interface SecretGrant {
  /** From now; more than 0. */
  readonly ttlMs: number;
  readonly renewable: boolean;
  /** Stored with the lease for revocation; `secret_type` selects the type. */
  readonly internalData: Data;
  /** Present when other leases may hold the secret: only the last of them is revoked. */
  readonly share?: {
    /** The same for all of them. */
    readonly id: string;
    /** It was made for an earlier request. */
    readonly reused: boolean;
  };
}

/** A verbatim response, e.g. the metrics text. */
interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** Called when the answer was handed to the system; over gRPC, when it is about to be. */
  readonly sent?: () => void;
}

/** A token that the request created or renewed. Only built-in backends return one. */
export interface AuthGrant {
  /** Undefined when the caller must not learn it: renewal by accessor. */
  readonly id: Secret | undefined;
  /** Remaining lifetime in whole seconds; 0 for no expiry. */
  readonly ttlMs: number;
  /**
   * True for a new token, which must be revoked if the response cannot be delivered; false for a
   * renewal.
   */
  readonly made: boolean;
}

/** Undefined as a response means "no data" for a read or list, and success otherwise. */
export interface LogicalResponse {
  readonly data?: Data;
  readonly secret?: SecretGrant;
  readonly auth?: AuthGrant;
  readonly warnings?: readonly string[];
  readonly raw?: RawAnswer;
  /** Status instead of 200, e.g. 202 for background work. Plugin hosts ignore it. */
  readonly status?: number;
}

/**
 * Handles one operation. Throws StewardError: `invalid` is a logical error (400) whose message
 * clients see.
 */
export type PathHandler = (request: PathRequest) => Promise<LogicalResponse | undefined>;

/** A request with decoded path and fields. */
export interface PathRequest extends LogicalRequest {
  /** Declared fields that were given, coerced, by declared names; path variables included. */
  readonly fields: Fields;
  /**
   * Of a list. A handler may leave the names outside it out; else they are once it has answered.
   */
  readonly page?: ListPage;
}

/** The part of a list's sorted names that is asked for. */
export interface ListPage {
  /** Exclusive start, which need not exist; empty for the beginning. */
  readonly after: string;
  /** Maximum number; 0 or less for all. */
  readonly limit: number;
}

/** Coerced fields. An absent field is undefined, which differs from empty. */
export interface Fields {
  has(name: string): boolean;
  /** Throws an assertion when the declared kind differs. */
  text(name: string): string | undefined;
  /** A safe integer; larger ones are rejected by coercion. */
  integer(name: string): number | undefined;
  boolean(name: string): boolean | undefined;
  /** Milliseconds; for fields with rule `duration`. */
  durationMs(name: string): number | undefined;
  texts(name: string): readonly string[] | undefined;
  integers(name: string): readonly number[] | undefined;
  pairs(name: string): ReadonlyMap<string, string> | undefined;
  /** Uncoerced; for fields with rule `any`. */
  raw(name: string): unknown;
}

/**
 * Coercion beyond the proto type: `comma_list` accepts lists, JSON text or comma-separated text;
 * `pairs` accepts `key=value`; `duration` accepts seconds or text like `1h30m`; `any` is not
 * coerced.
 */
export type CoerceRule = "plain" | "comma_list" | "pairs" | "duration" | "any";

/**
 * What an unauthenticated caller must prove to use a path, e.g. a secret id. Failures are counted
 * per subject.
 */
export interface PathProof {
  /** What is being guessed, e.g. the role id; undefined when absent. */
  subject(request: PathRequest): string | undefined;
  /** Throws the operation's error for a wrong proof. No side effects and consumes no use. */
  verify(request: PathRequest): Promise<unknown>;
}

export interface RequestProof {
  readonly subject: string | undefined;
  readonly verify: () => Promise<unknown>;
}

/** A declared path. Parsing, help, unknown-field errors and OpenAPI are derived from it. */
export interface Path {
  /**
   * Segments by `/`. `:name` takes one segment, `:name*` all remaining ones, e.g.
   * `token/:permissionset`.
   */
  readonly pattern: string;
  /** Aliases, e.g. `permissionset/`. */
  readonly also?: readonly string[];
  /** A proto message: its fields are the path's fields, their comments the help. */
  readonly fields: DescMessage;
  readonly coerce?: Readonly<Record<string, CoerceRule>>;
  /**
   * Undeclared fields: `refuse` rejects with 400, `warn` ignores with a warning, `keep` allows
   * free-form data.
   */
  readonly unknown: "refuse" | "warn" | "keep";
  readonly operations: Partial<
    Record<"create" | "read" | "update" | "patch" | "delete" | "list", PathHandler>
  >;
  /**
   * Whether the resource exists; undefined when the path has no such notion, which makes a POST an
   * `update`.
   */
  readonly exists?: (request: PathRequest) => Promise<boolean | undefined>;
  /** Served without a token. */
  readonly unauthenticated?: true;
  /** Required proof of unauthenticated requests; absent if none. */
  readonly proof?: PathProof;
  /**
   * Without a token, only whoever proves a whole credential gets a response, e.g. by a login. On
   * other open paths wrapping a response takes a token.
   */
  readonly provesCredential?: true;
  /** Requires the `sudo` capability. */
  readonly sudo?: true;
  /** Creates something external that must be recorded first. */
  readonly mints?: true;
  /** First line is the summary. */
  readonly synopsis: string;
  readonly description: string;
}

/** Revokes what a lease stands for. */
export interface SecretType {
  readonly name: string;
  /**
   * Resolves when it has ended, also if it had before. Throws StewardError when it may still be
   * valid.
   */
  revoke(request: LogicalRequest): Promise<void>;
}

/** A backend behind one mount. */
export interface Backend {
  /** E.g. `github`. */
  readonly type: string;
  readonly paths: readonly Path[];
  /** By `internalData.secret_type`. */
  readonly secrets: Readonly<Record<string, SecretType>>;
  readonly help: string;
  /**
   * Throws `not_found` with rule `unsupported_path` for an unknown path, `unsupported` for an
   * unsupported operation.
   */
  handle(request: LogicalRequest): Promise<LogicalResponse | undefined>;
  /**
   * Called for a POST before the policy decision: false makes it a `create`, true or undefined an
   * `update`.
   */
  exists(request: LogicalRequest): Promise<boolean | undefined>;
  /** The proof in a request; undefined where none is required. Never throws. */
  proof(request: LogicalRequest): RequestProof | undefined;
  /** The declared path that a request matches. */
  find(path: string): Path | undefined;
  /** A stored key was changed by the host. */
  invalidate(key: string): void;
  /** Secrets kept for further requests; undefined where none are kept. */
  readonly cached?: () => number | undefined;
  close(): Promise<void>;
}

/** The backend's keys below its mount, encrypted by the host. */
export interface StorageView {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, value: Uint8Array): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Names directly below a prefix (empty or ending in `/`), sorted bytewise; deeper levels end in
   * `/`. With a page at most its number of names behind `after`. A long list yields to the event
   * loop: what changes meanwhile may be left out.
   */
  list(prefix: string, page?: StoragePage): Promise<readonly string[]>;
}

interface StoragePage {
  /** A name of the page before; empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** Calls that an installation of the platform may still make. */
export interface Quota {
  readonly installationId: string;
  /** Of the hour. */
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since 1970. */
  readonly resetAtMs: number;
}

/** Services of the host that differ between Steward and a plugin host. */
export interface Host {
  readonly storage: StorageView;
  /** Lease TTLs of the mount, milliseconds. */
  readonly limits: () => { readonly defaultLeaseTtlMs: number; readonly maxLeaseTtlMs: number };
  readonly clock: Clock;
  readonly log: Log;
  /** Policy mistakes about this mount, one sentence each; absent on hosts that cannot tell. */
  readonly warnings?: () => Promise<readonly string[]>;
  /** Hears what an installation has left; absent on hosts that show it nowhere. */
  readonly quota?: (quota: Quota) => void;
  /** Absent on hosts whose leases cannot share a secret. */
  readonly sharing?: Sharing;
}

/** Secrets that several leases hold, each with a share id that is unique for ever. */
export interface Sharing {
  /** From here on the secret may get further leases. `path` includes the mount. */
  open(share: string, path: string): void;
  /** False once it ends or its path is revoked: then it must not be handed out. */
  isOpen(share: string): boolean;
  /** A request was answered with such a secret, or needed one of its own. */
  seen(outcome: "hit" | "miss"): void;
}

/** Creates a backend for one mount. */
export type BackendFactory = (host: Host) => Promise<Backend>;
