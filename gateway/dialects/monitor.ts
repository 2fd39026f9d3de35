/**
 * The surface below `/api` and of all pages: documents as bare objects, errors as one line of text,
 * never JSON.
 */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { StewardError } from "../../src/kernel/base/errors.ts";
import { OPERATOR_CHALLENGES } from "../access/challenges.ts";
import { errorText, httpStatus, UNKNOWN_ROUTE } from "../codes.ts";
import {
  around,
  failureHeaders,
  successHeaders,
  type Dialect,
  type FailureOptions,
} from "./dialect.ts";

const LINE_BREAK = 0x0a;
const NOT_FOUND = "404 page not found";
/** `/metrics` is the first path tried when setting up a scrape. */
const WHERE_METRICS_ARE =
  "metrics are at /api/v1/metrics of gateway.listen while dedup.metrics_endpoint.enabled is true, and at /metrics of scrape.listen while scrape.enabled is true";

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
      ...(error.code === "unauthenticated" ? { "www-authenticate": challenge(options) } : {}),
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    },
    body: `${text(error, options)}\n`,
  }),
};

/** With two tokens a browser keeps a login for each realm. */
function challenge({ access }: FailureOptions): string {
  return access === Access.OPERATOR ? OPERATOR_CHALLENGES[1] : 'Basic realm="steward admin"';
}

/** Avoids copying a document of megabytes just to append a line break that it already has. */
function endsInBreak(json: string | Uint8Array): boolean {
  return json.at(-1) === (typeof json === "string" ? "\n" : LINE_BREAK);
}

function text(error: StewardError, { path }: FailureOptions): string {
  if (error.code === "unauthenticated") return "Unauthorized";
  if (error.code === "unsupported") return "Method Not Allowed";
  if (error.rule !== UNKNOWN_ROUTE) return errorText(error);
  const hint = unknownPathHint(path);
  return hint === "" ? NOT_FOUND : `${NOT_FOUND}: ${hint}`;
}

/** Where to find what a path usually serves; empty for most paths. */
export function unknownPathHint(path: string | undefined): string {
  return path === "/metrics" ? WHERE_METRICS_ARE : "";
}
