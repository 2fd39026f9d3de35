/**
 * Reads lines of JSON Lines on a worker thread: parses each, takes its fields and digests its text,
 * so that no other thread holds the text. A broken line harms no other.
 */
import { hash } from "node:crypto";
import type { TaskControl } from "../control.ts";
import { decodeUtf8 } from "../text/decode.ts";
import { createDigester } from "../text/digester.ts";
import { readRecord } from "./record.ts";
import type { LineFields, LineRecord } from "./record.ts";
import type { LinesInput, LinesOutput, ReadLine } from "./tasks.ts";

const LF = 10;
const CR = 13;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** A longer line is no document. */
const LINE_BYTES = 64 * 1024 * 1024;

/** Reads the lines. Throws `cancelled`. */
export function run(input: LinesInput, control: TaskControl): LinesOutput {
  // TextDecoder and JSON take no shared memory.
  const bytes = Buffer.from(input.bytes);
  const wanted = input.only && new Set(input.only);
  const digester = input.digest && createDigester(input.digest, control);
  const lines: ReadLine[] = [];
  for (const { number, start, end } of linesOf(bytes, input.firstLine)) {
    if (wanted?.has(number) === false) continue;
    const line = readLine(bytes.subarray(start, end), number, input.fields);
    if (line === undefined) continue;
    if ("wrong" in line) {
      lines.push({ number, ...line });
      continue;
    }
    const { content, ...record } = line.record;
    digester?.add({ text: content, rereadable: input.rereadable });
    lines.push({ number, offset: start, length: end - start, record, version: line.version });
  }
  return { lines, ...(digester && { digests: digester.end() }) };
}

interface Bounds {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** The lines at LF or CRLF; of the first line of all a byte order mark is left out. */
export function* linesOf(bytes: Buffer, firstLine: number): Generator<Bounds> {
  let number = firstLine;
  for (let at = 0; at < bytes.length; number += 1) {
    const found = bytes.indexOf(LF, at);
    const next = found < 0 ? bytes.length : found;
    const end = next > at && bytes[next - 1] === CR ? next - 1 : next;
    const isMarked = number === 1 && BYTE_ORDER_MARK.every((byte, i) => bytes[at + i] === byte);
    yield { number, start: isMarked ? at + BYTE_ORDER_MARK.length : at, end };
    at = next + 1;
  }
}

/** A record with its version, what is wrong, or nothing for a blank line. */
export function readLine(
  bytes: Buffer,
  number: number,
  fields: LineFields,
):
  | { readonly record: LineRecord; readonly version: string }
  | { readonly wrong: string; readonly reason: "too large" | "broken line" }
  | undefined {
  if (bytes.byteLength > LINE_BYTES) return { wrong: "is longer than 64 MiB", reason: "too large" };
  if (isBlank(bytes)) return undefined;
  const broken = (wrong: string) => ({ wrong, reason: "broken line" }) as const;
  const text = decodeUtf8(bytes, true);
  if (text === undefined) return broken("is not valid UTF-8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return broken(`is not valid JSON: ${(error as Error).message.slice(0, 120)}`);
  }
  const record = readRecord(value, number, fields);
  if ("wrong" in record) return broken(record.wrong);
  return { record, version: versionOf(bytes, fields) };
}

/**
 * A line whose text is read from another field has another version. The usual fields, and that of
 * the id, which is the ref, are no part of it.
 */
function versionOf(line: Buffer, { text }: LineFields): string {
  const version = hash("sha256", line, "hex");
  return text === undefined ? version : `${version}:${text}`;
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.byteLength < 256 && bytes.every((byte) => byte === 32 || byte === 9 || byte === CR);
}
