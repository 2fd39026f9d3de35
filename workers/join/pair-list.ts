/** Pairs found so far, in growing typed arrays. */

/** Pairs as columns: `low` below `high`, and how many sketch bytes they share. */
export interface Pairs {
  readonly low: Uint32Array<ArrayBuffer>;
  readonly high: Uint32Array<ArrayBuffer>;
  readonly equal: Uint16Array<ArrayBuffer>;
}

/** Collects pairs. */
export interface PairList {
  readonly length: number;
  push(low: number, high: number, equal: number): void;
  /** What was collected, in buffers of exactly its size. */
  take(): Pairs;
}

/** An empty list. Who pushes bounds it. */
export function createPairList(): PairList {
  let length = 0;
  let low = new Uint32Array(1_024);
  let high = new Uint32Array(1_024);
  let equal = new Uint16Array(1_024);

  function grow(): void {
    const [lows, highs, equals] = [low, high, equal];
    low = new Uint32Array(length * 2);
    high = new Uint32Array(length * 2);
    equal = new Uint16Array(length * 2);
    low.set(lows);
    high.set(highs);
    equal.set(equals);
  }

  return {
    get length() {
      return length;
    },
    push(lowClass, highClass, equalBytes) {
      if (length === low.length) grow();
      low[length] = lowClass;
      high[length] = highClass;
      equal[length] = equalBytes;
      length += 1;
    },
    take: () => ({
      low: low.slice(0, length),
      high: high.slice(0, length),
      equal: equal.slice(0, length),
    }),
  };
}
