/** Suggests the known name that a misspelt one most likely meant. */

const MAX_LENGTH = 64;

/**
 * The candidate nearest to `name` by edit distance, ignoring case and underscores; undefined when
 * none is within a third of the name's length. Names above 64 characters get none.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = fold(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const other = fold(candidate);
    // The distance is at least the difference in length.
    if (Math.abs(other.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, other);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function fold(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

/** Insertions, deletions, substitutions and transpositions, row by row. */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      const swapped =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      const swap = swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      current.push(
        Math.min(
          (above[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (above[column - 1] ?? 0) + same,
          swap,
        ),
      );
    }
    [before, above] = [above, current];
  }
  return above[right.length] ?? 0;
}
