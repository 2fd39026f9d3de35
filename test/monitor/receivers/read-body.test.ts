import { Readable } from "node:stream";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ServerRequest } from "../../../src/kernel/listen/exchange.ts";
import { readBody, type Compression } from "../../../src/monitor/receivers/read-body.ts";

const MAX_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** Reads what `chunks` gives, and how many bytes of it were taken. */
async function reading(
  chunks: Iterable<Uint8Array>,
  compression: Compression,
): Promise<{ readonly outcome: unknown; readonly taken: number; readonly reserved: number }> {
  let [taken, reserved] = [0, 0];
  function* counted(): Generator<Uint8Array> {
    for (const chunk of chunks) {
      taken += chunk.length;
      yield chunk;
    }
  }
  const source = Readable.from(counted(), { objectMode: false, highWaterMark: CHUNK_BYTES });
  const request = Object.assign(source, { headers: {} }) as unknown as ServerRequest;
  const outcome = await readBody(request, {
    compression,
    maxBytes: MAX_BYTES,
    allowance: { reserve: (bytes) => void (reserved += bytes), giveBack: () => undefined },
    signal: new AbortController().signal,
  }).catch((error: unknown) => error);
  return { outcome, taken, reserved };
}

function* endless(chunk: Uint8Array): Generator<Uint8Array> {
  for (;;) yield chunk;
}

describe("A body that has no end", () => {
  it("is read to the limit and hardly further", async () => {
    const { outcome, taken, reserved } = await reading(endless(Buffer.alloc(8_192, "a")), "none");
    expect(outcome).toMatchObject({ code: "too_large" });
    expect(taken).toBeLessThanOrEqual(MAX_BYTES + CHUNK_BYTES);
    expect(reserved).toBeLessThanOrEqual(MAX_BYTES);
  });

  it.each<[Compression, (bytes: Buffer) => Buffer]>([
    ["gzip", gzipSync],
    ["zstd", (bytes) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_windowLog]: 16 } })],
  ])("is decompressed to the limit and no further: %s", async (compression, pack) => {
    const bomb = pack(Buffer.alloc(64 * MAX_BYTES));
    const { outcome, reserved } = await reading([bomb], compression);
    expect(outcome).toMatchObject({ code: "too_large" });
    expect(reserved).toBeLessThanOrEqual(MAX_BYTES);
  });
});
