/**
 * The surface below `/v1`: Vault's envelope of eight keys, `{errors: […]}`, and 204 for nothing.
 */
import type { StewardError } from "../../src/kernel/base/errors.ts";
import { errorText, httpStatus, UNKNOWN_ROUTE } from "../codes.ts";
import {
  around,
  failureHeaders,
  successHeaders,
  type Dialect,
  type FailureOptions,
} from "./dialect.ts";

/** A message without fields is answered with 204. */
export const vault: Dialect = {
  name: "vault",
  bodyBytes: 32 * 1024 * 1024,
  success(schema, json, options) {
    if (schema.fields.length === 0)
      return { status: 204, headers: { "cache-control": "no-store" }, body: "" };
    const [before, after] = options.raw ? ["", ""] : envelope(options.requestId);
    return {
      status: options.status,
      headers: successHeaders("application/json", options.attachment),
      body: around(before, json, `${after}\n`),
    };
  },
  failure: (error, options) => ({
    status: httpStatus(error, "vault"),
    headers: { ...failureHeaders(error, options), "content-type": "application/json" },
    body: `${JSON.stringify({ errors: texts(error, options) })}\n`,
  }),
};

/**
 * The envelope before and after `data`, which is JSON already, so that its digits stay unchanged.
 */
function envelope(requestId: string): readonly [string, string] {
  return [
    `{"request_id":${JSON.stringify(requestId)},"lease_id":"","renewable":false,"lease_duration":0,"data":`,
    ',"wrap_info":null,"warnings":null,"auth":null}',
  ];
}

function texts(error: StewardError, options: FailureOptions): string[] {
  if (error.code === "unauthenticated") return ["permission denied"];
  if (error.code !== "not_found") return [errorText(error)];
  if (error.rule === UNKNOWN_ROUTE)
    return [`no handler for route "${(options.path ?? "").replace(/^\/v1\//, "")}"`];
  // To Vault's clients a missing resource is a 404 without errors; an unknown path or mount has
  // one.
  return error.rule === undefined ? [] : [errorText(error)];
}
