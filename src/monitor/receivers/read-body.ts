/** Reads the body of a request into memory, decompressed, within its limits. */
import { pipeline, Readable, type Transform } from "node:stream";
import { constants, createGunzip, createZstdDecompress } from "node:zlib";
import { bodyTooLarge } from "../../kernel/service.ts";
import type { BodyAllowance } from "../../kernel/listen/admission/body-budget.ts";
import type { ServerRequest } from "../../kernel/listen/exchange.ts";

const CHUNK_BYTES = 64 * 1024;
/** Bounds of zstd's window, as the exponent of 2; the format allows up to 31. */
const MIN_WINDOW_LOG = 10;
const MAX_WINDOW_LOG = 27;

export type Compression = "gzip" | "zstd" | "none";

export interface ReadOptions {
  readonly compression: Compression;
  /** Bytes after decompression; also bounds the bytes received. */
  readonly maxBytes: number;
  readonly allowance: BodyAllowance;
  readonly signal: AbortSignal;
}

/**
 * Throws `too_large` beyond the limit, `exhausted` when other bodies use up the memory, the
 * signal's reason, and the error of decompression or of the connection.
 */
export async function readBody(
  request: ServerRequest,
  { compression, maxBytes, allowance, signal }: ReadOptions,
): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > maxBytes) throw bodyTooLarge(maxBytes);
  // A body of known length is copied once; its pages are taken as it arrives.
  const whole =
    compression === "none" && declared > 0 ? Buffer.allocUnsafeSlow(declared) : undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const wire = limited(request, maxBytes);
  for await (const chunk of decompressed(wire, compression, maxBytes)) {
    signal.throwIfAborted();
    if (bytes + chunk.length > maxBytes) throw bodyTooLarge(maxBytes);
    allowance.reserve(chunk.length);
    if (whole === undefined) chunks.push(chunk);
    else whole.set(chunk, bytes);
    bytes += chunk.length;
  }
  return whole?.subarray(0, bytes) ?? Buffer.concat(chunks, bytes);
}

/** Without the end of the request's stream: the connection must stay open for the answer. */
async function* limited(
  request: ServerRequest,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  const source = request.iterator({ destroyOnReturn: false });
  for await (const chunk of source as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
    yield chunk;
  }
}

function decompressed(
  wire: AsyncGenerator<Uint8Array, void, undefined>,
  compression: Compression,
  maxBytes: number,
): AsyncIterable<Uint8Array> {
  if (compression === "none") return wire;
  const decoder = compression === "gzip" ? gunzip() : unzstd(maxBytes);
  pipeline(Readable.from(wire, { objectMode: false }), decoder, () => undefined);
  return decoder as AsyncIterable<Uint8Array>;
}

function gunzip(): Transform {
  return createGunzip({ chunkSize: CHUNK_BYTES });
}

/** A window larger than the largest body has no use. */
function unzstd(maxBytes: number): Transform {
  const windowLog = Math.min(
    MAX_WINDOW_LOG,
    Math.max(MIN_WINDOW_LOG, Math.ceil(Math.log2(maxBytes))),
  );
  return createZstdDecompress({
    chunkSize: CHUNK_BYTES,
    params: { [constants.ZSTD_d_windowLogMax]: windowLog },
  });
}
