/**
 * The records of the audit: one line of JSON each, in the shape and order that readers of Vault's
 * audit files know.
 */
import { assert } from "../../../kernel/base/errors.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Data } from "../../logical/types.ts";
import type {
  AuditMount,
  AuditRequest,
  AuditResponse,
  AuditSummary,
  TokenEntry,
  WrittenRequest,
} from "../types.ts";
import { hashedData } from "./collapse.ts";
import { cutList, cutMap, cutText } from "./cut.ts";
import type { Hasher } from "./hash.ts";
import type { Size } from "./measure.ts";

/** Tokens whose hashes are cached. */
const KEPT_TOKENS = 1_024;

/** The longest line. */
const MAX_LINE_BYTES = 64 * 1024;

/** How much of a request is written value by value. */
interface Room {
  /** Of the data of the request, and of the data of its answer. */
  readonly data: Size;
  /** Bytes of each text and list beside the data: policies, metadata, warnings. */
  readonly besideBytes: number;
}

/** Nearly every record has the first; one whose line is too long is written anew with the next. */
const ROOMS: readonly [Room, ...Room[]] = [
  { data: { values: 256, bytes: 24 * 1024 }, besideBytes: Number.POSITIVE_INFINITY },
  { data: { values: 256, bytes: 18 * 1024 }, besideBytes: 1_024 },
  { data: { values: 0, bytes: 0 }, besideBytes: 512 },
];

/** How a device writes. */
export interface RecordOptions {
  /** Accessors are hashed, too. */
  readonly hmacAccessor: boolean;
  /** Lists of answers are written as their length. */
  readonly elideListResponses: boolean;
  /** Before each line. */
  readonly prefix: string;
}

/**
 * Writes lines for one device, each with its newline and of 64 KiB at most. A promise where there
 * is much to hash.
 */
export interface Recorder {
  request(
    nowMs: number,
    request: AuditRequest,
    error: string | undefined,
  ): string | Promise<string>;
  response(nowMs: number, request: AuditRequest, response: AuditResponse): string | Promise<string>;
  /** One line for many failed requests. */
  summary(nowMs: number, id: string, summary: AuditSummary): string;
  /** The line that shows that a device can be written. */
  test(nowMs: number, id: string): string;
}

interface Hashed {
  readonly token: string | undefined;
  readonly accessor: string;
}

/** A recorder over the hash of its device. */
export function createRecorder(hasher: Hasher, options: RecordOptions): Recorder {
  const { hash } = hasher;
  const kept = new Map<string, Hashed>();
  /** What all records of a token have in common. */
  const ofEntries = new WeakMap<TokenEntry, KnownEntry>();
  const accessorOf = (accessor: string): string =>
    options.hmacAccessor && accessor !== "" ? hash(accessor) : accessor;

  // A token comes again with every request of its owner; its entry's key names it without being it.
  function hashedToken(id: Secret | undefined, entry: TokenEntry | undefined): Hashed {
    if (id === undefined || entry === undefined || entry.key === "")
      return { token: id?.use(hash), accessor: accessorOf(entry?.accessor ?? "") };
    const known = kept.get(entry.key);
    if (known !== undefined) return known;
    const fresh = { token: id.use(hash), accessor: accessorOf(entry.accessor) };
    if (kept.size >= KEPT_TOKENS) kept.clear();
    kept.set(entry.key, fresh);
    return fresh;
  }

  function identity(
    { token, accessor }: Hashed,
    entry: TokenEntry,
    { besideBytes }: Room,
  ): Members {
    const policies = cutList(entry.policies, besideBytes, hash);
    return {
      client_token: textOrNone(token),
      accessor: textOrNone(accessor),
      display_name: text(cutText(entry.displayName, besideBytes, hash)),
      policies,
      token_policies: policies,
    };
  }

  function remainder(entry: TokenEntry, { besideBytes }: Room): Members {
    return {
      metadata: entry.meta === undefined ? undefined : cutMap(entry.meta, besideBytes, hash),
      remaining_uses: entry.numUses > 0 ? String(entry.numUses) : undefined,
      entity_id: textOrNone(entry.entityId),
      token_type: text(entry.type),
      token_ttl: entry.creationTtlMs > 0 ? seconds(entry.creationTtlMs) : undefined,
      token_issue_time: text(rfc3339(entry.createdAtMs)),
    };
  }

  function auth(request: AuditRequest, room: Room): string {
    const { entry, id } = request.token ?? {};
    const granting = listOrNone(
      request.granting
        .map((name) => ({
          name: cutText(name, room.besideBytes, hash),
          namespace_id: "root",
          type: "acl",
        }))
        .slice(0, room === ROOMS[0] ? undefined : 1),
    );
    const results = object({ allowed: String(request.allowed), granting_policies: granting });
    if (entry === undefined)
      return object({
        client_token: textOrNone(id?.use(hash)),
        policy_results: results,
        token_type: text("default"),
      });
    const known = ofEntry(id, entry, room);
    return `{${known.identity},"policy_results":${results},${known.remainder}}`;
  }

  function ofEntry(id: Secret | undefined, entry: TokenEntry, room: Room): KnownEntry {
    const known = room === ROOMS[0] ? ofEntries.get(entry) : undefined;
    if (known !== undefined) return known;
    const fresh = {
      identity: object(identity(hashedToken(id, entry), entry, room)).slice(1, -1),
      remainder: object(remainder(entry, room)).slice(1, -1),
    };
    if (room === ROOMS[0] && entry.key !== "") ofEntries.set(entry, fresh); // else it stands for any id
    return fresh;
  }

  // Kept with the request: entries of a WeakMap outlive the young ones' collections, and there are
  // two thousand requests a second.
  function common(request: AuditRequest, room: Room): Common | Promise<Common> {
    const known =
      room === ROOMS[0]
        ? request.written?.find((written) => written.by === kept && written.of === request)
        : undefined;
    if (known !== undefined) return known.members;
    const data =
      request.data === undefined ? undefined : hashedData(request.data, hasher, room.data);
    return then(data, (written) => {
      const members = { auth: auth(request, room), request: requestOf(request, written) };
      if (room === ROOMS[0]) (request.written ??= []).push({ of: request, by: kept, members });
      return members;
    });
  }

  function requestOf(request: AuditRequest, data: string | undefined): string {
    const hashed =
      request.token === undefined ? undefined : hashedToken(request.token.id, request.token.entry);
    return object({
      id: text(request.id),
      operation: text(request.operation),
      ...mountMembers(request.mount),
      client_token: textOrNone(hashed?.token),
      client_token_accessor: textOrNone(hashed?.accessor),
      namespace: '{"id":"root"}',
      path: text(request.path),
      data,
      remote_address: textOrNone(request.remote?.address),
      remote_port: request.remote === undefined ? undefined : String(request.remote.port),
      wrap_ttl: request.wrapTtlMs === undefined ? undefined : seconds(request.wrapTtlMs),
    });
  }

  function answered(
    nowMs: number,
    request: AuditRequest,
    response: AuditResponse,
    room: Room,
  ): string | Promise<string> {
    const { auth, data, error, leaseId, warnings, wrap } = response;
    const shown = error === undefined ? data : { ...data, error };
    const hashed =
      shown &&
      hashedData(
        options.elideListResponses && request.operation === "list" ? elided(shown) : shown,
        hasher,
        room.data,
      );
    return then(hashed, (written) =>
      object({
        ...mountMembers(request.mount),
        auth:
          auth &&
          object({
            ...identity(hashedToken(auth.id, auth.entry), auth.entry, room),
            ...remainder(auth.entry, room),
          }),
        data: written,
        secret: leaseId === undefined ? undefined : object({ lease_id: text(leaseId) }),
        warnings:
          (warnings ?? []).length === 0
            ? undefined
            : cutList(warnings ?? [], room.besideBytes, hash),
        wrap_info:
          wrap &&
          object({
            ttl: seconds(wrap.ttlMs),
            token: text(wrap.token.use(hash)),
            accessor: text(accessorOf(wrap.accessor)),
            creation_time: text(rfc3339(nowMs)),
            creation_path: text(wrap.creationPath),
          }),
      }),
    );
  }

  const line = (nowMs: number, type: string, members: Members): string =>
    `${options.prefix}${object({ time: text(rfc3339(nowMs)), type: text(type), ...members })}\n`;
  return {
    request: (nowMs, request, error) =>
      fitting((room) =>
        then(common(request, room), (members) =>
          line(nowMs, "request", { ...members, error: textOrNone(error) }),
        ),
      ),
    response: (nowMs, request, response) =>
      fitting((room) =>
        then(common(request, room), (members) =>
          then(answered(nowMs, request, response, room), (written) =>
            line(nowMs, "response", { ...members, response: written }),
          ),
        ),
      ),
    summary: (nowMs, id, { address, count, firstMs, lastMs }) =>
      line(nowMs, "request", {
        auth: '{"token_type":"default"}',
        request: object({
          id: text(id),
          operation: text("update"),
          namespace: '{"id":"root"}',
          path: text("sys/audit/refused"),
          data: object({
            count: String(count),
            first_time: text(rfc3339(firstMs)),
            last_time: text(rfc3339(lastMs)),
          }),
          remote_address: textOrNone(address),
        }),
        error: text(`${count} more requests without a live token failed`),
      }),
    test: (nowMs, id) =>
      line(nowMs, "request", {
        auth: '{"token_type":"default"}',
        request: object({
          id: text(id),
          operation: text("update"),
          namespace: '{"id":"root"}',
          path: text("sys/audit/test"),
        }),
      }),
  };
}

type Common = WrittenRequest["members"];

interface KnownEntry {
  readonly identity: string;
  readonly remainder: string;
}

/** The line within the first budget that makes it short enough. */
function fitting(write: (room: Room) => string | Promise<string>): string | Promise<string> {
  const first = write(ROOMS[0]);
  return typeof first === "string" && isShort(first) ? first : shortened(first, write);
}

async function shortened(
  first: string | Promise<string>,
  write: (room: Room) => string | Promise<string>,
): Promise<string> {
  let line = await first;
  for (const room of ROOMS.slice(1)) {
    if (isShort(line)) break;
    line = await write(room);
  }
  assert(isShort(line), "an audit record has at most 64 KiB");
  return line;
}

/** No character takes more than three bytes for each of its UTF-16 units. */
function isShort(line: string): boolean {
  return line.length * 3 <= MAX_LINE_BYTES || Buffer.byteLength(line) <= MAX_LINE_BYTES;
}

/** Goes on at once with what is there, later with what is not. */
function then<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

type Members = Readonly<Record<string, string | undefined>>;

function mountMembers(mount: AuditMount | undefined): Members {
  return mount === undefined
    ? {}
    : {
        mount_point: text(mount.point),
        mount_type: text(mount.type),
        mount_accessor: text(mount.accessor),
        mount_class: text(mount.class),
      };
}

function elided(data: Data): Data {
  const length = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.length
      : typeof value === "object" && value !== null
        ? Object.keys(value).length
        : value;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      name === "keys" || name === "key_info" ? length(value) : value,
    ]),
  );
}

function object(members: Members): string {
  let written = "";
  for (const name in members) {
    const value = members[name];
    if (value !== undefined && value !== "")
      written += `${written === "" ? "" : ","}"${name}":${value}`;
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
