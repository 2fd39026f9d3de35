/**
 * The body of an answer to a mint. Its token is found while it arrives, so that an answer that is
 * too large, or breaks off, leaves no token alive that nobody knows. A large body whose
 * repositories are only wanted by name is reduced to that: 2,000 repositories are 13 MB, of which
 * 100 KB remain.
 */
import { HeldBytes } from "../../../kernel/json/held-bytes.ts";
import { JsonScanner } from "../../../kernel/json/scanner.ts";
import type { BodySink } from "./body.ts";

/**
 * Most answers have a few kilobytes; only longer ones than this are looked into while they arrive.
 */
const LOOK_FROM_BYTES = 256 * 1024;

/**
 * Kept of a body, reduced or not: 1,200 repositories with all their metadata. 64 such answers may
 * be read at once.
 */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Read of a body that is reduced, or whose token has not come yet. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** One member, or one repository. */
const MAX_PART_BYTES = 1024 * 1024;

const OPEN_ARRAY = 0x5b;
const REPOSITORIES = "repositories";

/** A body on its way. */
export interface MintBody extends BodySink {
  /**
   * The token, as soon as it has come whole; undefined when there is none in what came, or it could
   * not be sent in a header.
   */
  token(): string | undefined;
}

// Of any form and length, but fit for a header: what is not could neither be used nor revoked.
const BEARABLE = /^[\x21-\x7e]+$/;

/** Whether a value is a token that can be used, and revoked. */
export function isBearable(value: unknown): value is string {
  return typeof value === "string" && BEARABLE.test(value);
}

/**
 * An empty one. With `namesOnly` a large body's repositories are objects with their names alone,
 * `null` where one is no object.
 */
export function createMintBody({ namesOnly }: { readonly namesOnly: boolean }): MintBody {
  let pieces: Buffer[] = [];
  let length = 0;
  let members: Members | undefined;

  /** Looks into everything that was kept so far. */
  function look(): Members {
    const fresh = new Members();
    for (const piece of pieces) fresh.feed(piece);
    return fresh;
  }

  return {
    push(piece) {
      length += piece.length;
      if (length > MAX_READ_BYTES) return false;
      if (members === undefined && length > LOOK_FROM_BYTES) {
        members = look();
        if (namesOnly) pieces = [];
      }
      members?.feed(piece);
      if (namesOnly && members !== undefined) return members.keptBytes <= MAX_KEPT_BYTES;
      if (length <= MAX_KEPT_BYTES) {
        pieces.push(piece);
        return true;
      }
      pieces = [];
      return members !== undefined && !members.broken && members.token === undefined;
    },
    whole() {
      if (namesOnly && members !== undefined) return members.reduced();
      return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
    },
    token: () => (members ?? look()).token,
  };
}

/** The members of the outermost object, that of the repositories reduced. */
class Members {
  readonly #scanner = new JsonScanner({
    budget: { bytes: MAX_READ_BYTES, depth: 128, stringBytes: MAX_PART_BYTES, elements: 1_000_000 },
    concatenated: false,
  });
  readonly #held = new HeldBytes();
  readonly #parts: string[] = [];
  readonly #names: string[] = [];
  #offset = 0;
  /** Where the name, member or repository at hand begins in the piece; -1: none is at hand. */
  #from = -1;
  #name = "";
  #inList = false;
  /** The text is no JSON object, or has a part that is too large. */
  broken = false;
  keptBytes = 0;
  token: string | undefined;

  constructor() {
    this.#scanner.watch = 1;
  }

  feed(piece: Buffer): void {
    if (this.broken) return;
    try {
      this.#scan(piece);
    } catch {
      this.broken = true;
    }
  }

  /** All members again, as JSON; empty for a text that was none. */
  reduced(): Buffer {
    return this.broken ? Buffer.alloc(0) : Buffer.from(`{${this.#parts.join(",")}}`);
  }

  #scan(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      at = this.#scanner.scan(piece, at, this.#offset);
      if (this.#scanner.event !== "none") this.#handle(piece, at);
    }
    if (this.#from !== -1) {
      this.#held.append(piece.subarray(this.#from));
      this.#from = 0;
      if (this.#held.length > MAX_PART_BYTES) this.broken = true;
    }
    this.#offset += piece.length;
  }

  #handle(piece: Buffer, at: number): void {
    const { depth, event } = this.#scanner;
    if (depth === 0) return;
    if (event === "name-end") this.#name = JSON.parse(this.#take(piece, at)) as string;
    else if (event !== "value-end") this.#begin(piece, at);
    else if (depth === 1) this.#endMember(piece, at);
    else this.#endRepository(this.#take(piece, at));
  }

  #begin(piece: Buffer, at: number): void {
    const opensList =
      this.#scanner.depth === 1 &&
      this.#scanner.event === "value-begin" &&
      this.#name === REPOSITORIES &&
      piece[at] === OPEN_ARRAY;
    if (!opensList) return void (this.#from = at);
    this.#inList = true;
    this.#names.length = 0;
    this.#scanner.watch = 2;
  }

  #endMember(piece: Buffer, at: number): void {
    const text = this.#inList ? `[${this.#names.join(",")}]` : this.#take(piece, at);
    this.#inList = false;
    this.#scanner.watch = 1;
    const value: unknown = this.#name === "token" ? JSON.parse(text) : undefined;
    if (this.#name === "token") this.token = isBearable(value) ? value : undefined;
    this.#keep(this.#parts, `${JSON.stringify(this.#name)}:${text}`);
  }

  #endRepository(text: string): void {
    const repository = JSON.parse(text) as { readonly name?: unknown } | null;
    const isObject =
      typeof repository === "object" && repository !== null && !Array.isArray(repository);
    this.#keep(this.#names, isObject ? JSON.stringify({ name: repository.name ?? null }) : "null");
  }

  #keep(list: string[], text: string): void {
    list.push(text);
    this.keptBytes += text.length;
  }

  #take(piece: Buffer, end: number): string {
    const taken = this.#held.take(piece.subarray(this.#from, end));
    this.#from = -1;
    return taken;
  }
}
