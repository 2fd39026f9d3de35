import { describe, expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import type { Columns } from "../../../workers/join/columns.ts";
import { CROWDED } from "../../../workers/join/crowded.ts";
import { probe } from "../../../workers/join/probe.ts";
import { run } from "../../../workers/tasks/join.ts";

const control = {
  cancelled: () => false,
  step: () => undefined,
  transfer: () => undefined,
};
const FLOOR = 0.5;

/** Classes whose keys and sketch values are drawn from few, so that many agree. */
function columnsOf(
  seed: number,
  { classes, keys }: { readonly classes: number; readonly keys: number },
): Columns {
  const random = mulberry32(seed);
  const [numBands, sketchSize] = [6, 32];
  const bands = new Uint32Array(new SharedArrayBuffer(classes * numBands * 4));
  const sketches = new Uint8Array(new SharedArrayBuffer(classes * sketchSize));
  const signed = new Uint8Array(new SharedArrayBuffer(classes));
  for (let i = 0; i < bands.length; i += 1)
    bands[i] = Math.imul(Math.floor(random() * keys), 0x85ebca6b) >>> 0;
  for (let i = 0; i < sketches.length; i += 1) sketches[i] = random() < 0.6 ? 1 : random() * 256;
  for (let i = 0; i < classes; i += 1) signed[i] = random() < 0.95 ? 1 : 0;
  return {
    classes,
    numBands,
    sketchSize,
    bands: bands.buffer,
    sketches: sketches.buffer,
    signed: signed.buffer,
  };
}

/** Every pair that a full join finds, as text. */
function allPairs(columns: Columns): string[] {
  const { low, high, equal } = run(
    {
      columns,
      floor: FLOOR,
      crowded: [],
      work: { kind: "bands", from: 0, to: columns.numBands, at: 0 },
      maxPairs: 1e9,
      maxRun: 1e9,
    },
    control,
  );
  return [...low].map((a, i) => `${a} ${high[i]} ${equal[i]}`);
}

describe("probing new classes", () => {
  it.each([1, 2, 3, 4, 5, 6])(
    "finds each pair of a full join that has a new class, once (seed %i)",
    (seed) => {
      const columns = columnsOf(seed, { classes: 300, keys: 40 });
      const signed = new Uint8Array(columns.signed);
      const random = mulberry32(seed + 100);
      const fresh = Uint32Array.from(
        Array.from({ length: columns.classes }, (_, i) => i).filter(
          (i) => signed[i] === 1 && random() < 0.1,
        ),
      );
      const isFresh = new Set(fresh.values().map(String));
      const wanted = allPairs(columns).filter((pair) => {
        const [a = "", b = ""] = pair.split(" ");
        return isFresh.has(a) || isFresh.has(b);
      });
      const found: string[] = [];
      const complete = probe(columns, FLOOR, fresh, {
        found: (low, high, equal) => found.push(`${low} ${high} ${equal}`) > 0,
        classDone: () => undefined,
      });
      expect(complete).toBe(true);
      expect(wanted.length).toBeGreaterThan(20);
      expect(found.toSorted()).toEqual(wanted.toSorted());
    },
  );

  it("gives up when a new class makes a run too long, which only a full join cuts", () => {
    const columns = columnsOf(7, { classes: CROWDED + 1_000, keys: 1 });
    const calls = { found: () => true, classDone: () => undefined };
    const bands = new Uint32Array(columns.bands);
    for (let i = 0; i < bands.length; i += 1) if (i % columns.numBands !== 0) bands[i] = i;
    expect(probe(columns, FLOOR, Uint32Array.of(3), calls)).toBe(false);
  });

  it("gives up when there are more pairs than one task returns", () => {
    const columns = columnsOf(8, { classes: 300, keys: 40 });
    const found = run(
      {
        columns,
        floor: FLOOR,
        crowded: [],
        work: { kind: "probe", fresh: Uint32Array.of(1, 2, 3, 4, 5) },
        maxPairs: 2,
        maxRun: 0,
      },
      control,
    );
    expect(found.gaveUp).toBe(true);
    expect(found.low).toHaveLength(0);
  });
});
