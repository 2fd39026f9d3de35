/**
 * JSON Lines as an archive: each line is a document whose ref is its `id`. A broken line is named
 * by its number and harms no other.
 */
import { hash } from "node:crypto";
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { parseJsonLine } from "../../../workers/extract/tasks.ts";
import type { JsonLineValue } from "../../../workers/extract/tasks.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { nextTurn } from "../../kernel/async/turns.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { TEXT_UNITS } from "../documents/limits.ts";
import type { Archive, ArchiveBatch, ArchiveItem, ReadOptions } from "./archive.ts";
import { failed, readAlready } from "./archive.ts";
import { inBatches } from "./batches.ts";
import type { PositionedItem } from "./batches.ts";
import { decodeUtf8 } from "../../../workers/text/decode.ts";
import { asArchiveError } from "./folder.ts";
import { createLineSplitter } from "./lines.ts";
import type { Line } from "./lines.ts";
import { openSource } from "./open-source.ts";
import type { Chunk } from "./open-source.ts";
import { readRecord, textFieldsOf } from "./record.ts";
import type { LineFields } from "./record.ts";
import { systemCode } from "./unreadable.ts";
import { unpackChunks, UNPACKING_FAILED } from "./unpack-chunks.ts";

const LINE_BYTES = 64 * 1024 * 1024;
/** What the main thread may parse in one go. */
const PARSED_HERE_BYTES = 256 * 1024;
const TURN_MS = 5;

/** A file, or a stream that is read once and has no size. */
type JsonlSource = { readonly path: string } | { readonly stream: Readable };

export interface JsonlOptions {
  readonly name: string;
  readonly source: JsonlSource;
  /** Names of the fields of id and text; the usual ones when absent. */
  readonly fields?: LineFields;
}

/** An archive over JSON Lines, which may be compressed by gzip, zstd or bzip2. */
export function createJsonlArchive(deps: { readonly pool: Pool }, options: JsonlOptions): Archive {
  return {
    name: options.name,
    kind: "jsonl",
    check: (signal) => checkSource(options.name, options.source, signal),
    read: (read) => readSource(deps.pool, options, read),
  };
}

async function checkSource(name: string, source: JsonlSource, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if ("stream" in source) return;
  try {
    // A pipe is as good as a file: `steward dedup <(produce lines)`.
    if ((await stat(source.path)).isDirectory())
      throw new StewardError("upstream", `archive ${name}: ${source.path} is a folder`, {
        rule: "EISDIR",
        remedy: "give the path of a JSON Lines file",
      });
    await access(source.path, constants.R_OK);
  } catch (error) {
    throw asArchiveError(name, source.path, error);
  }
}

// A pipe without a name, such as that of `<(produce lines)`, has no real path and is one of its
// own.
function identityOf(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

async function* readSource(
  pool: Pool,
  { name, source, fields = {} }: JsonlOptions,
  options: ReadOptions,
): AsyncGenerator<ArchiveBatch> {
  await checkSource(name, source, options.signal);
  if ("path" in source && options.claim?.(await identityOf(source.path)) === false) {
    yield { items: [readAlready(name)], fraction: 1 };
    return;
  }
  try {
    const chunks =
      "stream" in source
        ? streamChunks(source.stream, options.signal)
        : fileChunks(source.path, options.signal);
    const unpacked = unpackChunks(chunks, pool, options.signal);
    yield* inBatches(readLines(pool, unpacked, fields, options));
  } catch (error) {
    if (options.signal.aborted) throw error;
    const code = systemCode(error);
    if (code !== undefined && UNPACKING_FAILED.test(code))
      throw new StewardError("upstream", `archive ${name}: cannot be unpacked: ${code}`, {
        rule: code,
        cause: error,
      });
    throw "path" in source ? asArchiveError(name, source.path, error) : error;
  }
}

async function* streamChunks(stream: Readable, signal: AbortSignal): AsyncGenerator<Chunk> {
  const stop = (): void => void stream.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const bytes of stream)
      yield {
        bytes: typeof bytes === "string" ? Buffer.from(bytes) : (bytes as Uint8Array),
        fraction: 0,
      };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function* fileChunks(path: string, signal: AbortSignal): AsyncGenerator<Chunk> {
  const { stream, sizeBytes, version } = await openSource(path, signal);
  const plain = version === undefined ? {} : { file: { path: resolve(path), version } };
  for await (const chunk of stream)
    yield {
      bytes: chunk as Uint8Array,
      fraction: sizeBytes > 0 ? Math.min(1, stream.bytesRead / sizeBytes) : 0,
      ...plain,
    };
}

async function* readLines(
  pool: Pool,
  chunks: AsyncIterable<Chunk>,
  fields: LineFields,
  options: ReadOptions,
): AsyncGenerator<PositionedItem> {
  const splitter = createLineSplitter(LINE_BYTES);
  const firstLines = new Map<string, number>();
  let fraction = 0;
  let file: Chunk["file"];
  let turnEnds = performance.now() + TURN_MS;
  const position = async (line: Line): Promise<PositionedItem | undefined> => {
    const at = { ...line, ...(file && { file }) };
    const item = await readLine(pool, at, fields, firstLines, options);
    return item && { item, fraction };
  };
  for await (const chunk of chunks) {
    ({ fraction, file } = chunk);
    for (const line of splitter.push(chunk.bytes)) {
      const positioned = await position(line);
      if (positioned !== undefined) yield positioned;
      if (performance.now() < turnEnds) continue;
      await nextTurn(options.signal);
      turnEnds = performance.now() + TURN_MS;
    }
  }
  for (const line of splitter.end()) {
    const positioned = await position(line);
    if (positioned !== undefined) yield positioned;
  }
}

async function readLine(
  pool: Pool,
  { number, bytes, offset, file }: Line & Pick<Chunk, "file">,
  fields: LineFields,
  firstLines: Map<string, number>,
  options: ReadOptions,
): Promise<ArchiveItem | undefined> {
  const position = `line ${number}`;
  const broken = (wrong: string): ArchiveItem => failed(position, "broken line", wrong, "any");
  if (bytes === undefined) return failed(position, "too large", "is longer than 64 MiB", "any");
  if (isBlank(bytes)) return undefined;
  const parsed =
    bytes.byteLength <= PARSED_HERE_BYTES
      ? parseHere(bytes)
      : await parseOnPool(pool, bytes, fields, options.signal);
  if ("error" in parsed) return broken(parsed.error);
  const record = readRecord(parsed.value, number, fields);
  if ("wrong" in record) return broken(record.wrong);
  const { id, content, field, title, ...rest } = record;
  const first = firstLines.get(id);
  if (first !== undefined)
    return failed(
      position,
      "equal id",
      `has the id ${JSON.stringify(id.slice(0, 80))} of line ${first}, which counts`,
      "none",
    );
  firstLines.set(id, number);
  const version = hash("sha256", bytes, "hex");
  if (!options.force && options.known(id, version)) return { kind: "unchanged", ref: id };
  return {
    ...rest,
    kind: "document",
    ref: id,
    version,
    title: title ?? id,
    text: content,
    ...(parsed.beyond !== undefined && { beyond: parsed.beyond }),
    ...(file &&
      content.length <= TEXT_UNITS && {
        location: { ...file, offset, length: bytes.byteLength, form: "line" as const, field },
      }),
    notes: [],
  };
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.byteLength < 256 && bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}

function parseHere(bytes: Uint8Array): JsonLineValue {
  const text = decodeUtf8(bytes, true);
  if (text === undefined) return { error: "is not valid UTF-8" };
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch (error) {
    return { error: `is not valid JSON: ${(error as Error).message.slice(0, 120)}` };
  }
}

async function parseOnPool(
  pool: Pool,
  bytes: Uint8Array,
  fields: LineFields,
  signal: AbortSignal,
): Promise<JsonLineValue> {
  // Two units more than are kept, so that it is seen that something was cut off.
  const line = { bytes, textFields: textFieldsOf(fields), units: TEXT_UNITS + 2 };
  for await (const value of pool.map(parseJsonLine, [line], { signal, inFlight: 1 })) return value;
  return { error: "cannot be parsed" };
}
