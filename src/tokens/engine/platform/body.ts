/** Receives a response body as it arrives. */

export interface BodySink {
  /** Consumes the next chunk; false aborts the request because the body is too large. */
  push(piece: Buffer): boolean;
  /** The complete body. */
  whole(): Buffer;
}

/** Buffers up to a number of bytes. */
export function wholeBody(maxBytes: number): BodySink {
  const pieces: Buffer[] = [];
  let length = 0;
  return {
    push(piece) {
      length += piece.length;
      if (length > maxBytes) return false;
      pieces.push(piece);
      return true;
    },
    whole: () =>
      pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces),
  };
}
