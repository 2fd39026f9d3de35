import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import type { Columns } from "../../../workers/join/columns.ts";
import { createPairFilter } from "../../../workers/join/pair-filter.ts";
import { sortByKey } from "../../../workers/join/sort.ts";
import { run } from "../../../workers/tasks/join.ts";
import type { JoinInput, JoinWork } from "../../../workers/tasks/join.ts";
import { control } from "../control.ts";

const SKETCH = 16;
const BANDS = 8;
const floor = 0.58;

function shared(values: readonly number[]): SharedArrayBuffer {
  const words = new Uint32Array(new SharedArrayBuffer(values.length * 4));
  words.set(values);
  return words.buffer;
}

function sharedBytes(values: readonly number[]): SharedArrayBuffer {
  const bytes = new Uint8Array(new SharedArrayBuffer(values.length));
  bytes.set(values);
  return bytes.buffer;
}

/** Classes whose bands agree often. */
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
    signed: sharedBytes(Array.from({ length: classes }, (_, i) => Number(i % 10 !== 9))),
  };
}

function expected(columns: Columns): string[] {
  const filter = createPairFilter(columns, floor);
  const bands = new Uint32Array(columns.bands);
  const signed = new Uint8Array(columns.signed);
  const pairs: string[] = [];
  for (let a = 0; a < columns.classes; a += 1)
    for (let b = a + 1; b < columns.classes; b += 1) {
      const meet = Array.from(
        { length: BANDS },
        (_, i) => bands[a * BANDS + i] === bands[b * BANDS + i],
      ).includes(true);
      const equal = meet && signed[a] === 1 && signed[b] === 1 ? filter.test(a, b) : -1;
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
    const found = run({ columns, floor, work: next, ...limits }, control());
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
          floor,
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
  it("keeps a pair whose estimate may belong to the floor, and drops one below", () => {
    const size = 256;
    const sketches = (equal: number): number[] => {
      const bytes = new Uint8Array(2 * size);
      bytes.fill(1, equal, size);
      return [...new Uint32Array(bytes.buffer)];
    };
    const test = (equal: number): number =>
      createPairFilter(
        { ...columnsOf(2, 1, 1), sketchSize: size, sketches: shared(sketches(equal)) },
        floor,
      ).test(0, 1);
    // An estimate of .48 is that of 124 equal bytes, chance included.
    expect(test(124)).toBe(124);
    expect(test(123)).toBe(-1);
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
