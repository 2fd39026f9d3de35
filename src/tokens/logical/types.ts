/**
 * The shape of a backend behind a secrets manager's HTTP API: a request goes in, a response or
 * nothing comes out. Nothing here knows its host, so the same backend runs inside Steward and as a
 * plugin of a real Vault or OpenBao.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Secret } from "../../kernel/base/secret.ts";

/**
 * What is asked. `create` and `update` are the same request; the existence check tells them apart
 * before the policy is asked.
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
 * JSON values by name, in the order of their arrival. A number that a double would round is a raw
 * number (`json.ts`).
 */
export type Data = Readonly<Record<string, unknown>>;

/** Who asks, as far as a backend may know. Never a credential. */
interface Requester {
  readonly displayName: string;
  readonly accessor: string;
  readonly entityId: string;
  readonly policies: readonly string[];
}

/** The other end of the connection. */
export interface Remote {
  readonly address: string;
  readonly port: number;
}

/**
 * Tells the host when a request begins to have an effect outside that only its answer could undo.
 * The host keeps a record of every request to a minting path before the backend sees it: without
 * `begin` a failure leaves nothing behind, with it the record stays as an orphan until the latest
 * moment at which what may have been made is still good.
 */
interface Effect {
  /** Right before the call that may make something; `about` (no secrets) completes the record. */
  begin(about: Data): void;
  /** The other side said that it made nothing. */
  none(): void;
}

/** A request as a backend sees it. */
export interface LogicalRequest {
  /** A UUID. */
  readonly id: string;
  readonly operation: Operation;
  /** Without the mount; lists end in a slash. */
  readonly path: string;
  readonly data: Data;
  /** Ends in a slash, e.g. `github/`. */
  readonly mountPoint: string;
  readonly signal: AbortSignal;
  readonly requester?: Requester;
  readonly remote?: Remote;
  /** Of a request to a path that mints. */
  readonly effect?: Effect;
  /** What is to be revoked or renewed. `data` then is the data that the lease was given with. */
  readonly secret?: { readonly internalData: Data; readonly leaseId: string };
}

/** A lease to be. */
export interface SecretGrant {
  /** From now, more than 0. */
  readonly ttlMs: number;
  readonly renewable: boolean;
  /**
   * Kept with the lease for whoever revokes it; holds `secret_type`, which finds its type again.
   */
  readonly internalData: Data;
}

/** An answer that is written as it is, e.g. text exposition. */
interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/**
 * A token that the request made or renewed. Only backends that live with their host answer with
 * one, and the host knows more of it.
 */
export interface AuthGrant {
  /** Undefined when whoever asked must not learn it: a renewal by accessor. */
  readonly id: Secret | undefined;
  /** What is left of it, whole seconds; 0 for ever. */
  readonly ttlMs: number;
  /**
   * The request made it: it must end when its answer cannot be given. False for a renewal, which
   * leaves a token that was there before.
   */
  readonly made: boolean;
}

/**
 * What a backend answers. No answer at all means "nothing there" to a read or list, and "done" to
 * anything else.
 */
export interface LogicalResponse {
  readonly data?: Data;
  readonly secret?: SecretGrant;
  readonly auth?: AuthGrant;
  readonly warnings?: readonly string[];
  readonly raw?: RawAnswer;
  /**
   * Instead of 200, e.g. 202 for what goes on after the answer. Hosts that know no status ignore
   * it.
   */
  readonly status?: number;
}

/**
 * Answers one operation. Throws StewardError: `invalid` is a logical error (400) whose message is
 * the text that clients see.
 */
export type PathHandler = (request: PathRequest) => Promise<LogicalResponse | undefined>;

/** A request whose path and fields were understood. */
export interface PathRequest extends LogicalRequest {
  /**
   * The declared fields that were given, coerced, by their declared names; those taken from the
   * path too.
   */
  readonly fields: Fields;
}

/**
 * Coerced fields. An absent field gives undefined, so that "not given" and "given empty" stay
 * apart.
 */
export interface Fields {
  has(name: string): boolean;
  /** Throws an assertion when the declaration says another kind. */
  text(name: string): string | undefined;
  /** A safe integer; larger ones are refused while coercing. */
  integer(name: string): number | undefined;
  boolean(name: string): boolean | undefined;
  /** Milliseconds; fields whose rule is `duration`. */
  durationMs(name: string): number | undefined;
  texts(name: string): readonly string[] | undefined;
  integers(name: string): readonly number[] | undefined;
  pairs(name: string): ReadonlyMap<string, string> | undefined;
  /** As it came: fields whose rule is `any`. */
  raw(name: string): unknown;
}

/**
 * How a field is coerced beyond its proto type: `comma_list` texts or numbers from lists, JSON text
 * or comma text; `pairs` of `key=value`; `duration` from seconds or text like `1h30m`; `any` stays
 * as it came.
 */
export type CoerceRule = "plain" | "comma_list" | "pairs" | "duration" | "any";

/**
 * What somebody without a token must know to be served at a path, e.g. a secret id. Failures are
 * counted by its subject.
 */
export interface PathProof {
  /** What is tried, e.g. the role id; undefined when the request names none. */
  subject(request: PathRequest): string | undefined;
  /**
   * Throws what the operation would throw for a wrong proof. Has no effect and takes no use of
   * anything.
   */
  verify(request: PathRequest): Promise<unknown>;
}

/** The proof in one request. */
export interface RequestProof {
  readonly subject: string | undefined;
  readonly verify: () => Promise<unknown>;
}

/**
 * One declared path of a backend. Parsing, help, unknown-field errors and OpenAPI follow from it.
 */
export interface Path {
  /**
   * Segments by `/`. `:name` takes one segment, `:name*` all remaining ones, e.g.
   * `token/:permissionset`.
   */
  readonly pattern: string;
  /** Further spellings, e.g. `permissionset/`. */
  readonly also?: readonly string[];
  /** A proto message: its fields are the path's fields, its comments their help. */
  readonly fields: DescMessage;
  readonly coerce?: Readonly<Record<string, CoerceRule>>;
  /**
   * Undeclared fields. `refuse` is 400 naming them, `warn` ignores them and says so, `keep` is for
   * free-form data.
   */
  readonly unknown: "refuse" | "warn" | "keep";
  readonly operations: Partial<
    Record<"create" | "read" | "update" | "patch" | "delete" | "list", PathHandler>
  >;
  /**
   * Whether the thing is there; undefined when the path has no such notion, and then a POST is an
   * `update`. Absent: likewise.
   */
  readonly exists?: (request: PathRequest) => Promise<boolean | undefined>;
  /** Served without a token. */
  readonly unauthenticated?: true;
  /** What such a request must know instead; absent where it needs to know nothing. */
  readonly proof?: PathProof;
  /** Needs the `sudo` capability. */
  readonly sudo?: true;
  /** Makes something outside that must be recorded first. */
  readonly mints?: true;
  /** One line, then as much as is needed. */
  readonly synopsis: string;
  readonly description: string;
}

/** Ends what a lease stands for. */
export interface SecretType {
  readonly name: string;
  /**
   * Resolves when it is over, also when it was over before. Throws StewardError when it may still
   * be good.
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
   * Answers any operation by the path table: `not_found` with rule `unsupported_path` for a path it
   * has not, `unsupported` for an operation.
   */
  handle(request: LogicalRequest): Promise<LogicalResponse | undefined>;
  /**
   * For a POST, before the policy is asked: false makes it a `create`, true or undefined an
   * `update`.
   */
  exists(request: LogicalRequest): Promise<boolean | undefined>;
  /**
   * The proof that a request brings; undefined where the path or the operation takes none. Never
   * throws.
   */
  proof(request: LogicalRequest): RequestProof | undefined;
  /** The declared path that a request would reach. */
  find(path: string): Path | undefined;
  /** A stored key changed without the backend's doing. */
  invalidate(key: string): void;
  close(): Promise<void>;
}

/** The backend's own keys, below its mount; encrypted by the host. */
export interface StorageView {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, value: Uint8Array): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Names directly below a prefix (empty or ending in `/`), sorted bytewise; deeper levels end in
   * `/`.
   */
  list(prefix: string): Promise<readonly string[]>;
}

/** What a host lends a backend: the one thing that differs inside a foreign host. */
export interface Host {
  readonly storage: StorageView;
  /** Lease times of the mount, milliseconds. */
  readonly limits: () => { readonly defaultLeaseTtlMs: number; readonly maxLeaseTtlMs: number };
  readonly clock: Clock;
  readonly log: Log;
  /**
   * What policies and the like get wrong about this mount, a sentence each; not given by hosts that
   * cannot tell.
   */
  readonly warnings?: () => Promise<readonly string[]>;
}

/** Makes a backend for one mount. */
export type BackendFactory = (host: Host) => Promise<Backend>;
