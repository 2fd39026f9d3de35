/** Failures of the Paperless-ngx client in words for its operator. */
import { StewardError } from "../../kernel/base/errors.ts";
import {
  causeWithoutAddress,
  failed,
  failureOf,
  rootCause,
  type Failure,
  type FailureClass,
} from "../../kernel/client/failure.ts";

/** Rule of an answer that is complete and not as expected. */
const NOT_PAPERLESS = "NOT_PAPERLESS";
const MAX_WORDS_CHARACTERS = 200;

const remedies: Readonly<Partial<Record<FailureClass, (name: string) => string>>> = {
  auth: (name) => `check token, or username and password, of archive "${name}" in dedup.archives`,
  forbidden: (name) =>
    `give the user of archive "${name}" the permission to view documents, tags, correspondents and document types in Paperless-ngx`,
  redirect: (name) =>
    `check url of archive "${name}": it must be the address of Paperless-ngx itself, without /api`,
  not_found: (name) =>
    `check url of archive "${name}": it must be the address of Paperless-ngx itself, without /api`,
  decode: (name) =>
    `check url of archive "${name}", and whether a proxy or a login page answers in place of Paperless-ngx`,
  timeout: (name) =>
    `check whether Paperless-ngx is overloaded, or raise timeout of archive "${name}"`,
  transport: (name) => `check whether Paperless-ngx runs at url of archive "${name}"`,
  server: () => "look into the log of Paperless-ngx, then sync again",
  rate_limited: () => "wait, or raise the limit of the proxy in front of Paperless-ngx",
  too_large: (name) => `lower page_size of archive "${name}"`,
};

const writeRemedies: Readonly<Partial<Record<FailureClass, (name: string) => string>>> = {
  forbidden: (name) =>
    `give the user of archive "${name}" the permission to change and delete documents, and to add tags, correspondents and document types, in Paperless-ngx`,
  not_found: () => "sync the archive: what it has may have changed",
  server: () => "look into the log of Paperless-ngx, then try again",
  rejected: () => "sync the archive, then try again",
};

/**
 * Gives a 400 the class of what it means here; every other error is returned as it is. Only JSON
 * says what is wrong with a request. Paperless-ngx answers with plain text when it fails inside
 * (Redis is down, the database is locked), and with a page when it does not know the host, as a
 * proxy does for reasons of its own.
 */
export function withMeaning(error: unknown): unknown {
  const failure = failureOf(error);
  if (failure?.class !== "rejected" || failure.status !== 400) return error;
  // By its beginning: of a long body only the first part is there.
  const first = failure.body?.trimStart()[0] ?? "";
  if (first !== "" && '{["'.includes(first)) return error;
  return failed({ ...failure, class: first === "<" ? "decode" : "server" }, undefined, error);
}

/**
 * The failure as one of the archive: code `upstream`, the class as its rule. Whatever is no failure
 * of a call is returned as it is. `write`: what was to be done, e.g. `deleting document 7`.
 */
export function asPaperlessError(name: string, error: unknown, write?: string): unknown {
  return archiveError(name, error, rootCause, write);
}

/** As `asPaperlessError`, for the test of a connection: its reader may not see the address. */
export function asTestError(name: string, error: unknown): unknown {
  return archiveError(name, error, causeWithoutAddress);
}

function archiveError(
  name: string,
  thrown: unknown,
  causeOf: (error: StewardError) => string,
  write?: string,
): unknown {
  const error = withMeaning(thrown);
  const failure = failureOf(error);
  if (failure === undefined || !(error instanceof StewardError)) return error;
  if (failure.class === "cancelled") return error;
  const what = write === undefined ? "" : `${write}: `;
  const detail = failure.class === "server" ? answeredWords(failure) : refusedFields(failure);
  const remedy =
    (write === undefined ? undefined : writeRemedies[failure.class]?.(name)) ??
    remedies[failure.class]?.(name) ??
    error.remedy;
  return new StewardError("upstream", `archive ${name}: ${what}${causeOf(error)}${detail}`, {
    rule: failure.class,
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  });
}

/** The names of what was refused; the text of a refusal may quote anything. */
function refusedFields({ status, body }: Failure): string {
  if (status !== 400) return "";
  const names = Object.keys(membersOf(body)).filter((name) => /^[a-z_]{1,40}$/.test(name));
  return names.length === 0 ? "" : `, because of ${names.slice(0, 5).join(", ")}`;
}

/**
 * The text of a 400, e.g. `Error deleting document, check logs for more detail.`; none that may hold
 * anything but words, such as an address or a token.
 */
function answeredWords({ status, body = "" }: Failure): string {
  const text = body.trim();
  const isWords =
    status === 400 &&
    text.length <= MAX_WORDS_CHARACTERS &&
    /^[A-Za-z]{1,20}[,.]?(?: [A-Za-z]{1,20}[,.]?)*$/.test(text);
  return isWords ? `: ${text}` : "";
}

/**
 * Whether the server itself says that the object is not there. A page of a proxy with the same
 * status says nothing about it.
 */
export function isMissing(failure: Failure | undefined): boolean {
  return failure?.status === 404 && typeof membersOf(failure.body)["detail"] === "string";
}

function membersOf(body: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : {};
  } catch {
    // Many refusals are HTML or plain text.
    return {};
  }
}

/** A complete answer that no Paperless-ngx gives. */
export function notPaperless(name: string, what: string): StewardError {
  return new StewardError("upstream", `archive ${name}: ${what}`, {
    rule: NOT_PAPERLESS,
    remedy: `check url of archive "${name}", and whether its Paperless-ngx is 2.0 or newer`,
  });
}
