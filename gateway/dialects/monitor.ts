/** The surface below `/api` and of all pages: documents as bare objects, errors as one line of text, never JSON. */
import type { StewardError } from "../../src/kernel/base/errors.ts";
import { errorText, httpStatus, UNKNOWN_ROUTE } from "../codes.ts";
import { around, failureHeaders, successHeaders, type Dialect } from "./dialect.ts";

const LINE_BREAK = 0x0a;

/** The monitor's admin surface (contract monitor, RESOLUTIONS §3.1, §4). */
export const monitor: Dialect = {
  name: "monitor",
  bodyBytes: 64 * 1024,
  success: (_schema, json, options) => ({
    status: options.status,
    headers: successHeaders("application/json", options.attachment),
    body: options.raw || endsInBreak(json) ? json : around("", json, "\n"),
  }),
  failure: (error, options) => ({
    status: httpStatus(error, "monitor"),
    headers: {
      ...failureHeaders(error, options),
      ...(error.code === "unauthenticated" ? { "www-authenticate": 'Basic realm="steward admin"' } : {}),
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    },
    body: `${text(error)}\n`,
  }),
};

/** A document of megabytes is not copied for the sake of a line break that its writer put there. */
function endsInBreak(json: string | Uint8Array): boolean {
  return json.at(-1) === (typeof json === "string" ? "\n" : LINE_BREAK);
}

function text(error: StewardError): string {
  if (error.code === "unauthenticated") return "Unauthorized";
  if (error.code === "unsupported") return "Method Not Allowed";
  return error.rule === UNKNOWN_ROUTE ? "404 page not found" : errorText(error);
}
