/**
 * Answers in Vault's words: the envelope of eight keys in their fixed order, `{errors: […]}`, 204 for nothing (facts §2.2).
 * Pure text; who writes it to a connection sets nothing but what stands here.
 */
import type { StewardError } from "../../../kernel/base/errors.ts";
import type { PlainAnswer } from "../../../kernel/service.ts";
import { writeExact } from "../../logical/json.ts";
import type { CoreAnswer } from "../core/core.ts";
import { authBody } from "./auth-body.ts";

/** Every JSON answer carries these, empty ones too. */
export const VAULT_HEADERS: Readonly<Record<string, string>> = { "cache-control": "no-store", "content-type": "application/json" };

/** A success, or the `404 {"errors":[]}` that means "nothing there". */
export function writeCoreAnswer(answer: CoreAnswer): PlainAnswer {
  const { response } = answer;
  if (response?.raw !== undefined) {
    const { status, contentType, body } = response.raw;
    return { status, headers: { "cache-control": "no-store", "content-type": contentType }, body };
  }
  if (isNothing(answer)) return answer.asked ? errors(404, []) : { status: 204, headers: VAULT_HEADERS, body: "" };
  return { status: response?.status ?? 200, headers: VAULT_HEADERS, body: envelope(answer) };
}

/** The text of a whole answer, as it is also kept when it is wrapped. Ends in a newline. */
export function envelope(answer: CoreAnswer): string {
  const { response, lease, auth, wrap, warnings } = answer;
  const data = wrap === undefined && response?.data !== undefined ? writeExact(response.data) : "null";
  const members = [
    `"request_id":${JSON.stringify(wrap === undefined ? answer.requestId : "")}`,
    `"lease_id":${JSON.stringify(lease?.id ?? "")}`,
    `"renewable":${String(lease?.renewable ?? false)}`,
    `"lease_duration":${String(lease?.durationSeconds ?? 0)}`,
    `"data":${data}`,
    `"wrap_info":${wrap === undefined ? "null" : writeExact(wrap)}`,
    `"warnings":${warnings.length === 0 ? "null" : JSON.stringify(warnings)}`,
    `"auth":${auth === undefined || wrap !== undefined ? "null" : writeExact(authBody(auth))}`,
  ].join(",");
  // Older clients read the answers of sys/ at the top level.
  const copied = answer.copyToTop && data !== "null" && data !== "{}" ? `${data.slice(1, -1)},` : "";
  return `{${copied}${members}}\n`;
}

function isNothing({ response, auth, wrap, warnings }: CoreAnswer): boolean {
  return response?.data === undefined && response?.status === undefined && auth === undefined && wrap === undefined && warnings.length === 0;
}

/** A failure by RESOLUTIONS §4; the error must be one that may be seen. */
export function writeCoreFailure(error: StewardError): PlainAnswer {
  const status = failureStatus(error);
  const answer = errors(status, texts(error));
  if (error.retryAfterMs === undefined && status !== 429) return answer;
  return { ...answer, headers: { ...answer.headers, "retry-after": String(Math.max(1, Math.ceil((error.retryAfterMs ?? 1000) / 1000))) } };
}

const STATUS: Readonly<Record<StewardError["code"], number>> = {
  invalid: 400, unauthenticated: 403, denied: 403, not_found: 404, unsupported: 405, conflict: 400, already_running: 400, too_large: 413, exhausted: 429,
  upstream: 502, deadline: 504, not_ready: 503, sealed: 503, cancelled: 503, disk_full: 507, corrupt: 500, internal: 500,
};

function failureStatus(error: StewardError): number {
  return error.rule === "media_type" ? 415 : STATUS[error.code];
}

function texts(error: StewardError): readonly string[] {
  return error.message === "" ? [] : [error.message];
}

function errors(status: number, messages: readonly string[]): PlainAnswer {
  return { status, headers: VAULT_HEADERS, body: `${JSON.stringify({ errors: messages })}\n` };
}
