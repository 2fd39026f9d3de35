/**
 * Opens a file or a pipe to be read to its end once, so that waiting for its bytes can always be
 * given up.
 */
import { close, constants, createReadStream, fstat, open } from "node:fs";
import { Socket } from "node:net";
import { addAbortSignal } from "node:stream";
import type { Readable } from "node:stream";
import { isatty, ReadStream } from "node:tty";
import { promisify } from "node:util";
import { versionOf } from "../../../workers/text/location.ts";
import type { DocumentLocation } from "./archive.ts";

const CHUNK_BYTES = 256 * 1024;
const openFile = promisify(open);
const factsOf = promisify(fstat);
const closeFile = promisify(close);

/** Bytes with the share of the source that they end at. */
export interface Chunk {
  readonly bytes: Uint8Array;
  readonly fraction: number;
  /** Of a plain file: lines can be read again. */
  readonly file?: Pick<DocumentLocation, "path" | "version">;
}

/** Bytes on their way, with how many came so far. */
type SourceStream = Readable & { readonly bytesRead: number };

/** An open source. */
export interface OpenSource {
  /** Whoever ends it, or lets the signal fire, closes the source. */
  readonly stream: SourceStream;
  /** 0 for what has no size, such as a pipe. */
  readonly sizeBytes: number;
  /** Identifies the state of a regular file; undefined for anything else. */
  readonly version: string | undefined;
}

/**
 * Opens a path; the signal destroys its stream. A named pipe without a writer opens at once, and
 * its stream waits for the first writer and ends with the last. Throws the system's error.
 */
export async function openSource(path: string, signal: AbortSignal): Promise<OpenSource> {
  signal.throwIfAborted();
  // Without O_NONBLOCK the open of a pipe waits for a writer on one of the few threads that serve
  // all files, and nothing ends that.
  const fd = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = await factsOf(fd, { bigint: true });
    signal.throwIfAborted();
    return {
      stream: addAbortSignal(signal, streamOf(fd, facts.isFIFO())),
      sizeBytes: Number(facts.size),
      version: facts.isFile() ? versionOf(facts) : undefined,
    };
  } catch (error) {
    await closeFile(fd);
    throw error;
  }
}

/**
 * A pipe or a terminal is waited for in the event loop: a plain read of one that is open without
 * blocking fails with EAGAIN while its writer pauses, and finds the end where none has come yet.
 * Linux wakes nobody for a pipe until the first writer wrote or left.
 */
function streamOf(fd: number, isPipe: boolean): SourceStream {
  if (isPipe) return new Socket({ fd, readable: true, writable: false });
  if (isatty(fd)) return new ReadStream(fd);
  return createReadStream("", { fd, highWaterMark: CHUNK_BYTES });
}
