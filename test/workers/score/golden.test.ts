import { describe, expect, it } from "vitest";
import { discriminativeScore } from "../../../workers/score/discriminative.ts";
import { findExceptions, loadExceptions, loadPairs, saveExceptions } from "./golden.ts";

const pairs = loadPairs();

describe("the thousand golden pairs", () => {
  it("give the golden D from the golden tokens, to the last digit", () => {
    expect(pairs).toHaveLength(1000);
    for (const { ta, tb, D } of pairs) expect(discriminativeScore(ta, tb)).toBe(D);
  });

  // After a change of the rules: STEWARD_GOLDEN=write, then read the diff of
  // golden-exceptions.json.
  it("give the golden D from our tokens, save on the listed lines for the listed reasons", () => {
    const found = findExceptions(pairs);
    expect(
      found.flatMap(({ line, reasons }) =>
        reasons
          .filter((reason) => reason.startsWith("UNEXPLAINED"))
          .map((reason) => `${line}: ${reason}`),
      ),
    ).toEqual([]);
    if (process.env["STEWARD_GOLDEN"] === "write") saveExceptions(found);
    expect(found).toEqual(loadExceptions());
  });
});
