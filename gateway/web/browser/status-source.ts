/**
 * Fetches the status: the whole document once, then only what changed since (RFC 3229 with JSON
 * Patch), which is a hundredth of it.
 */
import type { StatusJson } from "../../../src/gen/status-json.ts";
import { learnTime } from "./clock.ts";
import { applyPatch, type PatchOperation } from "./patch.ts";

const URL_PATH = "/api/status.json";
const IM_USED = 226;
const NOT_MODIFIED = 304;

/**
 * Creates the fetch of a poller. Rejects with a sentence for the reader; a rejected fetch changes
 * nothing.
 */
export function createStatusSource(): (signal: AbortSignal) => Promise<StatusJson> {
  let held: { readonly tag: string; readonly status: StatusJson } | undefined;
  return async (signal) => {
    const answer = await request(signal, held?.tag);
    learnTime(answer);
    if (answer.status === NOT_MODIFIED && held !== undefined) return held.status;
    if (answer.status === 401 || answer.status === 403)
      throw new Error(
        "The server no longer accepts this page's credentials: reload it to sign in.",
      );
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    // Until this answer is applied nothing is held: after one that cannot be, the whole document is
    // asked for.
    const before = held;
    held = undefined;
    const body = (await answer.json()) as unknown;
    const status =
      answer.status === IM_USED && before !== undefined
        ? applyPatch(before.status, body as PatchOperation[])
        : (body as StatusJson);
    const tag = answer.headers.get("etag");
    if (tag !== null) held = { tag, status };
    return status;
  };
}

async function request(signal: AbortSignal, tag: string | undefined): Promise<Response> {
  const headers: Record<string, string> =
    tag === undefined ? { "A-IM": "json-patch" } : { "A-IM": "json-patch", "If-None-Match": tag };
  return await fetch(URL_PATH, { signal, cache: "no-store", headers }).catch((thrown: unknown) => {
    throw new Error(
      signal.aborted ? "The server takes too long to answer." : "The server does not answer.",
      { cause: thrown },
    );
  });
}
