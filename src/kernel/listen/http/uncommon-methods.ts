/**
 * Supports methods that Node's HTTP/1.1 parser refuses, like Vault's `LIST`. The parser is fed in
 * pieces so that the first byte of every request is known for certain: a piece ends with a head or a
 * request, and the parser confirms it. There an uncommon method is passed to it as POST, and the
 * request it then reports gets its original method back. Nothing that a client could forge is added
 * to the head, and the number of pieces does not depend on what heads and bodies say.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { CARRIAGE_RETURN, LINE_FEED, RequestFraming } from "./request-framing.ts";

export type UncommonMethod = "LIST" | "SCAN";

/** The renaming of one port. */
export interface UncommonMethods {
  /**
   * Inserts itself between a socket and the parser that listens on it. Call once, right after the
   * parser has begun to listen.
   */
  watch(socket: Socket): void;
  /** Call for each request before anything else: restores its original method. */
  restore(request: IncomingMessage): void;
}

/** The timeout for the rest of a method that has begun, and the methods. */
export interface UncommonMethodsOptions {
  readonly methods: readonly UncommonMethod[];
  readonly headMs: number;
}

const STAND_IN = Buffer.from("POST", "latin1");

/** One for all connections of a port. */
export function createUncommonMethods(
  options: UncommonMethodsOptions,
  clock: Clock,
): UncommonMethods {
  const openings = options.methods.map((method) => ({
    method,
    bytes: Buffer.from(`${method} /`, "latin1"),
  }));
  const feeds = new WeakMap<Socket, Feed>();
  return {
    watch(socket) {
      const readers = socket.listeners("data") as ((chunk: Buffer) => void)[];
      const feed = new Feed(socket, {
        openings,
        clock,
        headMs: options.headMs,
        read: (chunk) => readers.forEach((reader) => reader.call(socket, chunk)),
      });
      feeds.set(socket, feed);
      for (const reader of readers) socket.off("data", reader);
      socket.on("data", (chunk: Buffer) => feed.take(chunk));
    },
    restore: (request) => feeds.get(request.socket)?.restore(request),
  };
}

/**
 * The beginning of a request line with an uncommon method: `LIST /`. A target other than a path is
 * not a request to a server.
 */
interface Opening {
  readonly method: UncommonMethod;
  readonly bytes: Buffer;
}

interface FeedOptions {
  readonly openings: readonly Opening[];
  readonly clock: Clock;
  readonly headMs: number;
  /** Parses one piece synchronously. */
  readonly read: (piece: Buffer) => void;
}

class Feed {
  readonly #socket: Socket;
  readonly #options: FeedOptions;
  /** The last request the parser reported. */
  #request: IncomingMessage | undefined;
  /** The next byte is the first of a request the parser has not seen. */
  #between = true;
  readonly #framing = new RequestFraming();
  /** The parser paused before the last byte of what the framing found, which comes again. */
  #isLastByte = false;
  /** The original method of the request being parsed as POST. */
  #renamed: UncommonMethod | undefined;
  /** A prefix of an opening, held until it is decided. At most five bytes. */
  #held: Buffer = Buffer.alloc(0);
  #timer: Disposable | undefined;

  constructor(socket: Socket, options: FeedOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.once("close", () => this.#timer?.[Symbol.dispose]());
  }

  restore(request: IncomingMessage): void {
    this.#request = request;
    if (this.#renamed !== undefined) request.method = this.#renamed;
    this.#renamed = undefined;
  }

  take(chunk: Buffer): void {
    this.#timer?.[Symbol.dispose]();
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    for (let at = 0; at < bytes.length && !this.#socket.destroyed;) {
      // The parser has paused and must not get more. What is unshifted comes again when it resumes.
      if (this.#socket.isPaused()) return this.#socket.unshift(bytes.subarray(at));
      const end = this.#between ? this.#begin(bytes, at) : this.#goOn(bytes, at);
      if (end === at) return this.#hold(bytes.subarray(at));
      at = end;
    }
  }

  /** Reads the beginning of a request. Returns where it ends; `at` when undecided. */
  #begin(bytes: Buffer, at: number): number {
    const blankEnd = endOfBlank(bytes, at);
    if (blankEnd > at) return this.#read(bytes, at, blankEnd);
    const opening = this.#options.openings.find((one) => beginsAlike(bytes, at, one.bytes));
    if (opening !== undefined && bytes.length - at < opening.bytes.length) return at;
    this.#between = false;
    this.#framing.restart();
    if (opening === undefined) return this.#goOn(bytes, at);
    this.#renamed = opening.method;
    this.#options.read(STAND_IN);
    return at + opening.method.length;
  }

  /**
   * Reads to where the head or the request ends, and checks whether the parser has found the same.
   * Returns that position.
   */
  #goOn(bytes: Buffer, at: number): number {
    const end = this.#isLastByte ? at + 1 : this.#framing.next(bytes, at);
    this.#isLastByte = false;
    if (end - at > 1) {
      this.#read(bytes, at, end - 1);
      this.#isLastByte = this.#socket.isPaused();
      if (this.#isLastByte || this.#socket.destroyed) return end - 1;
    }
    const before = this.#request;
    const wasComplete = before?.complete === true;
    this.#read(bytes, end - 1, end);
    const reported = this.#request === before ? undefined : this.#request;
    // Complete since this very byte: nothing of another request has been read.
    this.#between = this.#request?.complete === true && (reported !== undefined || !wasComplete);
    if (!this.#between) this.#framing.follow(reported);
    return end;
  }

  #read(bytes: Buffer, from: number, to: number): number {
    this.#options.read(bytes.subarray(from, to));
    return to;
  }

  // A client that stops within a method is answered by the parser, within its own header timeout.
  #hold(rest: Buffer): void {
    const { clock, headMs, read } = this.#options;
    // A copy: a slice would keep the whole chunk alive.
    this.#held = Buffer.from(rest);
    this.#timer = clock.timer(clock.monotonic() + headMs, () => {
      this.#held = Buffer.alloc(0);
      this.#between = false;
      this.#framing.restart();
      this.#framing.next(rest, 0);
      read(rest);
    });
  }
}

/** Where line ends before a request line end, which the parser skips (RFC 9112 §2.2). */
function endOfBlank(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === LINE_FEED || bytes[at] === CARRIAGE_RETURN) at += 1;
  return at;
}

function beginsAlike(bytes: Buffer, from: number, opening: Buffer): boolean {
  const end = Math.min(bytes.length, from + opening.length);
  return opening.compare(bytes, from, end, 0, end - from) === 0;
}
