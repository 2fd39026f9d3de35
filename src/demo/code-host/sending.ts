/** Reading a request's body within bounds, and sending an answer with the headers every answer of the host has. */
import { gzipSync } from "node:zlib";
import type { ServerRequest, ServerResponse } from "../../kernel/listen/exchange.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Reply } from "./answers.ts";

/** An answer as it goes out. */
export interface Outgoing {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Gives answers their headers. */
export interface Dresser {
  /** `nowMs` is the host's clock; `acceptEncoding` the client's header. */
  dress(reply: Reply, nowMs: number, acceptEncoding: string | undefined, version: string): Outgoing;
}

const COMPRESS_FROM = 1024;

/** Request ids begin alike within one host, as upstream's do within one connection. */
export function createDresser(ids: Ids, options: { readonly gzip: boolean }): Dresser {
  const origin = Buffer.from(ids.bytes(4)).toString("hex").toUpperCase();
  let count = 0;
  let second = -1;
  let date = "";
  return {
    dress(reply, nowMs, acceptEncoding, version) {
      if (Math.floor(nowMs / 1000) !== second) {
        second = Math.floor(nowMs / 1000);
        date = new Date(nowMs).toUTCString();
      }
      count += 1;
      const zip = options.gzip && (reply.body?.length ?? 0) >= COMPRESS_FROM && /\bgzip\b/i.test(acceptEncoding ?? "");
      const plain = Buffer.from(reply.body ?? "");
      const body = zip ? gzipSync(plain) : plain;
      const headers: Record<string, string> = {
        date, server: "github.com",
        "x-github-request-id": `${origin.slice(0, 4)}:${origin.slice(4)}:${count.toString(16).toUpperCase()}:${second.toString(16).toUpperCase()}`,
        "x-github-media-type": "github.v3; format=json", "x-github-api-version-selected": version, "x-content-type-options": "nosniff",
        ...(reply.status === 204 ? {} : { "content-type": "application/json; charset=utf-8", "content-length": String(body.length) }),
        ...(zip ? { "content-encoding": "gzip", vary: "Accept, Accept-Encoding" } : {}),
        ...reply.headers,
      };
      return { status: reply.status, headers, body };
    },
  };
}

/** Sends all of it. */
export function send(response: ServerResponse, { status, headers, body }: Outgoing): void {
  if (response.destroyed) return;
  response.writeHead(status, headers);
  response.end(status === 204 ? undefined : body);
}

/** The body as text; `too_large` when it is longer than `limit`, `gone` when the client left before its end. */
export function readBody(request: ServerRequest, limit: number): Promise<string | { readonly failed: "too_large" | "gone" }> {
  const { headers } = request;
  if (headers["transfer-encoding"] === undefined && (headers["content-length"] ?? "0") === "0" && request.httpVersionMajor === 1) return Promise.resolve("");
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
    request.once("end", () => resolve(pieces.length === 1 ? pieces[0]?.toString("utf8") ?? "" : Buffer.concat(pieces).toString("utf8")));
    request.once("close", () => resolve({ failed: "gone" }));
  });
}
