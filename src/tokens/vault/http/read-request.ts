/**
 * One HTTP request below `/v1/` as a logical one, by Vault's rules: the method names the operation,
 * data come from the query or from a body whose type is found by looking at it, and paths have no
 * way up.
 */
import { isUtf8 } from "node:buffer";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import { skipWhiteSpace, withoutMark } from "../../../kernel/json/white-space.ts";
import type { PlainRequest } from "../../../kernel/service.ts";
import { parseExactInTurns, requestLimits } from "../../logical/json.ts";
import { parseGoBool } from "../../logical/go-values.ts";
import type { Data } from "../../logical/types.ts";
import { assertRootNamespace, firstOf, tokenIn, wrapTtlMs } from "../core/request-head.ts";
import { requestPath } from "../core/request-path.ts";
import type { Core } from "../core/types.ts";

/** The operation, before the existence check distinguishes create from update. */
type Verb = "read" | "write" | "patch" | "delete" | "list" | "help" | "header";

/** An HTTP request, understood. */
export interface VaultRequest {
  readonly verb: Verb;
  /** Below `/v1/`, decoded; lists end in a slash. */
  readonly path: string;
  readonly data: Data;
  /** `X-Vault-Token`, else the first Bearer. */
  readonly token: Secret | undefined;
  /** `X-Vault-Wrap-TTL`. */
  readonly wrapTtlMs: number | undefined;
  /** Its body was not read: `maxBodyBytes` was 0. */
  readonly unread?: true;
}

const VERBS: Readonly<Record<string, Verb>> = {
  GET: "read",
  HEAD: "header",
  POST: "write",
  PUT: "write",
  PATCH: "patch",
  DELETE: "delete",
  LIST: "list",
  SCAN: "list",
};
const BROKEN_BODY = "failed to decode JSON input: ";
const MERGE_PATCH = "application/merge-patch+json";
const AMPERSAND = 0x26;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * Throws `invalid`, `unsupported`, `too_large`, or `not_found` for a namespace. `maxBodyBytes`
 * decides by the head how much of a body is read; one that is longer is refused at once where its
 * length is declared, and at its first byte too many where it is not.
 */
export async function readVaultRequest(
  request: PlainRequest,
  maxBodyBytes: Core["maxBodyBytes"],
): Promise<VaultRequest> {
  const { headers, remote } = request;
  const verb = verbOf(request);
  assertRootNamespace(firstOf(headers, "x-vault-namespace"));
  const path = vaultPath(request.target, verb);
  const token = tokenIn(headers);
  const head = {
    verb,
    path,
    token,
    wrapTtlMs: wrapTtlMs(firstOf(headers, "x-vault-wrap-ttl"), "X-Vault-Wrap-TTL"),
  };
  if (verb !== "write" && verb !== "patch") return { ...head, data: queryData(request.query) };
  const limitBytes = maxBodyBytes({ path, token, remote });
  return limitBytes === 0
    ? { ...head, data: {}, unread: true }
    : { ...head, data: await bodyData(request, verb, limitBytes) };
}

function verbOf(request: PlainRequest): Verb {
  if (request.method === "OPTIONS")
    throw new StewardError("invalid", "cannot handle internal-only request operation");
  const verb = VERBS[request.method];
  if (verb === undefined)
    throw new StewardError("unsupported", `unsupported method ${request.method}`);
  if (verb !== "read") return verb;
  if (flag(request.query, "list") || flag(request.query, "scan")) return "list";
  return request.query.get("help") === "1" ? "help" : "read";
}

function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null || text === "") return false;
  try {
    return parseGoBool(text);
  } catch {
    throw new StewardError(
      "invalid",
      `${name} must be a boolean such as true or false, got ${JSON.stringify(text.slice(0, 40))}`,
      { field: name },
    );
  }
}

/** The raw target is decoded once; an encoded `..` is rejected too. */
function vaultPath(target: string, verb: Verb): string {
  const raw = target.split("?", 1)[0]?.replace(/^\/v1\//, "") ?? "";
  let path: string;
  try {
    path = decodeURIComponent(raw);
  } catch {
    throw new StewardError("invalid", "the path is not valid percent-encoding");
  }
  return requestPath(path, { list: verb === "list" });
}

/** Controls of the API itself are no data. */
const CONTROLS: ReadonlySet<string> = new Set(["list", "scan", "help"]);

function queryData(query: URLSearchParams): Data {
  const given = new Map<string, string[]>();
  for (const [name, value] of query) {
    const values = given.get(name);
    if (values !== undefined) values.push(value);
    else if (!CONTROLS.has(name)) given.set(name, [value]);
  }
  const data: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, values] of given) data[name] = values.length === 1 ? values[0] : values;
  return data;
}

/** More than any form of a person or a tool has; JSON has no such limit. */
const FORM_BYTES = 1024 * 1024;

function formData(bytes: Uint8Array): Data {
  if (bytes.length > FORM_BYTES)
    throw new StewardError(
      "too_large",
      `a form has at most ${FORM_BYTES} bytes; send JSON instead`,
      { rule: "form_bytes" },
    );
  let pairs = 1;
  for (let at = bytes.indexOf(AMPERSAND); at !== -1; at = bytes.indexOf(AMPERSAND, at + 1)) {
    pairs += 1;
    if (pairs > requestLimits.members)
      throw new StewardError(
        "too_large",
        `the form has more than ${requestLimits.members} values`,
        { rule: "values" },
      );
  }
  return queryData(new URLSearchParams(Buffer.from(bytes).toString("utf8")));
}

/**
 * A body is JSON regardless of its content type, unless that is a form type and the body does not
 * look like JSON.
 */
async function bodyData(request: PlainRequest, verb: Verb, limitBytes: number): Promise<Data> {
  const type = firstOf(request.headers, "content-type") ?? "";
  if (verb === "patch" && type.split(";", 1)[0]?.trim() !== MERGE_PATCH) {
    throw new StewardError(
      "invalid",
      `PATCH requires Content-Type of ${MERGE_PATCH}, provided ${type === "" ? "none" : type.slice(0, 100)}`,
      { rule: "media_type" },
    );
  }
  const bytes = withoutMark(await request.body(limitBytes));
  const start = await skipWhiteSpace(bytes);
  if (start === bytes.length) return {};
  if (!isUtf8(bytes))
    throw new StewardError("invalid", `${BROKEN_BODY}the body is not valid UTF-8`);
  if (
    bytes[start] !== OPEN_OBJECT &&
    bytes[start] !== OPEN_ARRAY &&
    /^application\/x-www-form-urlencoded\b/i.test(type)
  )
    return formData(bytes);
  const value = await parseBody(bytes);
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value))
    throw new StewardError("invalid", `${BROKEN_BODY}the body must be a JSON object`);
  return value as Data;
}

async function parseBody(bytes: Uint8Array): Promise<unknown> {
  try {
    return await parseExactInTurns(bytes, requestLimits);
  } catch (error) {
    // The parser's own message may quote the body, which may hold a key.
    const known =
      error instanceof StewardError
        ? error
        : new StewardError("invalid", "the body is not valid JSON");
    throw new StewardError(known.code, `${BROKEN_BODY}${known.message.replace(BROKEN_BODY, "")}`);
  }
}
