/**
 * Converts platform failures to errors with cause and remedy, never with a credential, an HTML page
 * or a stack.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import { printable } from "../../../kernel/base/text/printable.ts";
import { retryAfterMs } from "../../../kernel/client/http/retry-after.ts";
import { parseExact } from "../../logical/json.ts";
import { FORBIDDEN_ADDRESS } from "../forbidden-hosts.ts";
import { UNUSABLE_PROXY, type HttpLost, type HttpReply } from "./http.ts";

/** What was attempted, for the message. */
export interface Attempted {
  /** Start of the message, e.g. `unable to create access token`. */
  readonly failed: string;
  /** Subject of the call, e.g. `installation 5`. */
  readonly subject: string;
  /** Additional hints for a rejected request. */
  readonly hints?: readonly string[];
}

/** The platform's recommended wait after a secondary rate limit without a time. */
const SECONDARY_WAIT_MS = 60_000;

const MAX_QUOTE_LENGTH = 300;

/** Longest error body that is inspected. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Error for a failed call. `nowMs` is wall time. */
export function platformFailure(
  attempted: Attempted,
  outcome: HttpReply | HttpLost,
  nowMs: number,
): StewardError {
  if (outcome.lost !== undefined) return lostFailure(attempted, outcome);
  const message = messageOf(outcome);
  const text = (cause: string): string =>
    `${attempted.failed}: ${statusLine(outcome)}${message === undefined ? "" : `: ${message}`}: ${cause}`;
  if (isRateLimited(outcome, message))
    return new StewardError(
      "exhausted",
      text("the platform's rate limit is exceeded; retry later"),
      {
        rule: "rate_limited",
        retryAfterMs: retryAfterMs(outcome.headers, nowMs) ?? SECONDARY_WAIT_MS,
      },
    );
  const meaning = meaningOf(attempted, outcome, message);
  return new StewardError(meaning.code, text(meaning.cause), { rule: meaning.rule });
}

/** Problem with our JWT other than its signature: its dates, or an issuer that must be numeric. */
export function jwtRefusal(reply: HttpReply): "clock" | "issuer" | undefined {
  const message = reply.status === 401 ? (messageOf(reply) ?? "") : "";
  if (/'(issued at|expiration time)' claim/i.test(message)) return "clock";
  return /'issuer' claim.*integer/i.test(message) ? "issuer" : undefined;
}

/** Whether the response proves that nothing was created: rejected or redirected. */
export function hasCreatedNothing(outcome: HttpReply | HttpLost): boolean {
  if (outcome.lost !== undefined) return !outcome.sent;
  return (
    (outcome.status >= 400 && outcome.status < 500) || [301, 302, 307, 308].includes(outcome.status)
  );
}

/** Whether the platform does not know the subject. */
export function isGone(outcome: HttpReply | HttpLost): boolean {
  return outcome.lost === undefined && outcome.status === 404;
}

/**
 * Whether the API itself says that there is nothing. A proxy's page and a server at a wrong path
 * have the same status.
 */
export function isMissing(reply: HttpReply): boolean {
  return reply.status === 404 && messageOf(reply) !== undefined;
}

/** Error for an answer that is not the API's. */
export function invalidAnswer(attempted: Attempted, why: string): StewardError {
  return new StewardError(
    "upstream",
    `${attempted.failed}: ${why}; check that base_url is the address of the platform's API`,
    { rule: "decode" },
  );
}

interface Meaning {
  readonly code: "invalid" | "upstream";
  readonly rule: string;
  readonly cause: string;
}

const ELSEWHERE =
  "check that base_url is the address of the platform's API (for an enterprise server: https://HOST/api/v3)";

function meaningOf(
  { subject, hints = [] }: Attempted,
  reply: HttpReply,
  message: string | undefined,
): Meaning {
  const { status } = reply;
  const hinted = hints.length === 0 ? "" : ` (${hints.join("; ")})`;
  if (status >= 300 && status < 400)
    return {
      code: "upstream",
      rule: "redirect",
      cause: `redirects are not followed; ${ELSEWHERE}`,
    };
  if (status >= 500)
    return { code: "upstream", rule: "server", cause: "the platform failed; try again later" };
  if (jwtRefusal(reply) === "clock")
    return {
      code: "upstream",
      rule: "clock",
      cause: "the platform finds the dates of our JWT wrong; set this machine's clock",
    };
  if (status === 401)
    return {
      code: "upstream",
      rule: "auth",
      cause: "the platform does not accept the app's credentials; check app_id and prv_key",
    };
  if (isPage(reply))
    return {
      code: "upstream",
      rule: "decode",
      cause: `the answer is a page, not the API's; ${ELSEWHERE}`,
    };
  if (/suspend/i.test(message ?? ""))
    return {
      code: "invalid",
      rule: "suspended",
      cause: `${subject} is suspended; an owner of the account can unsuspend it`,
    };
  if (status === 403)
    return {
      code: "invalid",
      rule: "forbidden",
      cause: `the app may not do this for ${subject}; accept its permissions in the installation's settings${hinted}`,
    };
  if (status === 404)
    return {
      code: "invalid",
      rule: "not_installed",
      cause: `the app has no ${subject}; install it there, or read installations for those it has`,
    };
  if (status !== 422)
    return {
      code: "upstream",
      rule: "rejected",
      cause: `the platform does not understand the request; ${ELSEWHERE}`,
    };
  if (/permission/i.test(message ?? ""))
    return {
      code: "invalid",
      rule: "permissions",
      cause: `request fewer permissions, or have them accepted in the settings of ${subject}${hinted}`,
    };
  if (/repositor/i.test(message ?? ""))
    return {
      code: "invalid",
      rule: "repositories",
      cause: `check the names, and that ${subject} includes these repositories${hinted}`,
    };
  return {
    code: "invalid",
    rule: "rejected",
    cause: `check repositories and permissions against ${subject}${hinted}`,
  };
}

function lostFailure({ failed, hints = [] }: Attempted, { lost, reason }: HttpLost): StewardError {
  if (lost === "timeout")
    return new StewardError(
      "deadline",
      `${failed}: the platform did not answer completely in time`,
      { rule: "timeout" },
    );
  if (lost === "cancelled")
    return new StewardError("cancelled", `${failed}: cancelled`, { rule: "cancelled" });
  if (lost === "too_large")
    return new StewardError(
      "upstream",
      `${failed}: the platform's answer is too large${hints.map((hint) => `; ${hint}`).join("")}`,
      { rule: "too_large" },
    );
  if (reason === FORBIDDEN_ADDRESS)
    return new StewardError(
      "upstream",
      `${failed}: base_url resolves to a link-local address or the metadata service of a cloud; change it, or set tokens.allow_link_local_base_url`,
      { rule: "forbidden_address" },
    );
  if (reason === UNUSABLE_PROXY)
    return new StewardError(
      "upstream",
      `${failed}: the proxy that HTTPS_PROXY or HTTP_PROXY names cannot be used; write it as http://HOST:PORT in the environment of this process, and restart it`,
      { rule: "transport" },
    );
  return new StewardError(
    "upstream",
    `${failed}: the connection to the platform failed (${reason}); check base_url, proxy and network`,
    { rule: "transport" },
  );
}

function isRateLimited(reply: HttpReply, message: string | undefined): boolean {
  if (reply.status === 429) return true;
  if (reply.status !== 403) return false;
  return (
    reply.headers["retry-after"] !== undefined ||
    reply.headers["x-ratelimit-remaining"] === "0" ||
    /rate limit/i.test(message ?? "")
  );
}

function isPage(reply: HttpReply): boolean {
  return (
    /^text\/html\b/i.test(reply.headers["content-type"] ?? "") ||
    /^\s*</.test(reply.body.toString("latin1", 0, 64))
  );
}

function statusLine({ status, statusText }: HttpReply): string {
  return /^[A-Za-z][A-Za-z' -]{1,40}$/.test(statusText)
    ? `${status} ${statusText}`
    : String(status);
}

/** The platform's message on one line, without anything that looks like a credential. */
function messageOf(reply: HttpReply): string | undefined {
  if (reply.body.length === 0 || reply.body.length > MAX_ERROR_BODY_BYTES || isPage(reply))
    return undefined;
  let message: unknown;
  try {
    message = (parseExact(reply.body) as { readonly message?: unknown } | null)?.message;
  } catch {
    return undefined;
  }
  if (typeof message !== "string" || message === "") return undefined;
  return printable(message.slice(0, MAX_QUOTE_LENGTH))
    .replaceAll(/\bgh[a-z]_[\w.-]+|\bv1\.[\w-]{16,}|\beyJ[\w-]+(?:\.[\w-]*){0,2}/g, "[secret]")
    .replace(/[.:;\s]+$/, "");
}
