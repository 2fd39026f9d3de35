/** Cuts a stream of bytes into slices of whole lines, whatever its chunks, with bounded memory. */
import type { Chunk } from "./open-source.ts";

/** Lines that follow each other in their stream. */
export interface Slice {
  /** Number of the first line, from 1. */
  readonly firstLine: number;
  /** Where it begins in the stream. */
  readonly offset: number;
  /** In shared memory, for a worker; undefined stands for one line that is too long. */
  readonly bytes: Uint8Array<SharedArrayBuffer> | undefined;
  /** Share of the source read so far. */
  readonly fraction: number;
  readonly file: Chunk["file"];
}

const LF = 10;

/** Sizes in bytes. */
export interface SliceLimits {
  /** A slice is cut once it has this much. */
  readonly slice: number;
  /** A line is kept up to this much. */
  readonly line: number;
}

/**
 * The slices of a stream. Each has the size of a slice and a chunk more, or that of a long line. A
 * line over the limit comes alone and without its bytes.
 */
export async function* sliceLines(
  chunks: AsyncIterable<Chunk>,
  limits: SliceLimits,
): AsyncGenerator<Slice> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  /** Of the held bytes, those up to the last line end. */
  let wholeBytes = 0;
  /** The line that began is too long: its bytes are not kept. */
  let isTooLong = false;
  let firstLine = 1;
  let offset = 0;
  let place: Pick<Slice, "fraction" | "file"> = { fraction: 0, file: undefined };
  const cut = (length: number): Slice => {
    const all = isTooLong ? undefined : copyShared(held, length);
    const slice = { firstLine, offset, bytes: all, ...place };
    const rest = isTooLong ? [] : beyond(held, length);
    firstLine += all ? countLines(all) : 1;
    offset += length;
    held = rest;
    heldBytes -= length;
    wholeBytes = 0;
    isTooLong = false;
    return slice;
  };
  for await (const { bytes, fraction, file } of chunks) {
    place = { fraction, file };
    let chunk = bytes;
    if (isTooLong) {
      const end = chunk.indexOf(LF);
      heldBytes += end < 0 ? chunk.byteLength : end + 1;
      if (end < 0) continue;
      yield cut(heldBytes);
      chunk = chunk.subarray(end + 1);
    }
    if (chunk.byteLength === 0) continue;
    const lastEnd = chunk.lastIndexOf(LF);
    if (lastEnd >= 0) wholeBytes = heldBytes + lastEnd + 1;
    held.push(chunk);
    heldBytes += chunk.byteLength;
    if (wholeBytes > 0 && heldBytes >= limits.slice) yield cut(wholeBytes);
    // One byte more allows for the CR of a line that just fits.
    isTooLong = wholeBytes === 0 && heldBytes > limits.line + 1;
    if (isTooLong) held = [];
  }
  if (heldBytes > 0) yield cut(heldBytes);
}

/** Both halves of a slice at a line end; undefined when it is one line. */
export function halve(slice: Slice): readonly [Slice, Slice] | undefined {
  const { bytes } = slice;
  if (bytes === undefined) return undefined;
  const middle = bytes.byteLength >>> 1;
  const before = bytes.lastIndexOf(LF, middle);
  const at = (before >= 0 ? before : bytes.indexOf(LF, middle)) + 1;
  if (at === 0 || at === bytes.byteLength) return undefined;
  const first = bytes.subarray(0, at);
  return [
    { ...slice, bytes: first },
    {
      ...slice,
      bytes: bytes.subarray(at),
      firstLine: slice.firstLine + countLines(first),
      offset: slice.offset + at,
    },
  ];
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return lines;
}

function copyShared(parts: readonly Uint8Array[], length: number): Uint8Array<SharedArrayBuffer> {
  const copy = new Uint8Array(new SharedArrayBuffer(length));
  let at = 0;
  for (const part of parts) {
    const taken = part.subarray(0, length - at);
    copy.set(taken, at);
    at += taken.byteLength;
  }
  return copy;
}

/** What follows the first `length` bytes, without holding on to the memory of what does not. */
function beyond(parts: readonly Uint8Array[], length: number): Uint8Array[] {
  let before = length;
  return parts.flatMap((part) => {
    const skipped = Math.min(before, part.byteLength);
    before -= skipped;
    if (skipped === part.byteLength) return [];
    return [skipped === 0 ? part : part.slice(skipped)];
  });
}
