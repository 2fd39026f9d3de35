/**
 * A strict incremental scanner of RFC 8259: it holds no text, only its state. It stops where a
 * value or a name begins or ends in the outer levels that its user watches, and runs through
 * everything deeper.
 */
import { brokenJson, oversizedJson, type JsonBudget } from "./budget.ts";
import {
  escapes,
  hexadecimal,
  Kind,
  kinds,
  NUMBER_BEGIN,
  numberEnds,
  numberSteps,
  words,
} from "./tokens.ts";

/**
 * Why `scan` returned. `none`: the piece is used up. A `begin` returns before the first byte was
 * read past.
 */
export type ScanEvent = "none" | "value-begin" | "value-end" | "name-begin" | "name-end";

/** What may follow, outside of strings, numbers and literals. */
type Expect =
  | "value"
  | "value-or-close"
  | "name"
  | "name-or-close"
  | "colon"
  | "comma-or-close"
  | "space"
  | "end";

type Token = "none" | "string" | "name" | "number" | "word";

const OBJECT = 1;
const ARRAY = 2;

/** How the scanner is set up. */
export interface ScanOptions {
  readonly budget: JsonBudget;
  /** Whether further values may follow the first. */
  readonly concatenated: boolean;
}

/** State of one text. Throws StewardError `invalid` and `too_large` with the byte's offset. */
export class JsonScanner {
  readonly #budget: JsonBudget;
  readonly #concatenated: boolean;
  readonly #containers: Uint8Array;
  readonly #counts: Uint32Array;
  #expect: Expect = "value";
  #token: Token = "none";
  /** Bytes of the current string; index in the current literal; state of the current number. */
  #progress = 0;
  /** In a string: 0, 1 after a backslash, 2 to 5 while 4 to 1 hexadecimal digits are due. */
  #escape = 0;
  #word = "";
  /** Offset of the chunk's first byte in the text. */
  #base = 0;
  /** Whether the begin of the current value or name was already reported. */
  #reported = false;
  /** Open objects and arrays. */
  depth = 0;
  /** Reports events for values and names with at most this many containers around them. */
  watch = 0;
  event: ScanEvent = "none";

  constructor(options: ScanOptions) {
    this.#budget = options.budget;
    this.#concatenated = options.concatenated;
    this.#containers = new Uint8Array(options.budget.depth + 1);
    this.#counts = new Uint32Array(options.budget.depth + 1);
  }

  /** Whether it is within a number. */
  get inNumber(): boolean {
    return this.#token === "number";
  }

  /**
   * Scans from `from` until an event or the chunk's end; returns the position. `base` is the offset
   * of the chunk in the text.
   */
  scan(piece: Uint8Array, from: number, base: number): number {
    this.#base = base;
    this.event = "none";
    let at = from;
    while (at < piece.length) {
      at = this.#token === "none" ? this.#structure(piece, at) : this.#resume(piece, at);
      if (this.event !== "none") return at;
    }
    return at;
  }

  /**
   * Call at the text's end, `offset` bytes long. True when that ended one more value (a number at
   * the very end).
   */
  finish(offset: number): boolean {
    this.#base = offset;
    const number = this.#token === "number" && this.depth === 0 && numberEnds[this.#progress] === 1;
    if (number) {
      this.#token = "none";
      this.#afterValue(true);
    }
    const complete =
      this.#token === "none" && this.depth === 0 && (this.#expect === "end" || this.#concatenated);
    if (!complete) throw brokenJson(offset, "it is truncated");
    return number;
  }

  #resume(piece: Uint8Array, from: number): number {
    switch (this.#token) {
      case "number":
        return this.#number(piece, from);
      case "word":
        return this.#wordBytes(piece, from);
      default:
        return this.#string(piece, from);
    }
  }

  #string(piece: Uint8Array, from: number): number {
    const limit = this.#budget.stringBytes;
    let at = from;
    while (at < piece.length) {
      if (this.#escape !== 0) {
        at = this.#escaped(piece, at);
        continue;
      }
      const start = at;
      let byte = 0;
      while (at < piece.length) {
        byte = piece[at] as number;
        if (byte === 0x22 || byte === 0x5c || byte < 0x20) break;
        at += 1;
      }
      this.#progress += at - start;
      if (this.#progress > limit)
        throw oversizedJson(this.#base + at - (this.#progress - limit), "stringBytes", limit);
      if (at === piece.length) return at;
      if (byte === 0x22) return this.#endString(at + 1);
      if (byte < 0x20) throw brokenJson(this.#base + at, "a control character inside a string");
      this.#escape = 1;
      this.#progress += 1;
      at += 1;
    }
    return at;
  }

  #escaped(piece: Uint8Array, at: number): number {
    const byte = piece[at] as number;
    if (this.#escape > 1) {
      if (hexadecimal[byte] !== 1)
        throw brokenJson(this.#base + at, "expected a hexadecimal digit");
      this.#escape = this.#escape === 5 ? 0 : this.#escape + 1;
    } else if (byte === 0x75) this.#escape = 2;
    else if (escapes[byte] === 1) this.#escape = 0;
    else throw brokenJson(this.#base + at, "an escape that JSON does not know");
    this.#progress += 1;
    return at + 1;
  }

  #endString(at: number): number {
    if (this.#token === "string") {
      this.#token = "none";
      this.#endValue(false);
      return at;
    }
    this.#token = "none";
    this.#expect = "colon";
    if (this.depth <= this.watch) this.event = "name-end";
    return at;
  }

  #number(piece: Uint8Array, from: number): number {
    let at = from;
    let state = this.#progress;
    while (at < piece.length) {
      const next = numberSteps[state * 256 + (piece[at] as number)] as number;
      if (next === 0) break;
      state = next;
      at += 1;
    }
    this.#progress = state;
    if (at === piece.length) return at;
    if (numberEnds[state] !== 1) throw brokenJson(this.#base + at, "a number that breaks off");
    this.#token = "none";
    this.#endValue(true);
    return at;
  }

  #wordBytes(piece: Uint8Array, from: number): number {
    let at = from;
    while (at < piece.length) {
      if (piece[at] !== this.#word.charCodeAt(this.#progress))
        throw brokenJson(this.#base + at, `expected ${this.#word}`);
      at += 1;
      this.#progress += 1;
      if (this.#progress === this.#word.length) {
        this.#token = "none";
        this.#endValue(true);
        return at;
      }
    }
    return at;
  }

  /** White space and one structural byte, or the beginning of a token. */
  #structure(piece: Uint8Array, from: number): number {
    let at = from;
    while (at < piece.length && kinds[piece[at] as number] === Kind.space) at += 1;
    if (at > from && this.#expect === "space") this.#expect = "value";
    if (at === piece.length) return at;
    const byte = piece[at] as number;
    const kind = kinds[byte] as number;
    switch (kind) {
      case Kind.comma:
        return this.#comma(at);
      case Kind.colon:
        if (this.#expect !== "colon") throw this.#unexpected(at);
        this.#expect = "value";
        return at + 1;
      case Kind.closeObject:
      case Kind.closeArray:
        return this.#close(at, kind === Kind.closeObject ? OBJECT : ARRAY);
      case Kind.quote:
        if (this.#expect === "name" || this.#expect === "name-or-close") return this.#beginName(at);
    }
    return this.#beginValue(at, byte, kind);
  }

  #comma(at: number): number {
    if (this.#expect !== "comma-or-close" || this.depth === 0) throw this.#unexpected(at);
    this.#expect = this.#containers[this.depth] === OBJECT ? "name" : "value";
    return at + 1;
  }

  #close(at: number, kind: number): number {
    const open = kind === OBJECT ? "name-or-close" : "value-or-close";
    const fits =
      this.depth > 0 &&
      this.#containers[this.depth] === kind &&
      (this.#expect === "comma-or-close" || this.#expect === open);
    if (!fits) throw this.#unexpected(at);
    this.depth -= 1;
    this.#endValue(false);
    return at + 1;
  }

  #beginName(at: number): number {
    if (this.depth <= this.watch && !this.#reported) return this.#report("name-begin", at);
    this.#reported = false;
    this.#count(at);
    this.#token = "name";
    this.#progress = 0;
    return at + 1;
  }

  #beginValue(at: number, byte: number, kind: number): number {
    if (this.#expect !== "value" && this.#expect !== "value-or-close") throw this.#unexpected(at);
    if (kind < Kind.quote || kind > Kind.openArray) throw this.#unexpected(at);
    if (this.depth <= this.watch && !this.#reported) return this.#report("value-begin", at);
    this.#reported = false;
    if (this.#containers[this.depth] !== OBJECT) this.#count(at);
    this.#progress = 0;
    if (kind === Kind.quote) this.#token = "string";
    else if (kind === Kind.openObject || kind === Kind.openArray)
      this.#open(at, kind === Kind.openObject);
    else if (kind === Kind.word) {
      this.#token = "word";
      this.#word = words.get(byte) ?? "";
      return at;
    } else {
      this.#token = "number";
      this.#progress = NUMBER_BEGIN;
      return at;
    }
    return at + 1;
  }

  #report(event: ScanEvent, at: number): number {
    this.#reported = true;
    this.event = event;
    return at;
  }

  #open(at: number, object: boolean): void {
    if (this.depth === this.#budget.depth)
      throw oversizedJson(this.#base + at, "depth", this.#budget.depth);
    this.depth += 1;
    this.#containers[this.depth] = object ? OBJECT : ARRAY;
    this.#counts[this.depth] = 0;
    this.#expect = object ? "name-or-close" : "value-or-close";
  }

  #count(at: number): void {
    const count = (this.#counts[this.depth] as number) + 1;
    if (count > this.#budget.elements)
      throw oversizedJson(this.#base + at, "elements", this.#budget.elements);
    this.#counts[this.depth] = count;
  }

  #endValue(bare: boolean): void {
    this.#afterValue(bare);
    if (this.depth <= this.watch) this.event = "value-end";
  }

  // After a number or literal (`bare`) there must be white space, or 01 would be two concatenated
  // values.
  #afterValue(bare: boolean): void {
    if (this.depth > 0) this.#expect = "comma-or-close";
    else if (!this.#concatenated) this.#expect = "end";
    else this.#expect = bare ? "space" : "value";
  }

  #unexpected(at: number): Error {
    const what = {
      value: "a value",
      "value-or-close": "a value or ]",
      name: "a name in quotes",
      "name-or-close": "a name in quotes or }",
      colon: "a colon",
      space: "white space",
      end: "nothing more",
    };
    const expected =
      this.#expect === "comma-or-close"
        ? `a comma or ${this.#containers[this.depth] === OBJECT ? "}" : "]"}`
        : what[this.#expect];
    return brokenJson(this.#base + at, `expected ${expected}`);
  }
}
