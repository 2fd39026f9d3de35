/**
 * JSON Lines as an archive: each line is a document whose ref is its `id`. A broken line is named
 * by its number and harms no other.
 */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import type { LineFields } from "../../../workers/extract/record.ts";
import { readLines } from "../../../workers/extract/tasks.ts";
import type { LinesInput, LinesOutput, ReadLine } from "../../../workers/extract/tasks.ts";
import { versionOf } from "../../../workers/text/location.ts";
import { nextTurn } from "../../kernel/async/turns.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type {
  Archive,
  ArchiveBatch,
  ArchiveItem,
  DigestedDocument,
  ReadOptions,
} from "./archive.ts";
import { failed, readAlready } from "./archive.ts";
import { fileToClaim } from "./claims.ts";
import { withDigest } from "./digests.ts";
import { asArchiveError } from "./folder.ts";
import { openSource } from "./open-source.ts";
import type { Chunk } from "./open-source.ts";
import { mapInOrder } from "./ordered.ts";
import { failureOf } from "./read-files.ts";
import { halve, sliceLines } from "./slices.ts";
import type { Slice } from "./slices.ts";
import { systemCode } from "./unreadable.ts";
import { unpackChunks, UNPACKING_FAILED } from "./unpack-chunks.ts";

/** A slice is enough that a message costs little beside the work. */
const LIMITS = { slice: 512 * 1024, line: 64 * 1024 * 1024 };
const LF = 10;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** For the lines of a slice. */
const SLICE_MS = 60_000;

/** A file, or a stream that is read once and has no size. */
type JsonlSource = { readonly path: string } | { readonly stream: Readable };

/** Receives the bytes of a source as they are read, in order. */
export type RecordBytes = (bytes: Uint8Array) => Promise<void>;

export interface JsonlOptions {
  readonly name: string;
  readonly source: JsonlSource;
  /** Of a source that cannot be read twice. */
  readonly record?: RecordBytes | undefined;
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

async function* readSource(
  pool: Pool,
  { name, source, fields = {}, record }: JsonlOptions,
  options: ReadOptions,
): AsyncGenerator<ArchiveBatch> {
  await checkSource(name, source, options.signal);
  if ("path" in source && options.claim?.(await fileToClaim(source.path)) === false) {
    yield { items: [readAlready(name)], fraction: 1 };
    return;
  }
  const before = await stateOf(source);
  const slices = readSlices(pool, { name, source, record }, options.signal);
  const firstLines = new Map<string, number>();
  // One slice more than there are threads, so that none of them waits for this one.
  const read = mapInOrder(slices, pool.status().threads + 1, async (slice) => ({
    ...(await readSlice(pool, slice, fields, options)),
    fraction: slice.fraction,
  }));
  for await (const { items, blocks, fraction } of read) {
    yield { items: withoutEqualIds(items, firstLines), blocks, fraction };
    await nextTurn(options.signal);
  }
  // Lines that are not written yet may be missing: none of the known documents counts as gone.
  if (before !== undefined && (await stateOf(source)) !== before)
    yield { items: [failed(name, "changed", CHANGED, "any")], fraction: 1 };
}

const CHANGED = "was changed while it was read, so that lines may be missing";

/** The state of a regular file; undefined for anything else, and for what is gone. */
async function stateOf(source: JsonlSource): Promise<string | undefined> {
  return "path" in source ? await sourceVersion(source.path).catch(() => undefined) : undefined;
}

/**
 * The lines of a source in slices, unpacked. Throws `upstream` when it cannot be read or unpacked,
 * and the signal's reason.
 */
export async function* readSlices(
  pool: Pool,
  { name, source, record }: Omit<JsonlOptions, "fields">,
  signal: AbortSignal,
): AsyncGenerator<Slice> {
  try {
    const chunks =
      "stream" in source ? streamChunks(source.stream, signal) : fileChunks(source.path, signal);
    const recorded = record === undefined ? chunks : recordChunks(chunks, record);
    yield* sliceLines(unpackChunks(recorded, pool, signal), LIMITS);
  } catch (error) {
    if (signal.aborted) throw error;
    const code = systemCode(error);
    if (code !== undefined && UNPACKING_FAILED.test(code))
      throw new StewardError("upstream", `archive ${name}: cannot be unpacked: ${code}`, {
        rule: code,
        cause: error,
      });
    throw "path" in source ? asArchiveError(name, source.path, error) : error;
  }
}

async function* recordChunks(
  chunks: AsyncGenerator<Chunk>,
  record: RecordBytes,
): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    await record(chunk.bytes);
    yield chunk;
  }
}

/** The state of a regular file; undefined for anything else. Throws the system's error. */
export async function sourceVersion(path: string): Promise<string | undefined> {
  const facts = await stat(path, { bigint: true });
  return facts.isFile() ? versionOf(facts) : undefined;
}

/** A line by its number, from 1; one over 64 MiB has no bytes. */
export interface RawLine {
  readonly number: number;
  readonly bytes: Uint8Array | undefined;
}

/**
 * The lines of a file of JSON Lines as they stand in it, unpacked: with a carriage return at the
 * end, without the line feed and without a byte order mark. Numbered as documents are.
 */
export async function* readRawLines(
  pool: Pool,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<RawLine> {
  yield* rawLinesOf(readSlices(pool, { name: path, source: { path } }, signal), signal);
}

/** The lines of slices, one after the other. */
export async function* rawLinesOf(
  slices: AsyncIterable<Slice>,
  signal: AbortSignal,
): AsyncGenerator<RawLine> {
  for await (const { bytes, firstLine } of slices) {
    if (bytes === undefined) yield { number: firstLine, bytes };
    else yield* rawLines(bytes, firstLine);
    await nextTurn(signal);
  }
}

function* rawLines(bytes: Uint8Array, firstLine: number): Generator<RawLine> {
  let number = firstLine;
  for (let at = 0; at < bytes.length; number += 1) {
    const found = bytes.indexOf(LF, at);
    const end = found < 0 ? bytes.length : found;
    const isMarked = number === 1 && BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte);
    yield { number, bytes: bytes.subarray(isMarked ? BYTE_ORDER_MARK.length : at, end) };
    at = end + 1;
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

/** An item and the line it stands in. */
interface LineItem {
  readonly number: number;
  readonly item: ArchiveItem;
}

interface SliceItems {
  readonly items: readonly LineItem[];
  readonly blocks: readonly ArrayBuffer[];
}

/** The documents of a slice; a line that ends its thread costs only itself. */
async function readSlice(
  pool: Pool,
  slice: Slice,
  fields: LineFields,
  options: ReadOptions,
): Promise<SliceItems> {
  const { bytes, firstLine } = slice;
  const fail = (reason: string, detail: string): SliceItems => ({
    items: [{ number: firstLine, item: failed(lineRef(firstLine), reason, detail, "any") }],
    blocks: [],
  });
  if (bytes === undefined) return fail("too large", "is longer than 64 MiB");
  const input = { bytes, firstLine, fields, rereadable: slice.file !== undefined };
  try {
    return await readKnown(pool, slice, input, options);
  } catch (error) {
    options.signal.throwIfAborted();
    const halves = halve(slice);
    const failure = failureOf(toStewardError(error).code, SLICE_MS);
    if (halves === undefined) return fail(failure.reason, failure.detail);
    const [first, second] = [
      await readSlice(pool, halves[0], fields, options),
      await readSlice(pool, halves[1], fields, options),
    ];
    return {
      items: [...first.items, ...second.items],
      blocks: [...first.blocks, ...second.blocks],
    };
  }
}

/** Digests the texts of those lines that are not known in their version. */
async function readKnown(
  pool: Pool,
  slice: Slice,
  input: LinesInput,
  options: ReadOptions,
): Promise<SliceItems> {
  if (options.force)
    return itemsOf(slice, await runLines(pool, { ...input, digest: options.digest }, options));
  const { lines } = await runLines(pool, input, options);
  const isKnown = (line: ReadLine): boolean =>
    "record" in line && options.known(line.record.id, line.version);
  const known = new Set(lines.filter(isKnown).map(({ number }) => number));
  const only = lines
    .filter((line) => "record" in line && !known.has(line.number))
    .map(({ number }) => number);
  const fresh =
    only.length === 0
      ? { items: [], blocks: [] }
      : itemsOf(slice, await runLines(pool, { ...input, only, digest: options.digest }, options));
  const read = new Map(fresh.items.map(({ number, item }) => [number, item]));
  return {
    items: lines.map((line) => ({
      number: line.number,
      item: read.get(line.number) ?? unreadItem(line),
    })),
    blocks: fresh.blocks,
  };
}

function unreadItem(line: ReadLine): ArchiveItem {
  return "record" in line
    ? { kind: "unchanged", ref: line.record.id }
    : failed(lineRef(line.number), line.reason, line.wrong, "any");
}

async function runLines(
  pool: Pool,
  input: LinesInput,
  { signal }: ReadOptions,
): Promise<LinesOutput> {
  const options = { signal, inFlight: 1, tries: 1, deadlineMs: SLICE_MS } as const;
  for await (const output of pool.map(readLines, [input], options)) return output;
  throw new StewardError("internal", "the task that reads lines gave nothing");
}

function itemsOf(slice: Slice, { lines, digests }: LinesOutput): SliceItems {
  let at = 0;
  const items = lines.map((line): LineItem => {
    if (!("record" in line) || !digests) return { number: line.number, item: unreadItem(line) };
    return { number: line.number, item: withDigest(documentOf(slice, line), digests, at++) };
  });
  return { items, blocks: digests?.block ? [digests.block] : [] };
}

function documentOf(
  { file, offset }: Slice,
  {
    number,
    record,
    version,
    offset: within,
    length,
  }: Extract<ReadLine, { readonly record: object }>,
): DigestedDocument["document"] {
  const { id, field, title, ...rest } = record;
  const location = file && {
    ...file,
    offset: offset + within,
    length,
    form: "line" as const,
    field,
  };
  return {
    ...rest,
    ref: id,
    version,
    line: number,
    title: title ?? id,
    ...(location && { location }),
    notes: [],
  };
}

/** Of lines with one id the first counts. */
function withoutEqualIds(
  items: readonly LineItem[],
  firstLines: Map<string, number>,
): ArchiveItem[] {
  return items.map(({ number, item }) => {
    if (item.kind === "skipped") return item;
    const id = item.kind === "digested" ? item.document.ref : item.ref;
    const first = firstLines.get(id);
    if (first === undefined) {
      firstLines.set(id, number);
      return item;
    }
    return failed(
      lineRef(number),
      "equal id",
      `has the id ${JSON.stringify(id.slice(0, 80))} of line ${first}, which counts`,
      "none",
    );
  });
}

function lineRef(number: number): string {
  return `line ${number}`;
}
