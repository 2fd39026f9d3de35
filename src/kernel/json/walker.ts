/**
 * Walks a text to the list that is wanted and hands out its elements as they become whole:
 *
 *     {"count": 2, "results": [ {…}, {…} ], "next": null}
 *      └ beside ─┘ └ path ──┘   └ elements ┘ └ beside ──┘
 *
 * Everything else is checked and passed over. One captured region at a time: a name, a value beside
 * the list, or a run of elements.
 */
import { brokenJson, oversizedJson, type JsonBudget, type JsonPath } from "./budget.ts";
import { HeldBytes } from "./held-bytes.ts";
import { JsonScanner } from "./scanner.ts";
import { Utf8Check } from "./utf8.ts";

/** Scalar members kept from beside the list; further ones are ignored. */
const MAX_SKIPPED_NAMES = 64;

const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

type Region = "none" | "name" | "beside" | "elements";

/** What counts as an empty list: nothing, `null` in its place, or also a text without the list. */
export type Missing = "refuse" | "null" | "empty";

export interface Walker {
  /** Reads the next chunk; returns the elements completed by it, in order. */
  feed(piece: Uint8Array): unknown[];
  /**
   * Call at the text's end: returns the last elements. Throws when the text ended too early or has
   * no list.
   */
  finish(): unknown[];
  /** Scalar members of the object that contains the list; complete after `finish`. */
  readonly beside: ReadonlyMap<string, unknown>;
}

/** A walker for the list `at`. */
export function createWalker(
  at: "concatenated" | JsonPath,
  budget: JsonBudget,
  missing: Missing,
): Walker {
  return at === "concatenated"
    ? new ConcatenatedWalker(budget)
    : new PathWalker(at, budget, missing);
}

/** Shared by both walkers: the scanner, the UTF-8 check, and the captured region. */
abstract class BaseWalker {
  readonly scanner: JsonScanner;
  readonly #budget: JsonBudget;
  readonly #utf8 = new Utf8Check();
  readonly #held = new HeldBytes();
  #offset = 0;
  /**
   * Start of the captured region in the chunk; 0 when it began in an earlier one. -1: nothing is
   * captured.
   */
  #from = -1;

  constructor(budget: JsonBudget, concatenated: boolean) {
    this.#budget = budget;
    this.scanner = new JsonScanner({ budget, concatenated });
  }

  get offset(): number {
    return this.#offset;
  }

  feed(piece: Uint8Array): unknown[] {
    const remaining = this.#budget.bytes - this.#offset;
    if (piece.length > remaining)
      throw oversizedJson(this.#budget.bytes, "bytes", this.#budget.bytes);
    const bad = this.#utf8.feed(piece);
    const out: unknown[] = [];
    // Bytes before an invalid UTF-8 byte are checked first.
    const end = bad === -1 ? piece.length : Math.max(0, bad - this.#offset);
    const good = end === piece.length ? piece : piece.subarray(0, end);
    for (let at = 0; at < good.length;) {
      at = this.scanner.scan(good, at, this.#offset);
      if (this.scanner.event !== "none") this.handle(good, at, out);
    }
    if (bad !== -1) throw brokenJson(bad, "not UTF-8");
    this.rest(good, out);
    if (this.#from !== -1) {
      this.#held.append(good.subarray(this.#from));
      this.#from = 0;
    }
    this.#offset += piece.length;
    return out;
  }

  capture(at: number): void {
    this.#from = at;
  }

  get capturing(): boolean {
    return this.#from !== -1;
  }

  /** The captured text up to `end`; ends the capture. */
  take(piece: Uint8Array, end: number): string {
    const taken = this.#held.take(piece.subarray(this.#from, end));
    this.#from = -1;
    return taken;
  }

  protected abstract handle(piece: Uint8Array, at: number, out: unknown[]): void;
  /** At a chunk's end: returns what is complete. */
  protected abstract rest(piece: Uint8Array, out: unknown[]): void;
}

const NOTHING = new Uint8Array(0);

class ConcatenatedWalker extends BaseWalker implements Walker {
  readonly beside: ReadonlyMap<string, unknown> = new Map();

  constructor(budget: JsonBudget) {
    super(budget, true);
  }

  finish(): unknown[] {
    return this.scanner.finish(this.offset) ? [JSON.parse(this.take(NOTHING, 0))] : [];
  }

  protected handle(piece: Uint8Array, at: number, out: unknown[]): void {
    if (this.scanner.event === "value-end") out.push(JSON.parse(this.take(piece, at)));
    else this.capture(at);
  }

  protected rest(): void {
    // Each value is returned where it ends.
  }
}

class PathWalker extends BaseWalker implements Walker {
  readonly beside = new Map<string, unknown>();
  readonly #path: JsonPath;
  readonly #missing: Missing;
  /** Number of entered members of the path. */
  #entered = 0;
  #found = false;
  #inList = false;
  #region: Region = "none";
  #name = "";
  /** End of the last complete element in this chunk; -1 when none ended in it. */
  #wholeTo = -1;
  /** Start of the element after it in this chunk; -1 when none began. */
  #nextFrom = -1;

  constructor(path: JsonPath, budget: JsonBudget, missing: Missing) {
    super(budget, false);
    this.#path = path;
    this.#missing = missing;
  }

  finish(): unknown[] {
    this.scanner.finish(this.offset);
    if (!this.#found && this.#missing !== "empty")
      throw brokenJson(this.offset, `there is no list at ${this.#location()}`);
    return [];
  }

  protected handle(piece: Uint8Array, at: number, out: unknown[]): void {
    if (this.#inList) {
      this.#element(piece, at, out);
      return;
    }
    switch (this.scanner.event) {
      case "name-begin":
        this.#region = "name";
        this.capture(at);
        return;
      case "name-end":
        this.#region = "none";
        this.#name = JSON.parse(this.take(piece, at)) as string;
        return;
      case "value-begin":
        this.#valueBegins(piece, at);
        return;
      case "value-end":
        this.#valueEnds(piece, at);
    }
  }

  #valueBegins(piece: Uint8Array, at: number): void {
    const { depth } = this.scanner;
    const byte = piece[at];
    const onPath = depth === this.#entered && (depth === 0 || this.#name === this.#path[depth - 1]);
    if (!onPath) {
      if (depth === this.#path.length && depth === this.#entered) this.#besideBegins(byte, at);
      return;
    }
    if (this.#found)
      throw brokenJson(this.offset + at, `the list at ${this.#location()} is given twice`);
    this.#enter(byte, at);
  }

  #besideBegins(byte: number | undefined, at: number): void {
    // As with JSON.parse, the last of several equal names counts.
    this.beside.delete(this.#name);
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY || this.beside.size === MAX_SKIPPED_NAMES)
      return;
    this.#region = "beside";
    this.capture(at);
  }

  #enter(byte: number | undefined, at: number): void {
    const { depth } = this.scanner;
    if (depth < this.#path.length && byte === OPEN_OBJECT) this.#entered = depth + 1;
    else if (depth === this.#path.length && byte === OPEN_ARRAY) {
      this.#inList = true;
      this.#found = true;
    } else if (this.#missing !== "refuse" && byte === 0x6e) {
      this.#found = true;
      return;
    } else throw brokenJson(this.offset + at, `expected a list at ${this.#location()}`);
    this.scanner.watch = depth + 1;
  }

  #valueEnds(piece: Uint8Array, at: number): void {
    if (this.#region === "beside") {
      this.#region = "none";
      this.beside.set(this.#name, JSON.parse(this.take(piece, at)));
    }
    // An object of the path was left; its members are not reported any more.
    if (this.scanner.depth < this.#entered) {
      this.#entered = this.scanner.depth;
      this.scanner.watch = this.scanner.depth;
    }
  }

  #element(piece: Uint8Array, at: number, out: unknown[]): void {
    const inside = this.scanner.depth > this.#path.length;
    if (this.scanner.event === "value-begin") {
      if (!this.capturing) this.capture(at);
      else this.#nextFrom = at;
    } else if (inside) {
      this.#wholeTo = at;
      this.#nextFrom = -1;
    } else {
      this.rest(piece, out);
      this.#inList = false;
      this.scanner.watch = this.scanner.depth;
    }
  }

  protected rest(piece: Uint8Array, out: unknown[]): void {
    if (this.#wholeTo === -1) return;
    const run = JSON.parse(`[${this.take(piece, this.#wholeTo)}]`) as unknown[];
    for (const element of run) out.push(element);
    if (this.#nextFrom !== -1) this.capture(this.#nextFrom);
    this.#wholeTo = -1;
    this.#nextFrom = -1;
  }

  #location(): string {
    return this.#path.length === 0 ? "the top" : JSON.stringify(this.#path.join(".").slice(0, 200));
  }
}
