/**
 * Buffers a value that continues in the next chunk: one growing buffer, so that a body in small
 * chunks costs no more than one in large chunks.
 */

const FIRST_BYTES = 4_096;

/** Bytes kept from earlier chunks. The caller bounds their number. */
export class HeldBytes {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const needed = this.#length + piece.length;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(FIRST_BYTES, needed, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = needed;
  }

  /**
   * The text of the held bytes and `piece`; holds nothing afterwards. The bytes are valid UTF-8.
   */
  take(piece: Uint8Array): string {
    if (this.#length === 0) return text(piece);
    this.append(piece);
    const whole = text(this.#bytes.subarray(0, this.#length));
    this.clear();
    return whole;
  }

  clear(): void {
    this.#length = 0;
    // One long element must not keep its memory for the rest of the body.
    if (this.#bytes.length > 64 * FIRST_BYTES) this.#bytes = Buffer.alloc(0);
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
