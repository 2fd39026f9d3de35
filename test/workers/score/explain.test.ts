import { describe, expect, it } from "vitest";
import { explain } from "../../../workers/score/explain.ts";
import { type TokenSets } from "../../../workers/score/token-sets.ts";

const none: TokenSets = {
  dates: [],
  times: [],
  amounts: [],
  identifiers: [],
  references: [],
  routes: [],
};
const alike = { jaccard: 0.9999, fuzzy: 0.98, sameText: false };

describe("an explanation", () => {
  it("never rounds up to a hundred, and names the length of the phrases", () => {
    expect(explain(none, none, alike)[0]).toBe("99 % of three-word phrases shared");
    expect(explain(none, none, { ...alike, jaccard: 1, ngramSize: 5 })[0]).toBe(
      "100 % of five-word phrases shared",
    );
    expect(explain(none, none, { ...alike, ngramSize: 1 })[0]).toBe("99 % of words shared");
    expect(explain(none, none, { ...alike, ngramSize: 12 })[0]).toBe(
      "99 % of 12-word phrases shared",
    );
  });

  it("says what is the same, what differs and what only one text has", () => {
    const a = {
      ...none,
      dates: ["2024-03-14"],
      times: ["08:45", "09:00"],
      amounts: ["1.00"],
      routes: ["osl>cdg"],
    };
    const b = {
      ...none,
      dates: ["2024-06-14"],
      times: ["08:45"],
      identifiers: ["x1", "x2"],
      routes: ["cdg>osl"],
    };
    expect(explain(a, b, alike).slice(2)).toEqual([
      "different dates: 2024-03-14 / 2024-06-14",
      "same time 08:45",
      "only the first text has time 09:00",
      "only the first text has amount 1.00",
      "only the second text has identifying numbers x1, x2",
      "different routes: osl to cdg / cdg to osl",
    ]);
  });

  it("shows four values at most, each of forty characters at most", () => {
    const references = ["1".repeat(100), "2", "3", "4", "5", "6"];
    expect(explain({ ...none, references }, { ...none, references }, alike)[2]).toBe(
      `same reference numbers ${"1".repeat(39)}…, 2, 3, 4 and 2 more`,
    );
  });
});
