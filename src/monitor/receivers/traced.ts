/** The span of a receiver's request. */
import type { Ids } from "../../kernel/base/ids.ts";
import type { ServerRequest, ServerResponse } from "../../kernel/listen/exchange.ts";
import type { Admitted, Handler } from "../../kernel/listen/handler.ts";
import type { Tracing } from "../../kernel/telemetry/tracing/tracing.ts";

interface TraceDeps {
  readonly ids: Ids;
  readonly traces: Pick<Tracing, "begin"> | undefined;
}

/** Attributes that the handler adds to its span before it ends. */
export type SpanAttributes = Record<string, string | number>;

const SERVER_ERROR = 500;
/** A client may send any token as its method. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

/** A handler that describes its work for the span. */
export type TracedHandler = (
  request: ServerRequest,
  response: ServerResponse,
  admitted: Admitted,
  span: SpanAttributes,
) => Promise<void>;

/**
 * Runs the handler in a span that ends with the response's status; without tracing it just runs.
 * `route` is the configured path: a request's own path is never recorded.
 */
export function traced(
  { ids, traces }: TraceDeps,
  { name, route }: { readonly name: string; readonly route: string },
  handle: TracedHandler,
): Handler {
  return async (request, response, admitted) => {
    const attributes: SpanAttributes = {};
    if (traces === undefined) return await handle(request, response, admitted, attributes);
    const span = traces.begin({
      name,
      protocol: "rest",
      route,
      method: METHODS.has(request.method ?? "") ? (request.method ?? "") : "other",
      requestId: ids.uuid(),
      headers: request.headers,
    });
    let code = SERVER_ERROR;
    try {
      await span.run(() => handle(request, response, admitted, attributes));
      code = response.statusCode;
    } finally {
      span.end({ code: String(code), failed: code >= SERVER_ERROR, attributes });
    }
  };
}
