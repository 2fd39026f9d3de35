/**
 * The other servers of `bench/flows.ts`, each in a process of its own. `bare`: parses each line of a
 * body and answers, the most that Node can do with these bodies. `sink`: takes OTLP over HTTP and
 * counts log records.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServerReport } from "./flows-protocol.ts";

const [kind] = process.argv.slice(2);
let logRecords = 0;
let parsed: unknown;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request
    .on("data", (chunk: Buffer) => chunks.push(chunk))
    .on("end", () => {
      const body = Buffer.concat(chunks);
      if (kind === "bare") {
        for (const line of body.toString().split("\n")) parsed = JSON.parse(line);
        response.end(parsed === undefined ? "" : '{"text":"Success","code":0}');
        return;
      }
      if (request.url === "/v1/logs") logRecords += countLogRecords(body);
      response.setHeader("content-type", "application/x-protobuf").end();
    });
});

/** Messages at the path 1, 2, 2 of an export request: resources, scopes, records. */
function countLogRecords(message: Buffer): number {
  let records = 0;
  for (const resource of fields(message, 1))
    for (const scope of fields(resource, 2)) for (const _ of fields(scope, 2)) records += 1;
  return records;
}

/** The length-delimited fields of this number. */
function* fields(message: Buffer, wanted: number): Generator<Buffer, void, undefined> {
  for (let at = 0; at < message.length;) {
    const [tag, afterTag] = varint(message, at);
    if ((tag & 7) === 2) {
      const [length, from] = varint(message, afterTag);
      if (tag >>> 3 === wanted) yield message.subarray(from, from + length);
      at = from + length;
    } else if ((tag & 7) === 0) [, at] = varint(message, afterTag);
    else at = afterTag + ((tag & 7) === 1 ? 8 : 4);
  }
}

function varint(message: Buffer, from: number): [value: number, end: number] {
  let value = 0;
  for (let at = from, scale = 1; at < message.length; at += 1, scale *= 128) {
    const byte = message[at] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) return [value, at + 1];
  }
  return [value, message.length];
}

server.listen(0, "127.0.0.1", () =>
  process.send?.({ port: (server.address() as AddressInfo).port } satisfies ServerReport),
);
process.on("message", () => process.send?.({ logRecords } satisfies ServerReport));
process.on("disconnect", () => process.exit());
