/**
 * Tracks the last HTTP status of each OTLP path. The HTTP exporter gives up on 429 and 503 with an
 * error that contains neither, so this thread's responses are observed through Node's diagnostics
 * channel.
 */
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";

/** One path per signal is in use. */
const MAX_PATHS = 16;

/** Starts observing; the returned function gives the last status for a URL's path and query. */
export function watchHttpStatuses(): (url: string) => number | undefined {
  const statuses = new Map<string, number>();
  subscribe("http.client.response.finish", (message) => {
    const { request, response } = message as {
      readonly request: ClientRequest;
      readonly response: IncomingMessage;
    };
    if (statuses.size >= MAX_PATHS && !statuses.has(request.path)) return;
    if (response.statusCode !== undefined) statuses.set(request.path, response.statusCode);
  });
  return (url) => {
    const { pathname, search } = new URL(url);
    return statuses.get(pathname + search);
  };
}
