import { describe, expect, it } from "vitest";
import { formatSummary } from "../../../src/commands/report/summary.ts";

const summary = {
  documents: 1234,
  skipped: { unreadable: 1, "fewer than 20 words": 12, empty: 0 },
  notes: ["a\u001b.txt: not text"],
  pairs: 1,
  groups: 2,
  durationMs: 187_000,
  documentsPerSecond: 6.6,
  peakMemoryBytes: 1_400_000_000,
};

describe("the summary for people", () => {
  it("says what was read, left out and why, found, and how fast", () => {
    expect(formatSummary(summary)).toBe(
      [
        "note: a\\u001b.txt: not text",
        "1,234 documents, 13 skipped: 12 fewer than 20 words, 1 unreadable",
        "1 pair in 2 groups",
        "6.6 documents per second (3:07 min), peak memory 1.3 GiB",
        "",
      ].join("\n"),
    );
  });

  it("lists what was skipped when that was asked for, and notes nothing of it twice", () => {
    const skippedItems = [
      { id: "a\u001b.txt", reason: "unreadable", detail: "not text" },
      { id: "b.txt", reason: "fewer than 20 words", detail: "fewer than 20 words" },
    ];
    const notes = [...summary.notes, "c.txt: read as windows-1252"];
    expect(
      formatSummary({ ...summary, notes, skippedItems })
        .split("\n")
        .slice(0, 3),
    ).toEqual([
      "skipped (unreadable): a\\u001b.txt: not text",
      "skipped (fewer than 20 words): b.txt",
      "note: c.txt: read as windows-1252",
    ]);
  });

  it("counts notes beyond twenty", () => {
    const text = formatSummary({
      ...summary,
      skipped: {},
      notes: Array.from({ length: 1000 }, (_, index) => `line ${index}`),
    });
    expect(text.match(/note:/g)).toHaveLength(21);
    expect(text).toContain("note: and 980 more notes\n");
    expect(text).toContain("1,234 documents, none skipped");
  });
});
