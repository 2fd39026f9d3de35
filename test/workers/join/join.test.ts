import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import type { Columns } from "../../../workers/join/columns.ts";
import { createRunComparer } from "../../../workers/join/run-comparer.ts";
import { sortByKey } from "../../../workers/join/sort.ts";
import { leastEqual } from "../../../workers/sketch/estimate.ts";
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
  const least = leastEqual(floor, SKETCH);
  const sketches = new Uint8Array(columns.sketches);
  const equalBytes = (a: number, b: number): number =>
    Array.from(
      { length: SKETCH },
      (_, i) => sketches[a * SKETCH + i] === sketches[b * SKETCH + i],
    ).filter(Boolean).length;
  const bands = new Uint32Array(columns.bands);
  const signed = new Uint8Array(columns.signed);
  const pairs: string[] = [];
  for (let a = 0; a < columns.classes; a += 1)
    for (let b = a + 1; b < columns.classes; b += 1) {
      const meet = Array.from(
        { length: BANDS },
        (_, i) => bands[a * BANDS + i] === bands[b * BANDS + i],
      ).includes(true);
      const equal = meet && signed[a] === 1 && signed[b] === 1 ? equalBytes(a, b) : -1;
      if (equal >= least) pairs.push(`${a} ${b} ${equal}`);
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
    const found = run({ columns, floor, crowded: [], work: next, ...limits }, control());
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
          crowded: [],
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

describe("a run of more than 8,192 classes", () => {
  it("is compared in part: pairs are met where fewer agree, and each class with its representatives", () => {
    const classes = 9_001;
    const keys = Array.from({ length: classes }, (_, i) =>
      Array.from({ length: BANDS }, (_unused, band) =>
        (band === 0 && i < 8_500) || band === 5
          ? 1
          : band === 3
            ? 10 + (i >> 1)
            : 100_000 + i * BANDS + band,
      ),
    );
    const columns = {
      ...columnsOf(classes, 1, 1),
      bands: shared(keys.flat()),
      sketches: shared(Array.from({ length: (classes * SKETCH) / 4 }, () => 5)),
      signed: sharedBytes(Array.from({ length: classes }, () => 1)),
    };
    const input = { columns, floor, maxPairs: 1e9, maxRun: 1_024 };
    const bands = { from: 0, to: BANDS };
    const found = run({ ...input, crowded: [], work: { kind: "crowded", ...bands } }, control());
    expect(found.crowded).toEqual([0, 1, 5, 1]);
    const one = new Set([1]);
    const crowded = Array.from({ length: BANDS }, (_, band) =>
      band === 0 || band === 5 ? one : undefined,
    );
    const { low, high } = run(
      { ...input, crowded, work: { kind: "bands", ...bands, at: 0 } },
      control(),
    );
    const pairs = new Set(Array.from(low, (a, i) => `${a} ${high[i]}`));
    expect(pairs.size).toBe(low.length);
    for (let i = 0; i + 1 < classes; i += 2) expect(pairs.has(`${i} ${i + 1}`)).toBe(true);
    // In the first run and, of those that are not in it, in the second.
    for (let i = 128; i < classes; i += 1) expect(pairs.has(`${i % 128} ${i}`)).toBe(true);
    const ofRepresentatives = (128 * 127) / 2;
    expect(pairs.size).toBe(ofRepresentatives + (classes - 128) * 128 + (classes - 129) / 2);
  });
});

describe("comparing the members of a run", () => {
  /** What a comparer finds among `members`, as "low high equal". */
  function found(columns: Columns, band: number, members: readonly number[]): string[] {
    const pairs: string[] = [];
    createRunComparer(columns, floor, []).compare(
      band,
      Uint32Array.from(members),
      { from: 0, to: members.length },
      {
        found: (low, high, equal) => void pairs.push(`${low} ${high} ${equal}`),
        rowDone: () => undefined,
      },
    );
    return pairs.sort();
  }

  it("keeps a pair whose estimate may belong to the floor, and drops one below", () => {
    const size = 256;
    const test = (equal: number): string[] => {
      const bytes = new Uint8Array(2 * size);
      bytes.fill(1, equal, size);
      const sketches = shared([...new Uint32Array(bytes.buffer)]);
      return found({ ...columnsOf(2, 1, 1), sketchSize: size, sketches }, 0, [0, 1]);
    };
    // An estimate of .48 is that of 124 equal bytes, chance included.
    expect(test(124)).toEqual(["0 1 124"]);
    expect(test(123)).toEqual([]);
  });

  it("counts equal bytes as they are, whatever the length of a sketch and the members of a run", () => {
    for (const [size, classes] of [
      [16, 40],
      [63, 30],
      [256, 30],
      [1_024, 3_100],
    ] as const) {
      const random = mulberry32(size);
      const stride = Math.ceil(size / 4) * 4;
      const bytes = new Uint8Array(classes * stride);
      for (let at = 0; at < classes; at += 1)
        for (let i = 0; i < size; i += 1) bytes[at * stride + i] = random() < 0.8 ? 7 : at & 255;
      const sketches = shared([...new Uint32Array(bytes.buffer)]);
      const columns = { ...columnsOf(classes, 1, 1), classes, sketchSize: size, sketches };
      // The first and the last lie in different loads of the module's memory.
      const members = classes > 100 ? [...Array(classes).keys()] : [...Array(30).keys()];
      const pairs = new Set(found(columns, 0, members));
      for (const [a, b] of [
        [0, 1],
        [0, members.length - 1],
        [5, 20],
      ] as const) {
        let equal = 0;
        for (let i = 0; i < size; i += 1)
          if (bytes[a * stride + i] === bytes[b * stride + i]) equal += 1;
        expect(pairs.has(`${a} ${b} ${equal}`)).toBe(equal >= leastEqual(floor, size));
      }
    }
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
