/** Work on a stream with a few items under way at a time, results in the order of the stream. */

/**
 * Yields `work(item)` for each item in order, never more than `limit` under way. Ends the source
 * when the reader stops early.
 */
export async function* mapInOrder<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  for await (const item of source) {
    const result = work(item);
    // A failure is thrown in its turn; until then it must not count as unhandled.
    void result.catch(() => undefined);
    underWay.push(result);
    if (underWay.length < limit) continue;
    yield await (underWay.shift() as Promise<R>);
  }
  for (const result of underWay) yield await result;
}

/** The same items, the next one always being made while the reader is busy with the last. */
export async function* oneAhead<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  const items = source[Symbol.asyncIterator]();
  let next = items.next();
  try {
    for (;;) {
      const item = await next;
      if (item.done === true) return;
      next = items.next();
      // Thrown where its turn comes.
      void next.catch(() => undefined);
      yield item.value;
    }
  } finally {
    await items.return?.();
  }
}
