/** The records of the audit: one line of JSON each, in the shape and order that readers of Vault's audit files know (facts §2.7). */
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Data } from "../../logical/types.ts";
import type { AuditMount, AuditRequest, AuditResponse, TokenEntry, WrittenRequest } from "../types.ts";
import { hashedJson, type Hash } from "./hash.ts";

/** Tokens whose hashes are kept. */
const KEPT_TOKENS = 1_024;

/** How a device writes. */
export interface RecordOptions {
  /** Accessors are hashed, too. */
  readonly hmacAccessor: boolean;
  /** Lists of answers are written as their length. */
  readonly elideListResponses: boolean;
  /** Before each line. */
  readonly prefix: string;
}

/** Writes lines for one device, each with its newline. */
export interface Recorder {
  request(nowMs: number, request: AuditRequest, error: string | undefined): string;
  response(nowMs: number, request: AuditRequest, response: AuditResponse): string;
  /** The line that shows that a device can be written. */
  test(nowMs: number, id: string): string;
}

interface Hashed {
  readonly token: string | undefined;
  readonly accessor: string;
}

/** A recorder over the hash of its device. */
export function createRecorder(hash: Hash, options: RecordOptions): Recorder {
  const kept = new Map<string, Hashed>();
  /** What all records of a token have in common. */
  const ofEntries = new WeakMap<TokenEntry, { readonly identity: string; readonly remainder: string }>();
  const accessorOf = (accessor: string): string => (options.hmacAccessor && accessor !== "" ? hash(accessor) : accessor);

  // A token comes again with every request of its owner; its entry's key names it without being it.
  function hashedToken(id: Secret | undefined, entry: TokenEntry | undefined): Hashed {
    if (id === undefined || entry === undefined || entry.key === "") return { token: id?.use(hash), accessor: accessorOf(entry?.accessor ?? "") };
    const known = kept.get(entry.key);
    if (known !== undefined) return known;
    const fresh = { token: id.use(hash), accessor: accessorOf(entry.accessor) };
    if (kept.size >= KEPT_TOKENS) kept.clear();
    kept.set(entry.key, fresh);
    return fresh;
  }

  function auth(request: AuditRequest): string {
    const { entry, id } = request.token ?? {};
    const results = object({ allowed: String(request.allowed), granting_policies: listOrNone(request.granting.map((name) => ({ name, namespace_id: "root", type: "acl" }))) });
    if (entry === undefined) return object({ client_token: textOrNone(id?.use(hash)), policy_results: results, token_type: text("default") });
    const known = ofEntry(id, entry);
    return `{${known.identity},"policy_results":${results},${known.remainder}}`;
  }

  function ofEntry(id: Secret | undefined, entry: TokenEntry): { readonly identity: string; readonly remainder: string } {
    const known = ofEntries.get(entry);
    if (known !== undefined) return known;
    const fresh = { identity: object(identity(hashedToken(id, entry), entry)).slice(1, -1), remainder: object(remainder(entry)).slice(1, -1) };
    if (entry.key !== "") ofEntries.set(entry, fresh); // else it stands for any id
    return fresh;
  }

  // Kept with the request: entries of a WeakMap outlive the young ones' collections, and there are two thousand requests a second.
  function common(request: AuditRequest): WrittenRequest["members"] {
    const known = request.written?.find((written) => written.by === kept && written.of === request);
    if (known !== undefined) return known.members;
    const members = { auth: auth(request), request: asked(request) };
    (request.written ??= []).push({ of: request, by: kept, members });
    return members;
  }

  function asked(request: AuditRequest): string {
    const hashed = request.token === undefined ? undefined : hashedToken(request.token.id, request.token.entry);
    return object({
      id: text(request.id), operation: text(request.operation), ...mountMembers(request.mount), client_token: textOrNone(hashed?.token),
      client_token_accessor: textOrNone(hashed?.accessor), namespace: "{\"id\":\"root\"}", path: text(request.path),
      data: request.data === undefined ? undefined : hashedJson(request.data, hash), remote_address: textOrNone(request.remote?.address),
      remote_port: request.remote === undefined ? undefined : String(request.remote.port), wrap_ttl: request.wrapTtlMs === undefined ? undefined : seconds(request.wrapTtlMs),
    });
  }

  function answered(nowMs: number, request: AuditRequest, { auth, data, error, leaseId, warnings, wrap }: AuditResponse): string {
    const shown = error === undefined ? data : { ...data, error };
    return object({
      ...mountMembers(request.mount),
      auth: auth && object({ ...identity(hashedToken(auth.id, auth.entry), auth.entry), ...remainder(auth.entry) }),
      data: shown && hashedJson(options.elideListResponses && request.operation === "list" ? elided(shown) : shown, hash),
      secret: leaseId === undefined ? undefined : object({ lease_id: text(leaseId) }),
      warnings: listOrNone(warnings ?? []),
      wrap_info: wrap && object({
        ttl: seconds(wrap.ttlMs), token: text(wrap.token.use(hash)), accessor: text(accessorOf(wrap.accessor)), creation_time: text(rfc3339(nowMs)), creation_path: text(wrap.creationPath),
      }),
    });
  }

  const line = (nowMs: number, type: string, members: Members): string => `${options.prefix}${object({ time: text(rfc3339(nowMs)), type: text(type), ...members })}\n`;
  return {
    request: (nowMs, request, error) => line(nowMs, "request", { ...common(request), error: textOrNone(error) }),
    response: (nowMs, request, response) => line(nowMs, "response", { ...common(request), response: answered(nowMs, request, response) }),
    test: (nowMs, id) => line(nowMs, "request", {
      auth: "{\"token_type\":\"default\"}", request: object({ id: text(id), operation: text("update"), namespace: "{\"id\":\"root\"}", path: text("sys/audit/test") }),
    }),
  };
}

type Members = Readonly<Record<string, string | undefined>>;

function identity({ token, accessor }: Hashed, entry: TokenEntry): Members {
  const policies = JSON.stringify(entry.policies);
  return { client_token: textOrNone(token), accessor: textOrNone(accessor), display_name: text(entry.displayName), policies, token_policies: policies };
}

function remainder(entry: TokenEntry): Members {
  return {
    metadata: entry.meta === undefined ? undefined : JSON.stringify(entry.meta), remaining_uses: entry.numUses > 0 ? String(entry.numUses) : undefined, entity_id: textOrNone(entry.entityId),
    token_type: text(entry.type), token_ttl: entry.creationTtlMs > 0 ? seconds(entry.creationTtlMs) : undefined, token_issue_time: text(rfc3339(entry.createdAtMs)),
  };
}

function mountMembers(mount: AuditMount | undefined): Members {
  return mount === undefined ? {} : { mount_point: text(mount.point), mount_type: text(mount.type), mount_accessor: text(mount.accessor), mount_class: text(mount.class) };
}

function elided(data: Data): Data {
  const length = (value: unknown): unknown => (Array.isArray(value) ? value.length : typeof value === "object" && value !== null ? Object.keys(value).length : value);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, name === "keys" || name === "key_info" ? length(value) : value]));
}

function object(members: Members): string {
  let written = "";
  for (const name in members) {
    const value = members[name];
    if (value !== undefined && value !== "") written += `${written === "" ? "" : ","}"${name}":${value}`;
  }
  return `{${written}}`;
}

function text(value: string): string {
  return JSON.stringify(value);
}

function textOrNone(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : JSON.stringify(value);
}

function listOrNone(values: readonly unknown[]): string | undefined {
  return values.length === 0 ? undefined : JSON.stringify(values);
}

function seconds(ms: number): string {
  return String(Math.round(ms / 1000));
}

let lastTime = { ms: 0, text: "" };

/** Records come many to a millisecond. */
function rfc3339(ms: number): string {
  if (lastTime.ms !== ms) lastTime = { ms, text: new Date(ms).toISOString() };
  return lastTime.text;
}
