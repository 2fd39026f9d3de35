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

  it.each<[older: string, newer: string]>([
    ["2022", "2022-02"],
    ["2022-12", "2022-12-02"],
    ["2023-02-05", "2023-02-05T00:00:01"],
    ["2023-02-05T10:00:00Z", "2023-02-05T10:00:01"],
    ["2023-02-05T10:00", "2023-02-05t10:00:00.001z"],
    ["2023-02-05 10:00:00,5", "2023-02-05T10:00:01.123456789Z"],
    ["2023-02-05T11:59:59+02:00", "2023-02-05T10:00:00Z"],
    ["2023-02-05T11:59:59+0200", "2023-02-05T10:00:00Z"],
    ["2023-02-05T11:59:59+02", "2023-02-05T10:00:00Z"],
    ["2023-02-05T10:00:00Z", "2023-02-05T04:00:01-06:00"],
  ])("reads a date by ISO 8601, without a zone in UTC: %s is before %s", (older, newer) => {
    const members = [
      candidate("a", { createdDate: newer }),
      candidate("b", { createdDate: older }),
    ];
    expect(suggestPrimary(members)).toEqual({ index: 1, reasons: [`oldest, created ${older}`] });
  });

  it.each([
    "05.02.2023",
    "31.01.2020",
    "02/05/2023",
    "invoice 12",
    "5 Feb 2023",
    "1",
    "20230205",
    "2023-2-5",
    "2023-13",
    "2023-02-30",
    "2023-02-05T25:00",
    "2023-02-05T10",
    "2023-02-05T10:00 CET",
    " 2023-02-05",
  ])("takes %j for no date", (text) => {
    const dated = candidate("b", { addedDate: "2024-01-01" });
    const changed = candidate("a", { addedDate: text, modifiedDate: "2024-01-02" });
    expect(suggestPrimary([changed, dated])).toEqual({
      index: 1,
      reasons: ["oldest, added 2024-01-01"],
    });
    const [named, unnamed] = [candidate("b", { createdDate: text }), candidate("a")];
    expect(suggestPrimary([named, unnamed])).toEqual({
      index: 1,
      reasons: ["first by name among 2 equals: a"],
    });
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
