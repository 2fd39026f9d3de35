/** Items in batches of bounded size. */

/**
 * Consecutive items, so many to a batch that no sum of their sizes exceeds its limit; an item beyond
 * a limit is a batch of its own. `sizesOf` returns one size for each limit.
 */
export function* boundedBatches<T>(
  items: Iterable<T>,
  limits: readonly number[],
  sizesOf: (item: T) => readonly number[],
): Generator<T[]> {
  let batch: T[] = [];
  let sums = limits.map(() => 0);
  for (const item of items) {
    const sizes = sizesOf(item);
    if (
      batch.length > 0 &&
      limits.some((limit, at) => (sums[at] ?? 0) + (sizes[at] ?? 0) > limit)
    ) {
      yield batch;
      batch = [];
      sums = limits.map(() => 0);
    }
    batch.push(item);
    sums = sums.map((sum, at) => sum + (sizes[at] ?? 0));
  }
  if (batch.length > 0) yield batch;
}
