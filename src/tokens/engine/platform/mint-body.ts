/**
 * Reads the body of a mint response. The token is extracted while the body arrives, so that an
 * oversized or truncated response leaves no unknown live token. A large body is reduced to
 * repository names when only those are needed: 2,000 repositories shrink from 13 MB to 100 KB.
 */
import { HeldBytes } from "../../../kernel/json/held-bytes.ts";
import { JsonScanner } from "../../../kernel/json/scanner.ts";
import type { BodySink } from "./body.ts";

/** Bodies are scanned from this size on; most have a few kilobytes. */
const LOOK_FROM_BYTES = 256 * 1024;

/**
 * Largest body kept, reduced or not: 1,200 repositories with all metadata. 64 of them may be read
 * concurrently.
 */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Largest body read while reducing it or looking for the token. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** Largest single member or repository. */
const MAX_PART_BYTES = 1024 * 1024;

const OPEN_ARRAY = 0x5b;
const REPOSITORIES = "repositories";

/** A body in progress. */
export interface MintBody extends BodySink {
  /** The token once complete; undefined if absent so far or unusable in a header. */
  token(): string | undefined;
}

// Any form and length that fits a header: otherwise it could be neither used nor revoked.
const HEADER_SAFE = /^[\x21-\x7e]+$/;

export function isHeaderSafe(value: unknown): value is string {
  return typeof value === "string" && HEADER_SAFE.test(value);
}

/**
 * With `namesOnly`, repositories of a large body become objects with only a name, or `null` if
 * invalid.
 */
export function createMintBody({ namesOnly }: { readonly namesOnly: boolean }): MintBody {
  let pieces: Buffer[] = [];
  let length = 0;
  let members: Members | undefined;

  /** Scans the buffered part. */
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

/** Members of the outermost object, with reduced repositories. */
class Members {
  readonly #scanner = new JsonScanner({
    budget: { bytes: MAX_READ_BYTES, depth: 128, stringBytes: MAX_PART_BYTES, elements: 1_000_000 },
    concatenated: false,
  });
  readonly #held = new HeldBytes();
  readonly #parts: string[] = [];
  readonly #names: string[] = [];
  #offset = 0;
  /** Start of the current name, member or repository in the chunk; -1 for none. */
  #from = -1;
  #name = "";
  #inList = false;
  /** The text is no JSON object, or one of its parts is too large. */
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

  /** All members as JSON; empty for an invalid text. */
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
    if (this.#name === "token") this.token = isHeaderSafe(value) ? value : undefined;
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
