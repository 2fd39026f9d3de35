/** Bytes split over several arrays. */

export function bytesIn(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/** Concatenates them into `target`, which must be large enough, and returns it. */
export function copyPieces<B extends ArrayBufferLike>(
  pieces: readonly Uint8Array[],
  target: Uint8Array<B>,
): Uint8Array<B> {
  let at = 0;
  for (const piece of pieces) {
    target.set(piece, at);
    at += piece.length;
  }
  return target;
}
