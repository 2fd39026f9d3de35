/**
 * Follows where the parts of an HTTP/1.1 request end (RFC 9112 §2.1, §6 and §7.1), so that nothing
 * is searched for within one. It trusts the parser for what a head declares, and gives up where the
 * two disagree.
 */
import type { IncomingMessage } from "node:http";

export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;

/**
 * What the next bytes belong to. `lost`: a request that the parser did not report, e.g. because it
 * refused it; its connection gets no further request.
 */
type Part = "head" | "body" | "chunkSize" | "chunkExtension" | "chunk" | "trailers" | "lost";

/** Of one request after the other on a connection. */
export class RequestFraming {
  #part: Part = "head";
  /** Nothing but a carriage return has come since the last line feed. */
  #isLineEmpty = false;
  /** Bytes of the body or chunk to come, with a chunk's line end. */
  #left = 0;
  /** As far as its digits have come. */
  #chunkSize = 0;
  /** The head, the declared body or the trailers end with the bytes of the last `next`. */
  #isEnd = false;

  /** Call before the first byte of a request. */
  restart(): void {
    this.#part = "head";
    this.#isLineEmpty = false;
    this.#isEnd = false;
  }

  /**
   * Where the head or the request that these bytes belong to ends; the end of the bytes when later.
   * Call for every byte once, in order.
   */
  next(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && !this.#isEnd) at = this.#step(bytes, at);
    return at;
  }

  /**
   * Call when the parser has read what `next` found and the request is not complete: with the
   * request if it was reported by these bytes.
   */
  follow(reported: IncomingMessage | undefined): void {
    if (!this.#isEnd) return;
    this.#isEnd = false;
    const { "transfer-encoding": encoding, "content-length": length } = reported?.headers ?? {};
    this.#left = Number(length ?? 0);
    this.#chunkSize = 0;
    if (this.#part !== "head" || reported === undefined) this.#part = "lost";
    else if (encoding !== undefined) this.#part = "chunkSize";
    else this.#part = this.#left > 0 ? "body" : "lost";
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#part) {
      case "head":
      case "trailers":
        return this.#line(bytes, at);
      case "chunkSize":
      case "chunkExtension":
        return this.#chunkLine(bytes, at);
      case "body":
      case "chunk":
        return this.#counted(bytes, at);
      case "lost":
        return bytes.length;
    }
  }

  /** Reads one line of fields; an empty one ends them. */
  #line(bytes: Buffer, from: number): number {
    const at = bytes[from] === CARRIAGE_RETURN ? from + 1 : from;
    if (at === bytes.length) return at;
    if (bytes[at] === LINE_FEED) {
      this.#isEnd = this.#isLineEmpty;
      this.#isLineEmpty = true;
      return at + 1;
    }
    const feed = bytes.indexOf(LINE_FEED, at);
    this.#isLineEmpty = feed >= 0;
    return feed < 0 ? bytes.length : feed + 1;
  }

  /** Reads from a chunk's size to the end of its line; that of the last chunk is 0. */
  #chunkLine(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (byte === LINE_FEED) {
        this.#part = this.#chunkSize === 0 ? "trailers" : "chunk";
        this.#isLineEmpty = true;
        this.#left = this.#chunkSize + 2;
        this.#chunkSize = 0;
        return at + 1;
      }
      const digit = this.#part === "chunkSize" ? hexDigit(byte) : undefined;
      if (digit === undefined) this.#part = "chunkExtension";
      else this.#chunkSize = this.#chunkSize * 16 + digit;
    }
    return bytes.length;
  }

  #counted(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#left);
    this.#left -= end - from;
    if (this.#left > 0) return end;
    if (this.#part === "chunk") this.#part = "chunkSize";
    else this.#isEnd = true;
    return end;
  }
}

function hexDigit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}
