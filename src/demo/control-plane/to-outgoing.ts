/** Turns a reply into a response with the headers that every response of a control plane has. */
import { gzipSync } from "node:zlib";
import { isBodyless, type Outgoing } from "../serving/outgoing.ts";
import type { Reply } from "./reply.ts";

const COMPRESS_FROM = 1024;
/** Compressed once for as long as the same bytes are answered. */
const zipped = new WeakMap<Buffer, Buffer>();

/** `acceptEncoding` is the client's header, undefined when nothing may be compressed. */
export function toOutgoing(
  reply: Reply,
  nowMs: number,
  common: Readonly<Record<string, string>>,
  acceptEncoding: string | undefined,
): Outgoing {
  const plain =
    typeof reply.body === "string" ? Buffer.from(reply.body) : (reply.body ?? Buffer.alloc(0));
  const zip = plain.length >= COMPRESS_FROM && /\bgzip\b/i.test(acceptEncoding ?? "");
  const body = zip ? zipOf(plain) : plain;
  return {
    status: reply.status,
    body,
    headers: {
      date: new Date(nowMs).toUTCString(),
      ...common,
      ...(body.length === 0 ? {} : { "content-type": "application/json" }),
      ...(isBodyless(reply.status) ? {} : { "content-length": String(body.length) }),
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
