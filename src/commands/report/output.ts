/**
 * Writes long reports to a stream without holding them: waits when the reader is slow, stops when
 * it is gone.
 */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { toStewardError } from "../../kernel/base/errors.ts";

const PIECE_BYTES = 64 * 1024;

/** Codes of a stream whose reader went away. */
const READER_GONE: ReadonlySet<string | undefined> = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

/** Parts of an output in order, made one at a time. */
export type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/**
 * Writes every piece in order; resolves to false when the reader went away before the end, as in `…
 * | head`. Rejects with the reason when writing fails otherwise, e.g. `disk_full`, and with the
 * signal's when that fires.
 */
export async function writeAll(
  pieces: Pieces,
  stream: Writable,
  signal?: AbortSignal,
): Promise<boolean> {
  let gone = stream.destroyed || stream.writableEnded;
  let failure: NodeJS.ErrnoException | undefined;
  const leave = (error?: NodeJS.ErrnoException): void => {
    gone = true;
    if (error !== undefined && !READER_GONE.has(error.code)) failure ??= error;
  };
  stream.on("error", leave);
  const close = (): void => leave();
  stream.on("close", close);
  try {
    let held: Buffer[] = [];
    let heldBytes = 0;
    for await (const piece of pieces) {
      const bytes = Buffer.from(piece as string);
      held.push(bytes);
      heldBytes += bytes.byteLength;
      if (heldBytes < PIECE_BYTES) continue;
      if (gone) break;
      signal?.throwIfAborted();
      await writePiece(stream, Buffer.concat(held), signal);
      held = [];
      heldBytes = 0;
    }
    if (!gone && heldBytes > 0) await writePiece(stream, Buffer.concat(held), signal);
    if (!gone)
      await writeLast(stream, signal).catch((error: NodeJS.ErrnoException) => {
        leave(error);
        // The error of the last piece comes with its completion; the stream tells of it later.
        stream.once("error", () => {});
      });
    signal?.throwIfAborted();
    if (failure !== undefined) throw toStewardError(failure);
    return !gone;
  } finally {
    stream.off("error", leave);
    stream.off("close", close);
  }
}

async function writePiece(
  stream: Writable,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (stream.write(bytes)) return;
  const left = new AbortController();
  const either = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  try {
    await Promise.race([
      once(stream, "drain", { signal: either }),
      once(stream, "close", { signal: either }),
    ]);
  } catch (error) {
    // `once` also rejects with the stream's own error, which the caller sees for itself.
    if (signal?.aborted === true) throw signal.reason ?? error;
  } finally {
    left.abort();
  }
}

function writeLast(stream: Writable, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal?.reason as Error);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
    stream.write("", (error) => {
      signal?.removeEventListener("abort", stop);
      if (error) reject(error);
      else resolve();
    });
  });
}
