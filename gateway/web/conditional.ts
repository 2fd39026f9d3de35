/** Cacheable text responses: compression, entity tags and 304 (RFC 9110 §8.8.3, §13). */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptsGzip } from "../../src/kernel/listen/headers/accept-encoding.ts";
import { matchesTag } from "../../src/kernel/listen/headers/conditional.ts";
import { joinedHeader } from "../../src/kernel/listen/headers/header.ts";
import type { PlainAnswer, RequestHeaders } from "../../src/kernel/service.ts";

/** Smaller texts are not compressed. */
const PACKED_BYTES = 1_024;
// On libuv's thread pool.
const pack = promisify(gzip);

/** Header names are lower case. */
export interface TextAnswer extends PlainAnswer {
  readonly body: string;
}

/**
 * The response as the request's headers ask for it. The tag is weak: compressed and plain text
 * share it. Only a success is conditional.
 */
export async function conditionalAnswer(
  answer: TextAnswer,
  request: RequestHeaders,
): Promise<PlainAnswer> {
  if (answer.status !== 200) return await packedAnswer(answer, request);
  const etag = `W/"${createHash("sha256").update(answer.body).digest("base64url").slice(0, 22)}"`;
  const headers = { ...answer.headers, etag };
  if (matchesTag(joinedHeader(request["if-none-match"]), etag))
    return { status: 304, headers: { ...headers, vary: "accept-encoding" }, body: "" };
  return await packedAnswer({ ...answer, headers }, request);
}

/** Compressed for a client that accepts it. */
export async function packedAnswer(
  answer: TextAnswer,
  request: RequestHeaders,
): Promise<PlainAnswer> {
  const headers = { ...answer.headers, vary: "accept-encoding" };
  if (answer.body.length < PACKED_BYTES || !acceptsGzip(request["accept-encoding"]))
    return { ...answer, headers };
  return {
    ...answer,
    headers: { ...headers, "content-encoding": "gzip" },
    body: await pack(answer.body),
  };
}
