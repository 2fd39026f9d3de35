/**
 * Text in shared memory. Touching seven megabytes of fresh memory takes tens of milliseconds when
 * two cores are busy; copying into memory already in use takes less than one. So long text is
 * written once into shared blocks that are reused.
 */
import { bytesIn, copyPieces } from "../../../kernel/base/pieces.ts";

/** Immutable text in pieces that documents share. */
export type Pieces = readonly Uint8Array[];

const BLOCK_BYTES = 2 ** 20;
/** Shorter text is copied into each document, to limit the number of pieces. */
const SHARED_BYTES = 64 * 2 ** 10;

/** Growing text: shared blocks, or one unshared piece while short. */
export class TextBlocks {
  #short: Uint8Array[] = [];
  #shortBytes = 0;
  readonly #full: Uint8Array[] = [];
  #block: Uint8Array | undefined;
  #used = 0;

  add(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#block !== undefined) return this.#fill(bytes);
    this.#short.push(bytes);
    this.#shortBytes += bytes.length;
    if (this.#shortBytes < SHARED_BYTES) return;
    for (const piece of this.#short) this.#fill(piece);
    this.#short = [];
  }

  /** Finishes the text; nothing may be added afterwards. */
  pieces(): Pieces {
    if (this.#block === undefined) return [Buffer.concat(this.#short)];
    return [...this.#full, this.#block.subarray(0, this.#used)];
  }

  #fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#block?.length === this.#used) this.#full.push(this.#block);
      if (this.#block === undefined || this.#block.length === this.#used)
        [this.#block, this.#used] = [new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES)), 0];
      const part = bytes.subarray(at, at + this.#block.length - this.#used);
      this.#block.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
    }
  }
}

/** The same text in shared memory only: long pieces unchanged, short runs merged. */
export function shared(pieces: Pieces): Uint8Array<SharedArrayBuffer>[] {
  const all: Uint8Array<SharedArrayBuffer>[] = [];
  let between: Uint8Array[] = [];
  const close = (): void => {
    if (between.length > 0)
      all.push(copyPieces(between, new Uint8Array(new SharedArrayBuffer(bytesIn(between)))));
    between = [];
  };
  for (const piece of pieces) {
    if (!isShared(piece)) between.push(piece);
    else {
      close();
      all.push(piece);
    }
  }
  close();
  return all;
}

function isShared(piece: Uint8Array): piece is Uint8Array<SharedArrayBuffer> {
  return piece.buffer instanceof SharedArrayBuffer;
}
