/**
 * Request handling shared by all simulators: bounded body reading, sending, and detection of
 * disconnects.
 */
import type { ServerRequest, ServerResponse } from "../../kernel/listen/exchange.ts";

/** A response to send. */
export interface Outgoing {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const BODYLESS: readonly number[] = [204, 304];

/** Whether answers of a status have neither a body nor its length. */
export function isBodyless(status: number): boolean {
  return BODYLESS.includes(status);
}

/** Sends all of it. */
export function send(response: ServerResponse, { status, headers, body }: Outgoing): void {
  if (response.destroyed) return;
  response.writeHead(status, headers);
  response.end(isBodyless(status) ? undefined : body);
}

/** Aborts when the client has disconnected. */
export function closing(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  if (response.destroyed) gone.abort();
  return gone.signal;
}

/**
 * The body as text; `too_large` when it is longer than `limit`, `gone` when the client left before
 * its end.
 */
export function readBody(
  request: ServerRequest,
  limit: number,
): Promise<string | { readonly failed: "too_large" | "gone" }> {
  const { headers } = request;
  if (
    headers["transfer-encoding"] === undefined &&
    (headers["content-length"] ?? "0") === "0" &&
    request.httpVersionMajor === 1
  )
    return Promise.resolve("");
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let size = 0;
    request.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size <= limit) pieces.push(piece);
      else {
        pieces.length = 0;
        resolve({ failed: "too_large" });
      }
    });
    request.once("end", () =>
      resolve(
        pieces.length === 1
          ? (pieces[0]?.toString("utf8") ?? "")
          : Buffer.concat(pieces).toString("utf8"),
      ),
    );
    request.once("close", () => resolve({ failed: "gone" }));
  });
}
