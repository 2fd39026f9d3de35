import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import { formatJson } from "../../../src/commands/report/json.ts";
import type { DedupReport, ReportGroup } from "../../../src/commands/report/types.ts";

const summary = {
  documents: 2,
  skipped: { "too short": 1 },
  notes: ["x"],
  pairs: 1,
  groups: 1,
  durationMs: 5,
  documentsPerSecond: 400,
  peakMemoryBytes: 1,
};

function group(title: string): ReportGroup {
  return {
    id: "g",
    confidence: 1,
    jaccard: 1,
    fuzzy: 1,
    discriminative: 1,
    status: "pending",
    members: [{ id: "a", title, primary: true, words: 3 }],
    reasons: [],
  };
}

function whole(report: DedupReport): string {
  return [...formatJson(report)].join("");
}

describe("the report as JSON", () => {
  it("is one object with three keys in order, whatever the titles", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 5 }), (titles) => {
        const report = {
          summary,
          parameters: { similarityThreshold: 0.75 },
          groups: titles.map(group),
        };
        const text = whole(report);
        expect(JSON.parse(text)).toEqual(report);
        expect(Object.keys(JSON.parse(text) as object)).toEqual([
          "summary",
          "parameters",
          "groups",
        ]);
        expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  it("has a group a line", () => {
    expect(
      whole({ summary, parameters: {}, groups: [group("x"), group("y")] }).split("\n"),
    ).toHaveLength(6);
    expect(JSON.parse(whole({ summary, parameters: {}, groups: [] }))).toMatchObject({
      groups: [],
    });
  });
});
