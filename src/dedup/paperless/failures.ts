/** Failures of the Paperless-ngx client in words for its operator. */
import { StewardError } from "../../kernel/base/errors.ts";
import { failureOf, rootCause, type FailureClass } from "../../kernel/client/failure.ts";

/** Rule of an answer that is complete and not as expected. */
const NOT_PAPERLESS = "NOT_PAPERLESS";

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

/**
 * The failure as one of the archive: code `upstream`, the class as its rule. Whatever is no failure
 * of a call is returned as it is.
 */
export function asPaperlessError(name: string, error: unknown): unknown {
  const failure = failureOf(error);
  if (failure === undefined || !(error instanceof StewardError)) return error;
  if (failure.class === "cancelled") return error;
  const remedy = remedies[failure.class]?.(name) ?? error.remedy;
  return new StewardError("upstream", `archive ${name}: ${rootCause(error)}`, {
    rule: failure.class,
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  });
}

/** A complete answer that no Paperless-ngx gives. */
export function notPaperless(name: string, what: string): StewardError {
  return new StewardError("upstream", `archive ${name}: ${what}`, {
    rule: NOT_PAPERLESS,
    remedy: `check url of archive "${name}", and whether its Paperless-ngx is 2.0 or newer`,
  });
}
