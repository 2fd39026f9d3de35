/**
 * Limits messages before the rpc library reads them, which it does synchronously: messages are
 * decompressed and their values counted here, and messages of one stream are passed on in separate
 * turns of the event loop.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { nextTurn, Turns } from "../src/kernel/async/turns.ts";
import { assertFewFields, assertFewValues } from "./rpc-values.ts";

/** Supported request compressions. */
export const packings: readonly (typeof compressionGzip)[] = [compressionGzip, compressionBrotli];

/** A larger message is parsed in another turn than it is counted in. */
const LARGE_BYTES = 64 * 1024;
/** Before each message of a stream: one byte of flags and four of its length. */
const ENVELOPE_BYTES = 5;
const PACKED = 1;
/** A whole message without an envelope, as in Connect's unary methods. */
const UNARY = /^application\/(json|proto)\b/i;

/** Message format by the request's headers. */
interface Format {
  readonly desc: DescMessage;
  readonly isJson: boolean;
  readonly packing: (typeof packings)[number] | undefined;
  readonly limitBytes: number;
}

/**
 * The request with its messages decompressed and counted as the library reads them. A message above
 * the limit is left to the library to refuse.
 */
export function countedMessages(
  request: UniversalServerRequest,
  desc: DescMessage,
  limitBytes: number,
): UniversalServerRequest {
  const { body, header } = request;
  if (typeof body !== "object" || body === null || !(Symbol.asyncIterator in body)) return request;
  const type = header.get("content-type") ?? "";
  const unary = UNARY.test(type);
  const encodingName = unary
    ? "content-encoding"
    : type.startsWith("application/grpc")
      ? "grpc-encoding"
      : "connect-content-encoding";
  const packing = packings.find(({ name }) => name === header.get(encodingName));
  const format: Format = { desc, isJson: /\bjson\b/i.test(type), packing, limitBytes };
  if (!unary) return { ...request, body: streamMessages(body, format) };
  if (packing === undefined) return { ...request, body: unaryMessage(body, format) };
  const unpacked = new Headers(header);
  unpacked.delete("content-encoding");
  unpacked.delete("content-length");
  return { ...request, header: unpacked, body: unaryMessage(body, format) };
}

async function* unaryMessage(
  chunks: AsyncIterable<Uint8Array>,
  format: Format,
): AsyncGenerator<Uint8Array, void, undefined> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    held.push(chunk);
    // The rest of it would not change the library's error.
    if (bytes > format.limitBytes) return yield* held;
  }
  yield await counted(oneBuffer(held), format, true);
}

async function* streamMessages(
  chunks: AsyncIterable<Uint8Array>,
  format: Format,
): AsyncGenerator<Uint8Array, void, undefined> {
  const turns = new Turns();
  let held: Uint8Array[] = [];
  let bytes = 0;
  let wanted = ENVELOPE_BYTES;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    while (bytes >= wanted) {
      if (turns.over) await turns.give();
      const whole = oneBuffer(held);
      wanted = ENVELOPE_BYTES + whole.readUInt32BE(1);
      if (wanted - ENVELOPE_BYTES > format.limitBytes) return yield* endless(whole, chunks);
      const rest = bytes >= wanted ? whole.subarray(wanted) : whole;
      held = [rest];
      if (rest === whole) break;
      const flags = whole[0] ?? 0;
      const message = await counted(
        whole.subarray(ENVELOPE_BYTES, wanted),
        format,
        (flags & PACKED) !== 0,
      );
      yield envelope(flags & (format.packing === undefined ? 0xff : ~PACKED), message);
      bytes = rest.length;
      wanted = ENVELOPE_BYTES;
    }
  }
  if (bytes > 0) yield Buffer.concat(held);
}

function oneBuffer(pieces: readonly Uint8Array[]): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined
    ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
    : Buffer.concat(pieces);
}

/** Streams a message above the limit: the library refuses it by its head. */
async function* endless(
  begun: Uint8Array,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield begun;
  yield* chunks;
}

function envelope(flags: number, message: Uint8Array): Uint8Array {
  const whole = Buffer.allocUnsafe(ENVELOPE_BYTES + message.length);
  whole[0] = flags;
  whole.writeUInt32BE(message.length, 1);
  whole.set(message, ENVELOPE_BYTES);
  return whole;
}

async function counted(
  sent: Uint8Array,
  { desc, isJson, packing, limitBytes }: Format,
  isPacked: boolean,
): Promise<Uint8Array> {
  const message =
    isPacked && packing !== undefined && sent.length > 0
      ? await packing.decompress(sent, limitBytes)
      : sent;
  if (isJson) assertFewValues(message);
  else assertFewFields(desc, message);
  if (message.length > LARGE_BYTES) await nextTurn();
  return message;
}
