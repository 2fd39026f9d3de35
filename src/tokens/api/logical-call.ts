/**
 * Runs a gRPC or Connect call through the same core as HTTP requests, with the same error texts.
 */
import { withoutEnds } from "../../kernel/base/text/ends.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { bodyTooLarge, type Call } from "../../kernel/service.ts";
import { parseExactInTurns, requestLimits } from "../logical/json.ts";
import type { Data } from "../logical/types.ts";
import { tokenIn, wrapTtlMs } from "../vault/core/request-head.ts";
import { requestPath } from "../vault/core/request-path.ts";
import type { Core, CoreAnswer, CoreRequest } from "../vault/core/types.ts";

export interface LogicalCall {
  readonly verb: CoreRequest["verb"];
  readonly path: string;
  /** Bytes are JSON text, parsed only if the call's token and path permit that much. */
  readonly data: Data | Uint8Array;
  readonly wrapTtl?: string;
}

/** Runs the call; its token is the metadata `x-vault-token`, or the first Bearer token. */
export async function callLogical(
  core: Core,
  call: Call,
  { verb, path: written, data, wrapTtl }: LogicalCall,
): Promise<CoreAnswer> {
  const { remote, signal } = call;
  const token = tokenIn(call.headers);
  const path = requestPath(written.replace(/^\/+/, ""), { list: verb === "list" });
  const head = { verb, path, token, remote, signal, wrapTtlMs: wrapTtlMs(wrapTtl, "wrap_ttl") };
  if (!(data instanceof Uint8Array)) return await core.handle({ ...head, data });
  const limitBytes = core.maxBodyBytes(head);
  if (limitBytes === 0) return await core.handle({ ...head, data: {}, unread: true });
  if (data.length > limitBytes) throw bodyTooLarge(limitBytes);
  return await core.handle({ ...head, data: await dataOf(data) });
}

async function dataOf(bytes: Uint8Array): Promise<Data> {
  if (bytes.length === 0) return {};
  const value = await parseExactInTurns(bytes, requestLimits);
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value))
    throw new StewardError("invalid", "data must be a JSON object as text", { field: "data" });
  return value as Data;
}

/** A mount path with one trailing slash. Throws `invalid` for an empty one. */
export function mountPath(mount: string): string {
  const plain = withoutEnds(mount, "/");
  if (plain === "")
    throw new StewardError("invalid", "mount must name where the engine is mounted, e.g. github", {
      field: "mount",
    });
  return `${plain}/`;
}
