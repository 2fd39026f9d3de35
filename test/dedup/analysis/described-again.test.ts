import { describe, expect, it } from "vitest";
import type { ArchiveDocument } from "../../../src/dedup/archives/archive.ts";
import type { Bench } from "../groups/bench.ts";
import { edited, openBench, prose } from "../groups/bench.ts";

const one = prose(1);
const two = prose(2);

function documentOf(ref: string, text: string, correspondent?: string): ArchiveDocument {
  return {
    kind: "document",
    ref,
    version: `${text} ${correspondent}`,
    title: ref,
    text,
    tags: [],
    notes: [],
    ...(correspondent === undefined ? {} : { correspondent }),
  };
}

/** Two near-duplicates that a sync has stored. */
const [first, second] = [documentOf("1.txt", one), documentOf("2.txt", edited(one, 30, "other"))];
/** The second with a correspondent, and a new text beside both. */
const described = [first, documentOf("2.txt", edited(one, 30, "other"), "Ada")];
const withNewText = [...described, documentOf("3.txt", two)];

/** Opens a bench with the two documents, not yet analysed. */
async function twoSynced(): Promise<Bench> {
  const bench = await openBench();
  await bench.sync(async function* () {
    yield [first, second];
  });
  return bench;
}

function primaries(bench: Bench): number[] {
  return bench.groups().map(({ row }) => row.suggestedPrimary);
}

describe("an analysis", () => {
  it("describes a group again whose metadata a sync wrote that had begun before the last one", async () => {
    const bench = await twoSynced();
    await bench.sync(async function* () {
      await bench.analyse();
      expect(primaries(bench)).toEqual([1]);
      yield withNewText;
    });
    await bench.analyse();
    expect(primaries(bench)).toEqual([2]);
  });

  it("describes a group again whose metadata were stored after the clock was set back", async () => {
    const hourMs = 3_600_000;
    const bench = await twoSynced();
    await bench.analyse();
    expect(primaries(bench)).toEqual([1]);
    bench.clock.advance(-hourMs);
    await bench.sync(async function* () {
      yield described;
    });
    // By the time of the next one the clock is later than at the last one again.
    bench.clock.advance(2 * hourMs);
    await bench.put(9, two);
    await bench.analyse();
    expect(primaries(bench)).toEqual([2]);
  });

  it("describes a group again when the clock was set back while the last one ran", async () => {
    const bench = await twoSynced();
    await bench.analyse({
      beforeCommit: (count) => (count === 2 ? bench.clock.advance(-3_600_000) : undefined),
    });
    expect(primaries(bench)).toEqual([1]);
    await bench.sync(async function* () {
      yield withNewText;
    });
    await bench.analyse();
    expect(primaries(bench)).toEqual([2]);
  });
});
