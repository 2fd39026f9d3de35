/** Reading a request's body within bounds, and sending an answer with the headers that every answer has. */
import { gzipSync } from "node:zlib";
import type { ServerRequest, ServerResponse } from "../../kernel/listen/exchange.ts";
import type { Reply } from "./reply.ts";

/** An answer as it goes out. */
export interface Outgoing {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const COMPRESS_FROM = 1024;
/** Compressed once for as long as the same bytes are answered. */
const zipped = new WeakMap<Buffer, Buffer>();
const BODYLESS: readonly number[] = [204, 304];

/** `acceptEncoding` is the client's header, undefined when nothing may be compressed. */
export function dress(reply: Reply, nowMs: number, common: Readonly<Record<string, string>>, acceptEncoding: string | undefined): Outgoing {
  const plain = typeof reply.body === "string" ? Buffer.from(reply.body) : reply.body ?? Buffer.alloc(0);
  const zip = plain.length >= COMPRESS_FROM && /\bgzip\b/i.test(acceptEncoding ?? "");
  const body = zip ? zipOf(plain) : plain;
  return {
    status: reply.status, body,
    headers: {
      date: new Date(nowMs).toUTCString(), ...common,
      ...(body.length === 0 ? {} : { "content-type": "application/json" }),
      ...(BODYLESS.includes(reply.status) ? {} : { "content-length": String(body.length) }),
      ...(zip ? { "content-encoding": "gzip", vary: "Accept-Encoding" } : {}),
      ...reply.headers,
    },
  };
}

function zipOf(plain: Buffer): Buffer {
  const known = zipped.get(plain) ?? gzipSync(plain, { level: 1 });
  zipped.set(plain, known);
  return known;
}

/** Sends all of it. */
export function send(response: ServerResponse, { status, headers, body }: Outgoing): void {
  if (response.destroyed) return;
  response.writeHead(status, headers);
  response.end(BODYLESS.includes(status) ? undefined : body);
}

/** Fires when nobody is there to answer any more. */
export function closing(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  if (response.destroyed) gone.abort();
  return gone.signal;
}

/** The body as text; `too_large` when it is longer than `limit`, `gone` when the client left before its end. */
export function readBody(request: ServerRequest, limit: number): Promise<string | { readonly failed: "too_large" | "gone" }> {
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
    request.once("end", () => resolve(Buffer.concat(pieces).toString("utf8")));
    request.once("close", () => resolve({ failed: "gone" }));
  });
}
