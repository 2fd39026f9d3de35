import { expect, it } from "vitest";
import { createPairTable } from "../../../src/dedup/analysis/pair-table.ts";
import { mulberry32 } from "../../../bench/corpus.ts";

/** Numbers of texts whose pairs lie close, far apart, and at the end of what there is. */
const RANGES = [
  { first: 0, texts: 40 },
  { first: 0, texts: 2 ** 26 },
  { first: 2 ** 26 - 300, texts: 300 },
];

it.each([1, 2, 3, 4, 5, 6])("finds what a map of the pairs finds (seed %i)", (seed) => {
  const random = mulberry32(seed);
  const table = createPairTable();
  const map = new Map<string, number>();
  const rows: unknown[] = [];
  const { first = 0, texts = 0 } = RANGES[seed % RANGES.length] ?? {};
  const text = (): number => first + Math.floor(random() * texts);
  const wrong: string[] = [];
  for (let round = 0; round < 30_000; round += 1) {
    const [a, b] = [text(), text()];
    const name = `${Math.min(a, b)} ${Math.max(a, b)}`;
    if (table.find(a, b) !== (map.get(name) ?? -1)) wrong.push(name);
    if (a === b || random() < 0.3) continue;
    const scores = {
      jaccard: random() - 0.5,
      discriminative: random() < 0.5 ? Number.NaN : random(),
      fuzzy: -random(),
    };
    table.add(a, b, scores);
    map.set(name, rows.length);
    rows.push({ low: Math.min(a, b), high: Math.max(a, b), ...scores });
    if (table.size !== rows.length) wrong.push(name);
  }
  expect(wrong).toEqual([]);
  expect(rows.length).toBeGreaterThan(15_000);
  for (const [name, place] of map) {
    const [low = 0, high = 0] = name.split(" ").map(Number);
    if (table.find(low, high) !== place || table.find(high, low) !== place) wrong.push(name);
  }
  expect(wrong).toEqual([]);
  expect(rows.map((_, place) => table.at(place))).toEqual(rows);
});
