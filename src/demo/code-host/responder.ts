/** Turns replies into responses with the headers that every response of the host has. */
import { gzipSync } from "node:zlib";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Outgoing } from "../serving/outgoing.ts";
import type { Reply } from "./answers.ts";

export interface Responder {
  /** `nowMs` is the host's clock; `acceptEncoding` the client's header. */
  toOutgoing(
    reply: Reply,
    nowMs: number,
    acceptEncoding: string | undefined,
    version: string,
  ): Outgoing;
}

const COMPRESS_FROM = 1024;

/** Request ids begin alike within one host, as upstream's do within one connection. */
export function createResponder(ids: Ids, options: { readonly gzip: boolean }): Responder {
  const origin = Buffer.from(ids.bytes(4)).toString("hex").toUpperCase();
  let count = 0;
  let second = -1;
  let date = "";
  return {
    toOutgoing(reply, nowMs, acceptEncoding, version) {
      if (Math.floor(nowMs / 1000) !== second) {
        second = Math.floor(nowMs / 1000);
        date = new Date(nowMs).toUTCString();
      }
      count += 1;
      const zip =
        options.gzip &&
        (reply.body?.length ?? 0) >= COMPRESS_FROM &&
        /\bgzip\b/i.test(acceptEncoding ?? "");
      const plain = Buffer.from(reply.body ?? "");
      const body = zip ? gzipSync(plain) : plain;
      const headers: Record<string, string> = {
        date,
        server: "github.com",
        "x-github-request-id": `${origin.slice(0, 4)}:${origin.slice(4)}:${count.toString(16).toUpperCase()}:${second.toString(16).toUpperCase()}`,
        "x-github-media-type": "github.v3; format=json",
        "x-github-api-version-selected": version,
        "x-content-type-options": "nosniff",
        ...(reply.status === 204
          ? {}
          : {
              "content-type": "application/json; charset=utf-8",
              "content-length": String(body.length),
            }),
        ...(zip ? { "content-encoding": "gzip", vary: "Accept, Accept-Encoding" } : {}),
        ...reply.headers,
      };
      return { status: reply.status, headers, body };
    },
  };
}
