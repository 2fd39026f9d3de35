import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countedMessages } from "../../gateway/rpc-messages.ts";
import { ReadInfoRequestSchema } from "../../src/gen/steward/tokens/v1/engine_service_pb.ts";

const LIMIT = 100_000;

async function* chunksOf(body: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

function counted(
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  size = 1_000,
): UniversalServerRequest {
  const request: UniversalServerRequest = {
    httpVersion: "2",
    method: "POST",
    url: "http://localhost/",
    header: new Headers(headers),
    body: chunksOf(body, size),
    signal: new AbortController().signal,
    contextValues: undefined as never,
  };
  return countedMessages(request, ReadInfoRequestSchema, LIMIT);
}

async function bytesOf(request: UniversalServerRequest): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of request.body as AsyncIterable<Uint8Array>) parts.push(part);
  return Buffer.concat(parts);
}

function enveloped(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const info = (mount: string): Uint8Array =>
  toBinary(ReadInfoRequestSchema, create(ReadInfoRequestSchema, { mount }));
const grpc = { "content-type": "application/grpc" };

describe("messages between the wire and the rpc library", () => {
  it("come out of a stream as they went in, however its bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 200 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 400 }),
        fc.uint8Array({ maxLength: 4 }),
        async (mounts, size, rest) => {
          const sent = Buffer.concat([...mounts.map((mount) => enveloped(info(mount))), rest]);
          expect(await bytesOf(counted(sent, grpc, size))).toEqual(sent);
        },
      ),
    );
  });

  it("are unpacked, in a stream and alone", async () => {
    const message = info("m".repeat(50_000));
    const sent = Buffer.concat([enveloped(gzipSync(message), 1), enveloped(message)]);
    expect(await bytesOf(counted(sent, { ...grpc, "grpc-encoding": "gzip" }))).toEqual(
      Buffer.concat([enveloped(message), enveloped(message)]),
    );
    const alone = counted(gzipSync(message), {
      "content-type": "application/proto",
      "content-encoding": "gzip",
      "content-length": "7",
    });
    expect(await bytesOf(alone)).toEqual(Buffer.from(message));
    expect([alone.header.has("content-encoding"), alone.header.has("content-length")]).toEqual([
      false,
      false,
    ]);
  });

  it.each([
    [
      "packed in a stream",
      Buffer.from(enveloped(gzipSync(Buffer.alloc(30_003, Uint8Array.of(0xa0, 0x06, 1))), 1)),
      { ...grpc, "grpc-encoding": "gzip" },
    ],
    [
      "in a stream of JSON",
      enveloped(Buffer.from(`[${"1,".repeat(10_001)}1]`)),
      { "content-type": "application/connect+json" },
    ],
    [
      "alone in JSON",
      Buffer.from(`[${"1,".repeat(10_001)}1]`),
      { "content-type": "application/json" },
    ],
    [
      "alone and packed",
      gzipSync(`[${"1,".repeat(10_001)}1]`),
      { "content-type": "application/json; charset=utf-8", "content-encoding": "gzip" },
    ],
  ])("are refused with too many values, %s", async (_name, sent, headers) => {
    const error = await bytesOf(counted(sent, headers)).then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    expect([error?.code, error?.rawMessage]).toEqual([
      Code.ResourceExhausted,
      "the message has more than 10000 values; send less at a time",
    ]);
  });

  it("above the limit go through as they are, for the library to refuse", async () => {
    const sent = Buffer.concat([enveloped(Buffer.alloc(LIMIT + 1)), Buffer.from("more")]);
    expect(await bytesOf(counted(sent, grpc))).toEqual(sent);
    const alone = await bytesOf(
      counted(Buffer.alloc(3 * LIMIT), { "content-type": "application/proto" }),
    );
    expect(alone.length).toBeGreaterThan(LIMIT);
  });
});
