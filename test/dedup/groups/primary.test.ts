import {
  assert as check,
  constantFrom,
  integer,
  option,
  property,
  record,
  uniqueArray,
} from "fast-check";
import { describe, expect, it } from "vitest";
import type { PrimaryCandidate } from "../../../src/dedup/groups/primary.ts";
import { edited, openBench, prose } from "./bench.ts";
import { suggestPrimary } from "../../../src/dedup/groups/primary.ts";

function candidate(archiveRef: string, fields: Partial<PrimaryCandidate> = {}): PrimaryCandidate {
  return { archive: "box", archiveRef, wordCount: 100, ...fields };
}

function refOf(candidates: readonly PrimaryCandidate[]): string {
  return candidates[suggestPrimary(candidates).index]?.archiveRef ?? "";
}

describe("the suggested primary", () => {
  it.each<[string, Partial<PrimaryCandidate>, Partial<PrimaryCandidate>, RegExp]>([
    [
      "has the complete text",
      { wordCount: 120, quality: 0.1 },
      { wordCount: 80, quality: 1 },
      /complete text of 120 words/,
    ],
    [
      "has the clean text",
      { quality: 0.99 },
      { quality: 0.9, correspondent: "Ada" },
      /cleanest text, 99 %/,
    ],
    [
      "has most metadata",
      { correspondent: "Ada", tags: ["tax"] },
      { documentType: "bill", createdDate: undefined },
      /most metadata \(correspondent, tags\)/,
    ],
    [
      "is the oldest",
      { createdDate: "2020-01-01" },
      { createdDate: "2021-01-01T00:00:00+01:00" },
      /oldest, created 2020-01-01/,
    ],
    [
      "was added first",
      { addedDate: "2020-01-01" },
      { addedDate: "2021-01-01" },
      /oldest, added 2020-01-01/,
    ],
    [
      "was left alone longest",
      { modifiedDate: "2020-01-01T00:00:00.000Z" },
      { modifiedDate: "2021-01-01T00:00:00.000Z" },
      /oldest, not changed since 2020-01-01/,
    ],
  ])("%s", (_, better, worse, reason) => {
    const [b, a] = [candidate("b", better), candidate("a", worse)];
    expect([refOf([a, b]), refOf([b, a])]).toEqual(["b", "b"]);
    expect(suggestPrimary([a, b]).reasons.join()).toMatch(reason);
  });

  it("is the one with the lowest id among equals, numbers as numbers", () => {
    expect(refOf([candidate("x", { paperlessId: 10 }), candidate("y", { paperlessId: 9 })])).toBe(
      "y",
    );
    expect(suggestPrimary([candidate("b"), candidate("a")])).toEqual({
      index: 1,
      reasons: ["first by name among 2 equals: a"],
    });
  });

  it.each([
    "a copy.txt",
    "a-copy-2.md",
    "x/a (1).txt",
    "copy of a.txt",
    "a - Kopie.pdf.txt",
    "a_copy",
  ])("is not the one named as a copy: %s", (name) => {
    expect(suggestPrimary([candidate(name), candidate("z/original.txt")])).toEqual({
      index: 1,
      reasons: ["not named as a copy"],
    });
  });

  it.each(["copyright", "hardcopy.txt", "report (2024).txt", "copy/of/a.txt"])(
    "may be called %s",
    (name) => {
      expect(refOf([candidate(name), candidate("z")])).toBe(name);
    },
  );

  it("needs no reason when it is alone, and does not stumble over dates that are none", () => {
    expect(suggestPrimary([candidate("a", { createdDate: "yesterday" })])).toEqual({
      index: 0,
      reasons: [],
    });
    expect(
      refOf([candidate("b", { createdDate: "soon" }), candidate("a", { createdDate: "later" })]),
    ).toBe("a");
  });

  it("does not depend on the order of the members", () => {
    const any = record({
      archive: constantFrom("box", "bag"),
      archiveRef: constantFrom("a", "b", "c"),
      wordCount: integer({ min: 90, max: 110 }),
      quality: option(constantFrom(0.9, 0.95, 1), { nil: undefined }),
      correspondent: option(constantFrom("Ada"), { nil: undefined }),
      createdDate: option(constantFrom("2020-01-01", "2021-01-01"), { nil: undefined }),
      modifiedDate: option(constantFrom("2019-01-01", "2022-01-01"), { nil: undefined }),
    });
    check(
      property(
        uniqueArray(any, {
          minLength: 1,
          maxLength: 6,
          selector: ({ archive, archiveRef }) => `${archive} ${archiveRef}`,
        }),
        (candidates) => {
          const there = candidates[suggestPrimary(candidates).index];
          const reversed = candidates.toReversed();
          const back = reversed[suggestPrimary(reversed).index];
          expect([back?.archive, back?.archiveRef, suggestPrimary(reversed).reasons]).toEqual([
            there?.archive,
            there?.archiveRef,
            suggestPrimary(candidates).reasons,
          ]);
        },
      ),
    );
  });
});

it("is the cleanest text of a group, however many texts the group has", async () => {
  const bench = await openBench();
  const noisy = edited(edited(prose(1), 10, "¤¤¤¤¤¤¤¤¤¤¤"), 40, "¤¤¤¤¤¤¤¤¤¤¤");
  for (let docNo = 1; docNo <= 11; docNo += 1)
    await bench.put(docNo, edited(noisy, 15 + 2 * docNo, `edit${docNo}`));
  // The fewest words, yet enough to be complete.
  await bench.put(12, prose(1).split(" ").slice(0, 59).join(" "));
  await bench.analyse();
  const groups = bench.groups().filter(({ row }) => row.members.includes(12));
  expect(groups.length).toBeGreaterThan(0);
  expect(Math.max(...groups.map(({ row }) => row.members.length))).toBeGreaterThan(9);
  for (const { row } of groups) {
    expect(row.suggestedPrimary).toBe(12);
    expect(row.reasons.at(-1)).toMatch(/cleanest text, 100 % ordinary characters/);
  }
  await bench.close();
});
