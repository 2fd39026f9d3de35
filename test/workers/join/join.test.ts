import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import type { Columns } from "../../../workers/join/columns.ts";
import { createPairFilter } from "../../../workers/join/pair-filter.ts";
import { sortByKey } from "../../../workers/join/sort.ts";
import type { ScoreParameters } from "../../../workers/score/confidence.ts";
import { run } from "../../../workers/tasks/join.ts";
import type { JoinInput, JoinWork } from "../../../workers/tasks/join.ts";
import { control } from "../control.ts";

const SKETCH = 16;
const BANDS = 8;
const parameters: ScoreParameters = {
  similarityThreshold: 0.75,
  confidenceWeightJaccard: 60,
  confidenceWeightFuzzy: 40,
  discriminativePenaltyStrength: 70,
  fuzzySampleSize: 10_000,
};

function shared(values: readonly number[]): SharedArrayBuffer {
  const words = new Uint32Array(new SharedArrayBuffer(values.length * 4));
  words.set(values);
  return words.buffer;
}

/** Classes whose bands agree often; all tokens empty, sizes alike. */
function columnsOf(classes: number, seed: number, variety = 3): Columns {
  const random = mulberry32(seed);
  const bands = Array.from({ length: classes * BANDS }, () => Math.floor(random() * variety));
  const sketches = Array.from({ length: (classes * SKETCH) / 4 }, () => (random() < 0.7 ? 5 : 6));
  return {
    classes,
    numBands: BANDS,
    sketchSize: SKETCH,
    bands: shared(bands),
    sketches: shared(sketches),
    setSizes: shared(
      Array.from({ length: classes }, (_, i) => (i % 10 === 9 ? 0 : 90 + (i % 3) * 10)),
    ),
    tokenStarts: shared(Array.from({ length: classes }, (_, i) => i * 3)),
    tokens: shared(Array.from({ length: classes * 3 }, () => 0)),
  };
}

function expected(columns: Columns): string[] {
  const filter = createPairFilter(columns, parameters);
  const bands = new Uint32Array(columns.bands);
  const sizes = new Uint32Array(columns.setSizes);
  const pairs: string[] = [];
  for (let a = 0; a < columns.classes; a += 1)
    for (let b = a + 1; b < columns.classes; b += 1) {
      const meet = Array.from(
        { length: BANDS },
        (_, i) => bands[a * BANDS + i] === bands[b * BANDS + i],
      ).includes(true);
      const equal = meet && sizes[a] !== 0 && sizes[b] !== 0 ? filter.test(a, b) : -1;
      if (equal >= 0) pairs.push(`${a} ${b} ${equal}`);
    }
  return pairs.sort();
}

/** Works off everything, in whatever pieces. */
function joined(columns: Columns, limits: Pick<JoinInput, "maxPairs" | "maxRun">): string[] {
  const work: JoinWork[] = [
    { kind: "bands", from: 0, to: 5, at: 0 },
    { kind: "bands", from: 5, to: BANDS, at: 0 },
  ];
  const pairs: string[] = [];
  for (let next = work.shift(); next; next = work.shift()) {
    const found = run({ columns, parameters, work: next, ...limits }, control());
    if (found.rest) work.push(found.rest);
    for (const long of found.runs)
      work.push(
        { kind: "rows", run: long, from: 0, to: 1 },
        { kind: "rows", run: long, from: 1, to: long.members.byteLength / 4 },
      );
    for (let i = 0; i < found.low.length; i += 1)
      pairs.push(`${found.low[i]} ${found.high[i]} ${found.equal[i]}`);
  }
  return pairs.sort();
}

describe("joining", () => {
  it("finds every pair that meets and passes, once, whatever the pieces", () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 2, max: 40 }),
        (seed, maxPairs, maxRun) => {
          const columns = columnsOf(60, seed);
          expect(joined(columns, { maxPairs, maxRun })).toEqual(expected(columns));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("has something to find in these tests", () => {
    expect(expected(columnsOf(60, 1)).length).toBeGreaterThan(50);
  });

  it("stops soon after the caller has left", () => {
    const columns = columnsOf(2_000, 1, 1);
    const caller = control(3);
    expect(() =>
      run(
        {
          columns,
          parameters,
          work: { kind: "bands", from: 0, to: BANDS, at: 0 },
          maxPairs: 1e9,
          maxRun: 1e9,
        },
        caller,
      ),
    ).toThrow(expect.objectContaining({ code: "cancelled" }));
    expect(caller.looks).toBe(4);
  });
});

describe("the pair filter", () => {
  it("drops a pair whose tokens differ too much for the threshold, and keeps it without the penalty", () => {
    const columns: Columns = {
      classes: 2,
      numBands: BANDS,
      sketchSize: SKETCH,
      bands: shared(Array.from({ length: 2 * BANDS }, () => 1)),
      sketches: shared([1, 1, 1, 1, 1, 1, 1, 1]),
      setSizes: shared([100, 100]),
      tokenStarts: shared([0, 4]),
      tokens: shared([1, 0, 0, 111, 1, 0, 0, 222]),
    };
    expect(createPairFilter(columns, parameters).test(0, 1)).toBe(-1);
    expect(
      createPairFilter(columns, { ...parameters, discriminativePenaltyStrength: 0 }).test(0, 1),
    ).toBe(SKETCH);
  });

  it("keeps a pair that reaches the threshold only if all else is perfect, and drops the next one below", () => {
    const numbers = (own: number, from: number): number[] => [
      13 + own,
      0,
      0,
      ...Array.from({ length: 13 }, (_, i) => i),
      ...Array.from({ length: own }, (_, i) => from + i),
    ];
    const pair = (own: number): number => {
      const [a, b] = [numbers(3, 100), numbers(own, 200)];
      const columns = {
        ...columnsOf(2, 1, 1),
        sketches: shared([1, 1, 1, 1, 1, 1, 1, 1]),
        setSizes: shared([100, 100]),
        tokenStarts: shared([0, a.length]),
        tokens: shared([...a, ...b]),
      };
      return createPairFilter(columns, parameters).test(0, 1);
    };
    // D = 13/20 leaves 0.755 of a perfect base, D = 13/21 leaves 0.733.
    expect(pair(4)).toBe(SKETCH);
    expect(pair(5)).toBe(-1);
  });

  it("drops a pair whose sizes alone forbid the floor", () => {
    const columns = {
      ...columnsOf(2, 1, 1),
      sketches: shared([1, 1, 1, 1, 1, 1, 1, 1]),
      setSizes: shared([58, 100]),
    };
    expect(createPairFilter(columns, parameters).test(0, 1)).toBe(-1);
    expect(
      createPairFilter({ ...columns, setSizes: shared([59, 100]) }, parameters).test(0, 1),
    ).toBe(SKETCH);
  });
});

it("the radix sort orders by key, then by class", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 0xffff_ffff })), {
        maxLength: 200,
      }),
      (keys) => {
        const sorted = sortByKey(Uint32Array.from(keys), Uint32Array.from(keys.keys()));
        const order = [...keys.entries()].sort(([i, a], [j, b]) => a - b || i - j);
        expect([...sorted.classes]).toEqual(order.map(([i]) => i));
        expect([...sorted.keys]).toEqual(order.map(([, key]) => key));
      },
    ),
  );
});
