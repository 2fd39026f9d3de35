/**
 * Writes long reports to a stream without holding them: waits when the reader is slow, stops when
 * it is gone.
 */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { toStewardError } from "../../kernel/base/errors.ts";

const PIECE_CHARACTERS = 64 * 1024;

/**
 * Writes every piece in order; resolves to false when the reader went away before the end, as in `…
 * | head`. Rejects with the reason when writing fails otherwise, e.g. `disk_full`, and with the
 * signal's when that fires.
 */
export async function writeAll(
  pieces: Iterable<string>,
  stream: Writable,
  signal?: AbortSignal,
): Promise<boolean> {
  let gone = stream.destroyed || stream.writableEnded;
  let failure: NodeJS.ErrnoException | undefined;
  const leave = (error?: NodeJS.ErrnoException): void => {
    gone = true;
    if (error !== undefined && error.code !== "EPIPE") failure ??= error;
  };
  stream.on("error", leave);
  const close = (): void => leave();
  stream.on("close", close);
  try {
    let held = "";
    for (const piece of pieces) {
      held += piece;
      if (held.length < PIECE_CHARACTERS) continue;
      if (gone) break;
      signal?.throwIfAborted();
      await writePiece(stream, held, signal);
      held = "";
    }
    if (!gone && held !== "") await writePiece(stream, held, signal);
    // The error of the last piece comes with its completion.
    if (!gone) await writeLast(stream, signal);
    if (failure !== undefined) throw toStewardError(failure);
    return !gone;
  } finally {
    stream.off("error", leave);
    stream.off("close", close);
  }
}

async function writePiece(
  stream: Writable,
  text: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (stream.write(text)) return;
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
    stream.write("", () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
  });
}
