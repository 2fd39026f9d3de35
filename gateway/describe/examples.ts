/** One example request per operation. A test sends every one of them to a running daemon. */
import type { Operation } from "./openapi.ts";

/** Path variables stay in braces: only a live system has ids. */
export interface Example {
  readonly verb: string;
  /** With the query, e.g. `/api/v1/jobs/{jobId}`. */
  readonly path: string;
  /** JSON text; undefined when the operation has none. */
  readonly body: string | undefined;
}

/** Required query parameters are included, others are not. */
export function exampleOf(verb: string, path: string, operation: Operation): Example {
  const query = operation.parameters
    .filter((each) => each.in === "query" && each.required)
    .map(({ name }) => `${encodeURIComponent(name)}={${name}}`);
  const body = operation.requestBody?.content["application/json"]?.example;
  return {
    verb: verb.toUpperCase(),
    path: path + (query.length === 0 ? "" : `?${query.join("&")}`),
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** The shell variable that holds the address in a command line. */
export const STEWARD = "$STEWARD";

/** As a command line; `$STEWARD` is the address, e.g. http://127.0.0.1:8400. */
export function curlOf({ verb, path, body }: Example): string {
  const method = verb === "GET" ? "" : ` -X ${verb}`;
  const data =
    body === undefined
      ? ""
      : ` -H 'Content-Type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
  return `curl -s${method} "${STEWARD}${path}"${data}`;
}
