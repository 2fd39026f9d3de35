/**
 * Tracks the last HTTP answer of each OTLP path. The HTTP exporter gives up on 429 and 503 with an
 * error that contains neither status nor Retry-After, so this thread's responses are observed
 * through Node's diagnostics channel.
 */
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Clock } from "../../../base/clock.ts";
import { retryAfterMs } from "../../../client/http/retry-after.ts";

/** One path per signal is in use. */
const MAX_PATHS = 16;

export interface HttpAnswer {
  readonly status: number;
  /** Of its `Retry-After`. */
  readonly retryAfterMs: number | undefined;
}

/** Starts observing; the returned function gives the last answer for a URL's path and query. */
export function watchHttpAnswers(clock: Clock): (url: string) => HttpAnswer | undefined {
  const answers = new Map<string, HttpAnswer>();
  subscribe("http.client.response.finish", (message) => {
    const {
      request: { path },
      response: { statusCode: status, headers },
    } = message as {
      readonly request: ClientRequest;
      readonly response: IncomingMessage;
    };
    if (status === undefined || (answers.size >= MAX_PATHS && !answers.has(path))) return;
    const { "retry-after": after = "", date = "" } = headers;
    answers.set(path, {
      status,
      retryAfterMs: retryAfterMs({ "retry-after": after, date }, clock.now()),
    });
  });
  return (url) => {
    const { pathname, search } = new URL(url);
    return answers.get(pathname + search);
  };
}
