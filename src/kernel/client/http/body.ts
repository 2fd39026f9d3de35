/** Reads a response body: limited on the wire, decompressed, and limited again. */
import { pipeline, Readable, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import { failed } from "../failure.ts";
import type { ReplyHeaders } from "../reply-headers.ts";

const CHUNK_BYTES = 64 * 1024;

/** zstd may request a window of 128 MiB; RFC 9659 allows 8 MiB in HTTP. */
const ZSTD_WINDOW_LOG = 23;

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: CHUNK_BYTES }),
  "x-gzip": () => createGunzip({ chunkSize: CHUNK_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: CHUNK_BYTES }),
  zstd: () =>
    createZstdDecompress({
      chunkSize: CHUNK_BYTES,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
    }),
};

/** The Accept-Encoding of every call. */
export const ACCEPT_ENCODING = "gzip, br, zstd";

/** Limits of one body. */
export interface BodyLimits {
  readonly wireBytes: number;
  readonly bodyBytes: number;
  /** The configuration key of the limit. */
  readonly bodyKey?: string;
}

/**
 * The decompressed bytes. Throws failures: `too_large`, `decode` for an invalid encoding,
 * `transport` when it ends early.
 */
export async function* plainBody(
  wire: AsyncIterable<Uint8Array>,
  status: number,
  headers: ReplyHeaders,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const declared = Number(headers["content-length"] ?? 0);
  const tooLarge = (limit: number, where: string): Error =>
    failed(
      { class: "too_large", status },
      `more than ${limit} bytes ${where}${limits.bodyKey === undefined ? "" : `; the limit is ${limits.bodyKey}`}`,
    );
  if (declared > limits.wireBytes) throw tooLarge(limits.wireBytes, "on the wire");
  const bounded = capped(wire, limits.wireBytes, () => tooLarge(limits.wireBytes, "on the wire"));
  const encoding = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const plain =
    encoding === "identity" || encoding === "" ? bounded : decompressed(bounded, encoding, status);
  yield* capped(plain, limits.bodyBytes, () => tooLarge(limits.bodyBytes, "after decompression"));
}

async function* capped(
  source: AsyncIterable<Uint8Array>,
  limit: number,
  refuse: () => Error,
): AsyncGenerator<Uint8Array, void, undefined> {
  let seen = 0;
  for await (const piece of source) {
    seen += piece.length;
    if (seen > limit) throw refuse();
    yield piece;
  }
}

async function* decompressed(
  source: AsyncIterable<Uint8Array>,
  encoding: string,
  status: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const create = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (create === undefined)
    throw failed({ class: "decode", status }, "a Content-Encoding that was not requested");
  const decoder = create();
  // The outcome is handled where the decoder is read.
  pipeline(
    Readable.from(source, { objectMode: false, highWaterMark: CHUNK_BYTES }),
    decoder,
    () => undefined,
  );
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw decodeFailure(error, status);
  } finally {
    decoder.destroy();
  }
}

function decodeFailure(error: unknown, status: number): unknown {
  const { code } = error as { readonly code?: unknown };
  // The upstream closed the connection properly, but in the middle of the compressed stream:
  // treated as a lost connection.
  if (code === "Z_BUF_ERROR" || code === "ERR_BUFFER_TOO_LARGE")
    return failed({ class: "transport", status }, "the compressed body is truncated", error);
  if (
    typeof code === "string" &&
    /^(Z_|ERR__?(ZLIB|BROTLI|ZSTD|ERROR)|ZSTD_|ERR_PADDING|ERR_[A-Z_]*(FORMAT|DECOMPRESSION))/.test(
      code,
    )
  ) {
    return failed({ class: "decode", status }, "the compressed body is damaged", error);
  }
  return error;
}

/** At most `limit` bytes of a body as text, for error bodies; errors only shorten it. */
export async function readPrefix(body: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of body) {
      parts.push(piece);
      length += piece.length;
      if (length >= limit) break;
    }
  } catch {
    // The status is sufficient; an interrupted error body is shown as far as it arrived.
  }
  return Buffer.concat(parts).subarray(0, limit).toString("utf8");
}

/** A whole body, already bounded. */
export async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of body) parts.push(piece);
  return Buffer.concat(parts);
}
