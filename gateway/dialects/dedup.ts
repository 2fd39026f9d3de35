/**
 * The surface below `/api/v1`: a response message is its own `{data, meta}`, an error is `{error:
 * {code, message, details}}`.
 */
import type { StewardError } from "../../src/kernel/base/errors.ts";
import { BAD_REQUEST } from "../../src/kernel/wire/issues.ts";
import { OPERATOR_CHALLENGES } from "../access/challenges.ts";
import { dedupCode, errorText, httpStatus } from "../codes.ts";
import { failureHeaders, successHeaders, type AnswerHeaders, type Dialect } from "./dialect.ts";

const JSON_TYPE = "application/json; charset=utf-8";

export const dedup: Dialect = {
  name: "dedup",
  bodyBytes: 4 * 1024 * 1024,
  success: (_schema, json, options) => ({
    status: options.status,
    headers: successHeaders(JSON_TYPE, options.attachment),
    body: json,
  }),
  failure: (error, options) => ({
    status: httpStatus(error, "dedup"),
    headers: { ...failureHeaders(error, options), ...challenge(error), "content-type": JSON_TYPE },
    body: JSON.stringify({
      error: { code: dedupCode(error), message: errorText(error), ...details(error) },
    }),
  }),
};

/**
 * A refusal for another reason than the credential must not make a browser prompt for a password.
 */
function challenge({ code }: StewardError): AnswerHeaders {
  if (code === "unauthenticated") return { "www-authenticate": [...OPERATOR_CHALLENGES] };
  return code === "denied" ? { "www-authenticate": OPERATOR_CHALLENGES[0] } : {};
}

/** An error without findings gets one for the whole request: clients look for it in `details`. */
function details(error: StewardError): { details?: readonly unknown[] } {
  if (error.facts !== undefined) return { details: [error.facts] };
  if (error.details !== undefined) return { details: error.details };
  const { code, field, rule } = error;
  if (code !== "invalid" || (field === undefined && rule === BAD_REQUEST)) return {};
  return {
    details: [
      {
        path: field?.split(".") ?? [],
        message: errorText(error),
        code: "invalid_value",
        ...(rule === undefined ? {} : { rule }),
      },
    ],
  };
}
