/** Answers of the receivers. */
import {
  closeUnlessBodyIsShort,
  cut,
  discardBody,
  type ServerRequest,
  type ServerResponse,
} from "../../kernel/listen/exchange.ts";

export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a complete answer; the rest of an unread body is dropped within a limit. */
export function send(request: ServerRequest, response: ServerResponse, answer: Answer): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.headersSent) return cut(request);
  closeUnlessBodyIsShort(request, response);
  discardBody(request);
  response.writeHead(answer.status, {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(answer.contentType === undefined ? {} : { "content-type": answer.contentType }),
    "content-length": String(Buffer.byteLength(answer.body)),
    ...answer.headers,
  });
  response.end(answer.body);
}
