/**
 * Parses a whole JSON text in slices, yielding to the event loop: JSON.parse for large texts. The
 * scanner checks grammar and nesting; values are counted while they are built, so that too many are
 * refused early.
 */
import { StewardError } from "../base/errors.ts";
import { Turns } from "../async/turns.ts";
import { brokenJson } from "./budget.ts";
import { JsonScanner } from "./scanner.ts";
import { Utf8Check } from "./utf8.ts";

/** Bytes parsed between two looks at the clock: at most a millisecond of work. */
const STEP_BYTES = 8 * 1024;

/** A longer string is decoded in chunks of this size. */
const PIECE_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Limits of one text. */
export interface TreeLimits {
  /** Nesting depth, the outermost container included. */
  readonly depth: number;
  /** Elements of arrays and members of objects in total. */
  readonly values: number;
  /** Members of one object: a wide object costs far more than a long list. */
  readonly members: number;
  /** Characters of one number. */
  readonly numberLength: number;
  /** Bytes of one name, as written. */
  readonly nameBytes: number;
}

/** How values are built. */
export interface TreeOptions {
  readonly limits: TreeLimits;
  /** The value of a number by its digits. Default: a double. */
  readonly number?: (digits: string) => unknown;
  /** Called for each duplicate name of an object, with the path to it. The last value counts. */
  readonly twice?: (path: readonly (string | number)[]) => void;
}

interface Frame {
  readonly container: unknown[] | Record<string, unknown>;
  name: string;
  size: number;
}

/**
 * The value, as from JSON.parse. Throws StewardError: `invalid` (rule `json`, with the offset) for
 * what is not JSON in UTF-8, `too_large` (rule `depth`, `values`, `members`, `number` or `name`)
 * beyond a limit.
 */
export async function parseTree(bytes: Uint8Array, options: TreeOptions): Promise<unknown> {
  const builder = new TreeBuilder(bytes, options);
  const turns = new Turns();
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    if (turns.over) await turns.give();
    for (let long = builder.feed(from); long !== undefined; long = builder.resume())
      builder.add(await decodeLong(bytes, long, turns));
  }
  return builder.finish();
}

/** Bytes between the quotes of a long string. */
interface Span {
  readonly from: number;
  readonly to: number;
}

class TreeBuilder {
  readonly #bytes: Uint8Array;
  readonly #text: Buffer;
  readonly #options: TreeOptions;
  readonly #scanner: JsonScanner;
  readonly #utf8 = new Utf8Check();
  readonly #frames: Frame[] = [];
  #values = 0;
  /** Where the current string, number, literal or name begins. */
  #from = 0;
  #isName = false;
  #root: unknown;
  #piece: Uint8Array = new Uint8Array(0);
  #base = 0;
  #at = 0;
  #bad = -1;

  constructor(bytes: Uint8Array, options: TreeOptions) {
    this.#bytes = bytes;
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#options = options;
    const unbounded = bytes.length + 1;
    this.#scanner = new JsonScanner({
      budget: {
        bytes: unbounded,
        depth: options.limits.depth,
        stringBytes: unbounded,
        elements: unbounded,
      },
      concatenated: false,
    });
    this.#scanner.watch = options.limits.depth + 1;
  }

  /**
   * Parses the step that begins at `from`. Stops at a long string, to be decoded and passed to
   * `add`.
   */
  feed(from: number): Span | undefined {
    const piece = this.#bytes.subarray(from, from + STEP_BYTES);
    this.#bad = this.#utf8.feed(piece);
    // Bytes before an invalid UTF-8 byte are checked first.
    this.#piece = this.#bad === -1 ? piece : piece.subarray(0, Math.max(0, this.#bad - from));
    this.#base = from;
    this.#at = 0;
    return this.resume();
  }

  /** Continues the same step. */
  resume(): Span | undefined {
    while (this.#at < this.#piece.length) {
      this.#at = this.#scanner.scan(this.#piece, this.#at, this.#base);
      const long = this.#scanner.event === "none" ? undefined : this.#handle(this.#base + this.#at);
      if (long !== undefined) return long;
    }
    if (this.#bad !== -1) throw brokenJson(this.#bad, "not UTF-8");
    // A long number is refused without being held.
    if (this.#scanner.inNumber) this.#assertNumberLength(this.#base + this.#at - this.#from);
    return undefined;
  }

  /** Adds a long string, which is a value or a name. */
  add(text: string): void {
    if (this.#isName) this.#enter(text);
    else this.#put(text);
  }

  finish(): unknown {
    if (this.#scanner.finish(this.#bytes.length)) this.#put(this.#scalar(this.#bytes.length));
    return this.#root;
  }

  #handle(at: number): Span | undefined {
    switch (this.#scanner.event) {
      case "name-begin":
        this.#from = at;
        this.#isName = true;
        return undefined;
      case "value-begin":
        this.#isName = false;
        this.#begin(at);
        return undefined;
      case "name-end":
        return this.#string(at);
      case "value-end":
        return this.#end(at);
      default:
        return undefined;
    }
  }

  #begin(at: number): void {
    this.#from = at;
    const byte = this.#bytes[at];
    if (byte !== OPEN_ARRAY && byte !== OPEN_OBJECT) return;
    if (this.#scanner.depth >= this.#options.limits.depth)
      throw tooMuch("depth", this.#options.limits.depth, "levels of nesting");
    this.#count();
    this.#frames.push({ container: byte === OPEN_ARRAY ? [] : {}, name: "", size: 0 });
  }

  /** Ends the innermost container, or the last begun scalar. */
  #end(at: number): Span | undefined {
    const frame = this.#frames.at(-1);
    if (frame !== undefined && this.#frames.length > this.#scanner.depth) {
      this.#frames.pop();
      this.#put(frame.container);
      return undefined;
    }
    if (this.#bytes[this.#from] === QUOTE) return this.#string(at);
    this.#put(this.#scalar(at));
    return undefined;
  }

  #string(end: number): Span | undefined {
    const from = this.#from;
    const { nameBytes } = this.#options.limits;
    if (this.#isName && end - from - 2 > nameBytes)
      throw tooMuch("name", nameBytes, "bytes in one name");
    if (end - from > PIECE_BYTES) return { from: from + 1, to: end - 1 };
    this.add(JSON.parse(this.#text.toString("utf8", from, end)) as string);
    return undefined;
  }

  #scalar(end: number): unknown {
    const text = this.#text.toString("latin1", this.#from, end);
    if (!isNumber(text)) return JSON.parse(text);
    this.#assertNumberLength(text.length);
    return this.#options.number === undefined ? Number(text) : this.#options.number(text);
  }

  #enter(name: string): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    frame.name = name;
    if (this.#options.twice !== undefined && Object.hasOwn(frame.container, name))
      this.#options.twice(this.#path());
  }

  #path(): (string | number)[] {
    return this.#frames.map(({ container, name }) =>
      Array.isArray(container) ? container.length : name,
    );
  }

  #put(value: unknown): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      this.#root = value;
      return;
    }
    // Counted as commas and opening brackets, like a text that is scanned before it is parsed.
    if (frame.size > 0) this.#count();
    frame.size += 1;
    const { container, name } = frame;
    const { members } = this.#options.limits;
    if (frame.size > members && !Array.isArray(container))
      throw tooMuch("members", members, "members in one object");
    if (Array.isArray(container)) container.push(value);
    else if (name === "__proto__")
      Object.defineProperty(container, name, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    else container[name] = value;
  }

  #count(): void {
    this.#values += 1;
    const { values } = this.#options.limits;
    if (this.#values > values) throw tooMuch("values", values, "values");
  }

  #assertNumberLength(length: number): void {
    const { numberLength } = this.#options.limits;
    if (length > numberLength) throw tooMuch("number", numberLength, "characters in one number");
  }
}

function isNumber(text: string): boolean {
  const first = text.charCodeAt(0);
  return first === 0x2d || (first >= 0x30 && first <= 0x39);
}

function tooMuch(rule: string, allowed: number, what: string): StewardError {
  return new StewardError("too_large", `JSON input has more than ${allowed} ${what}`, { rule });
}

/** Decodes in chunks that never split a character or an escape. */
async function decodeLong(bytes: Uint8Array, { from, to }: Span, turns: Turns): Promise<string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  for (let at = from; at < to;) {
    if (turns.over) await turns.give();
    const end = pieceEnd(bytes, at, to);
    parts.push(JSON.parse(`"${text.toString("utf8", at, end)}"`) as string);
    at = end;
  }
  await turns.give();
  return parts.join("");
}

/** The end of the chunk that begins at `from`, at most `to`. */
function pieceEnd(bytes: Uint8Array, from: number, to: number): number {
  let end = Math.min(from + PIECE_BYTES, to);
  if (end === to) return end;
  // Not within a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  // Not within an escape, the longest of which has six bytes.
  for (let at = end - 1; at > end - 6; at--) {
    if (bytes[at] !== BACKSLASH) continue;
    let slashes = 1;
    while (at - slashes >= from && bytes[at - slashes] === BACKSLASH) slashes += 1;
    const length = bytes[at + 1] === 0x75 ? 6 : 2;
    return slashes % 2 === 1 && at + length > end ? at : end;
  }
  return end;
}
