/** Writes long reports to a stream without holding them: waits when the reader is slow, stops when it is gone. */
import { once } from "node:events";
import type { Writable } from "node:stream";

const PIECE_CHARACTERS = 64 * 1024;

/** Writes every piece in order; resolves to false when the reader went away before the end, as in `… | head`. */
export async function writeAll(pieces: Iterable<string>, stream: Writable, signal?: AbortSignal): Promise<boolean> {
  let gone = stream.destroyed || stream.writableEnded;
  const leave = (): void => {
    gone = true;
  };
  stream.on("error", leave);
  stream.on("close", leave);
  try {
    let held = "";
    for (const piece of pieces) {
      held += piece;
      if (held.length < PIECE_CHARACTERS) continue;
      if (gone) return false;
      signal?.throwIfAborted();
      await writePiece(stream, held, signal);
      held = "";
    }
    if (!gone && held !== "") await writePiece(stream, held, signal);
    return !gone;
  } finally {
    stream.off("error", leave);
    stream.off("close", leave);
  }
}

async function writePiece(stream: Writable, text: string, signal: AbortSignal | undefined): Promise<void> {
  if (stream.write(text)) return;
  const left = new AbortController();
  const either = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  try {
    await Promise.race([once(stream, "drain", { signal: either }), once(stream, "close", { signal: either })]);
  } catch (error) {
    // `once` rejects with the stream's own error, which only says that the reader is gone; a cancel is the caller's.
    if (signal?.aborted === true) throw error;
  } finally {
    left.abort();
  }
}
