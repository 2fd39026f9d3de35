import { describe, expect, it } from "vitest";
import { confidence, type ScoreParameters } from "../../../workers/score/confidence.ts";
import { discriminativeScore } from "../../../workers/score/discriminative.ts";
import { explain } from "../../../workers/score/explain.ts";
import { fuzzyRatio, wordSorted } from "../../../workers/score/fuzzy.ts";
import { jaccardAtLeast } from "../../../workers/score/jaccard.ts";
import { tokensOf } from "../../../workers/score/tokens.ts";

const defaults: ScoreParameters = {
  similarityThreshold: 0.75,
  confidenceWeightJaccard: 60,
  confidenceWeightFuzzy: 40,
  discriminativePenaltyStrength: 70,
  fuzzySampleSize: 10_000,
};

const garden =
  "The garden committee met on Tuesday evening and agreed to repaint the old wooden fence before winter while Harriet collects the brushes, buckets and green paint from the shed.";
const water =
  "Northwind Water Invoice number: NW-20417 Date: 14/03/2024 Account: 55810234 for the supply of fresh water and drainage at your home during the last quarter. Total due: $148.20 payable within thirty days by bank transfer or card, thank you.";
const boarding =
  "Boarding pass for Ms Odile Brandt, flight QX118 from osl to cdg on 2025-02-09 departing 08:45, gate B12, seat 14A, booking ref ZKT9QF. Please be at the gate twenty minutes before the departure time shown above.";
const lease =
  "Lease reminder: the tenant at Mill Lane keeps the heating serviced every autumn and reports leaks at once. Rent of 1,250.00 is collected on the first working day, and the deposit stays with the agency until the keys are returned in spring.";

/** Worked examples; `ownD` is ours where the better tokens change D. */
const examples = [
  {
    name: "E1",
    a: garden,
    b: garden.replace("garden ", "garden  ").replace(" while", "\nwhile").replace("green", "GREEN"),
    fuzzy: 1,
    D: 1,
    overall: 1,
    ownD: 1,
  },
  {
    name: "E2",
    a: garden,
    b: garden.replace("green", "white"),
    fuzzy: 0.9314285714285714,
    D: 1,
    overall: 0.8525714285714285,
    ownD: 1,
  },
  {
    name: "E3",
    a: water,
    b: water
      .replace("NW-20417", "NW-20988")
      .replace("14/03/2024", "14/06/2024")
      .replace("$148.20", "$151.75"),
    // The amount no longer counts as a reference too: the account number is the one reference, and
    // it agrees.
    fuzzy: 0.9665271966527197,
    D: 0.125,
    overall: 0.297766260935717,
    ownD: (2 / 3 + 1) / 8,
  },
  {
    name: "E4",
    a: boarding,
    b: boarding.replace(
      "QX118 from osl to cdg on 2025-02-09 departing 08:45",
      "QX119 from cdg to osl on 2025-02-16 departing 19:30",
    ),
    // The date no longer counts as a reference too.
    fuzzy: 0.9476190476190476,
    D: 0.10909090909090909,
    overall: 0.25807792207792213,
    ownD: 1.2 / 10,
  },
  {
    name: "E5",
    a: lease,
    b: lease.replace(" of 1,250.00", ""),
    fuzzy: 0.9497907949790795,
    D: 0.5,
    overall: 0.581231320980275,
    ownD: 0.5,
  },
] as const;

function normalised(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

/** Numbers the three-word phrases of both texts and compares the sets. */
function exactJaccard(a: string, b: string): number {
  const numbers = new Map<string, number>();
  const [left, right] = [a, b].map((text) => {
    const words = text.split(" ");
    const phrases = words.slice(2).map((_, index) => words.slice(index, index + 3).join(" "));
    return Uint32Array.from(
      new Set(
        phrases.map((phrase) => {
          const number = numbers.get(phrase) ?? numbers.size;
          numbers.set(phrase, number);
          return number;
        }),
      ),
    ).sort();
  });
  if (left === undefined || right === undefined) return 0;
  return jaccardAtLeast(left, right, 0);
}

describe.each(examples)("worked example $name", ({ a, b, fuzzy, D, overall, ownD }) => {
  const [left, right] = [normalised(a), normalised(b)];
  const jaccard = exactJaccard(left, right);
  const ratio = fuzzyRatio(wordSorted(left), wordSorted(right));
  const own = discriminativeScore(tokensOf(left), tokensOf(right));

  it("has the fuzzy ratio to the last digit", () => {
    expect(ratio).toBe(fuzzy);
    expect(fuzzyRatio(wordSorted(left), wordSorted(right), fuzzy)).toBe(fuzzy);
  });

  it("has the confidence to the last digit with the original D", () => {
    expect(confidence(jaccard, ratio, D, defaults)).toBe(overall);
  });

  it("has our own D, and is a pair only if it should be", () => {
    expect(own).toBeCloseTo(ownD, 15);
    expect(confidence(jaccard, ratio, own, defaults) >= 0.75).toBe(overall >= 0.75);
  });
});

describe("the explanation of worked examples", () => {
  const explained = (index: number): readonly string[] => {
    const { a, b } = examples[index] ?? examples[0];
    const [left, right] = [normalised(a), normalised(b)];
    return explain(tokensOf(left), tokensOf(right), {
      jaccard: exactJaccard(left, right),
      fuzzy: fuzzyRatio(wordSorted(left), wordSorted(right)),
      sameText: left === right,
    });
  };

  it("calls E1 an exact copy", () =>
    expect(explained(0)).toEqual(["exact copy: the texts are the same, word for word"]));

  it("says what tells the two water bills of E3 apart", () => {
    expect(explained(2)).toEqual([
      "63 % of three-word phrases shared",
      "96 % alike letter by letter, whatever the order of the words",
      "different dates: 2024-03-14 / 2024-06-14",
      "different amounts: 148.20 / 151.75",
      "same identifying number 55810234",
      "different identifying numbers: nw20417 / nw20988",
      "same reference number 55810234",
    ]);
  });

  it("says that only one lease of E5 names a sum", () =>
    expect(explained(4)).toContain("only the first text has amount 1250.00"));
});
