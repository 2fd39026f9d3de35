/**
 * Supports methods that Node's HTTP/1.1 parser refuses, like Vault's `LIST`. The parser is fed in
 * pieces so that the first byte of every request is known for certain; there an uncommon method is
 * passed to it as POST, and the request it then reports gets its original method back. Nothing that
 * a client could forge is added to the head.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";

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
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

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
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    while (rest.length > 0 && !this.#socket.destroyed) {
      // The parser has paused and must not get more. What is unshifted comes again when it resumes.
      if (this.#socket.isPaused()) return this.#socket.unshift(rest);
      const eaten = this.#between ? this.#begin(rest) : this.#goOn(rest);
      if (eaten === 0) return this.#hold(rest);
      rest = rest.subarray(eaten);
    }
  }

  /** Reads the beginning of a request. Returns the number of bytes; 0 when undecided. */
  #begin(rest: Buffer): number {
    const blank = blankBytes(rest);
    if (blank > 0) return this.#read(rest, blank);
    const opening = this.#options.openings.find(({ bytes }) => beginsAlike(rest, bytes));
    if (opening === undefined) {
      this.#between = false;
      return this.#goOn(rest);
    }
    if (rest.length < opening.bytes.length) return 0;
    this.#between = false;
    this.#renamed = opening.method;
    this.#options.read(STAND_IN);
    return opening.method.length;
  }

  /**
   * Reads to where the next request with an uncommon method may begin, and checks whether one
   * begins there.
   */
  #goOn(rest: Buffer): number {
    const end = this.#nextOpening(rest);
    if (end > 1) this.#read(rest, end - 1);
    if (this.#socket.isPaused() || this.#socket.destroyed) return Math.max(1, end - 1);
    const before = this.#request?.complete === true ? this.#request : undefined;
    this.#options.read(rest.subarray(end - 1, end));
    // Complete since this very byte: nothing of another request has been read.
    this.#between = this.#request?.complete === true && this.#request !== before;
    return end;
  }

  #read(rest: Buffer, bytes: number): number {
    this.#options.read(rest.subarray(0, bytes));
    return bytes;
  }

  /**
   * Where the next opening begins, or a prefix of one at the end; after the first byte. Else the
   * end.
   */
  #nextOpening(rest: Buffer): number {
    let next = rest.length;
    for (const { bytes } of this.#options.openings) {
      const at = rest.indexOf(bytes, 1);
      if (at >= 0) next = Math.min(next, at);
      for (let length = Math.min(bytes.length - 1, rest.length - 1); length > 0; length -= 1) {
        const from = rest.length - length;
        // Comparing calls into native code, five times per method, so the first byte is checked
        // before.
        if (rest[from] === bytes[0] && bytes.compare(rest, from, rest.length, 0, length) === 0)
          next = Math.min(next, from);
      }
    }
    return next;
  }

  // A client that stops within a method is answered by the parser, within its own header timeout.
  #hold(rest: Buffer): void {
    const { clock, headMs, read } = this.#options;
    // A copy: a slice would keep the whole chunk alive.
    this.#held = Buffer.from(rest);
    this.#timer = clock.timer(clock.monotonic() + headMs, () => {
      this.#held = Buffer.alloc(0);
      this.#between = false;
      read(rest);
    });
  }
}

/** Line ends before a request line, which the parser skips (RFC 9112 §2.2). */
function blankBytes(rest: Buffer): number {
  let bytes = 0;
  while (rest[bytes] === LINE_FEED || rest[bytes] === CARRIAGE_RETURN) bytes += 1;
  return bytes;
}

function beginsAlike(rest: Buffer, opening: Buffer): boolean {
  const compared = Math.min(rest.length, opening.length);
  return opening.compare(rest, 0, compared, 0, compared) === 0;
}
