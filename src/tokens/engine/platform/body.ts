/** Where the body of an answer goes while it arrives. */

/** Takes the pieces of one body. */
export interface BodySink {
  /** Takes the next piece; false when the body is more than is wanted, which ends the request. */
  push(piece: Buffer): boolean;
  /** The body, once it has ended. */
  whole(): Buffer;
}

/** Keeps all of it, up to a number of bytes. */
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
