import { describe, expect, it } from "vitest";
import { compareWords, type Stretch } from "../../../gateway/web/difference.ts";

function shown(stretches: readonly Stretch[]): string {
  return stretches
    .map(({ same, left, right }) =>
      same ? left.join(" ") : `[-${left.join(" ")}-]{+${right.join(" ")}+}`,
    )
    .join(" ");
}

/** A small generator with a seed, so that a failure can be repeated. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Length of the longest common subsequence, by the textbook's table. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const word of a) {
    const next = [0];
    for (const [at, other] of b.entries())
      next.push(word === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}

describe("the difference of two texts by words", () => {
  it.each([
    ["a b c", "a b c", "a b c"],
    ["a b c", "a x c", "a [-b-]{+x+} c"],
    ["a  b\nc", "a b c", "a b c"],
    ["", "", ""],
    ["", "a b", "[--]{+a b+}"],
    ["a b", "", "[-a b-]{++}"],
    ["a b", "c d", "[-a b-]{+c d+}"],
    ["a b c d", "a c d e", "a [-b-]{++} c d [--]{+e+}"],
    ["one two one two", "two one two one", "[-one-]{++} two one two [--]{+one+}"],
    ["total 12,50 EUR", "total 13,50 EUR", "total [-12,50-]{+13,50+} EUR"],
  ])("of %j and %j is %j", (left, right, expected) => {
    expect(shown(compareWords(left, right).stretches)).toBe(expected);
  });

  it("gives back both texts, and never calls different words the same", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const next = generator(seed);
      const text = (): string[] => Array.from({ length: next(40) }, () => `w${next(1 + next(12))}`);
      const [a, b] = [text(), text()];
      const { stretches } = compareWords(a.join(" "), b.join(" "));
      expect([
        seed,
        stretches.flatMap(({ left }) => left),
        stretches.flatMap(({ right }) => right),
      ]).toEqual([seed, a, b]);
      for (const { same, left, right } of stretches) if (same) expect(left).toEqual(right);
      for (const [index, { same }] of stretches.entries())
        if (index > 0) expect([seed, same]).toEqual([seed, !stretches[index - 1]?.same]);
    }
  });

  it("keeps as many words as can be kept where no word anchors the comparison", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const next = generator(seed);
      // No common ends, and each common word at least twice on both sides.
      const text = (first: string, last: string): string[] => [
        first,
        "a",
        "b",
        "c",
        ...Array.from({ length: next(30) }, () => ["a", "b", "c"][next(3)] ?? ""),
        "c",
        "b",
        "a",
        last,
      ];
      const [a, b] = [text("p", "q"), text("r", "s")];
      const kept = compareWords(a.join(" "), b.join(" "))
        .stretches.filter(({ same }) => same)
        .reduce((sum, { left }) => sum + left.length, 0);
      expect([seed, kept]).toEqual([seed, longestCommon(a, b)]);
    }
  });

  it("stops at the limit and says so", () => {
    const long = Array.from({ length: 30_000 }, (_, index) => `w${index}`).join(" ");
    const { stretches, truncated } = compareWords(long, `${long} more`);
    expect([stretches.length, stretches[0]?.left.length, truncated]).toEqual([1, 20_000, true]);
    expect(compareWords("a b c", "a b d", 2)).toEqual({
      stretches: [{ same: true, left: ["a", "b"], right: ["a", "b"] }],
      truncated: true,
    });
  });

  it("of hostile texts is one replacement: repeated words without an anchor, all different", () => {
    const next = generator(7);
    const noise = (words: readonly string[]): string =>
      Array.from({ length: 20_000 }, () => words[next(words.length)] ?? "").join(" ");
    const { stretches } = compareWords(noise(["a", "b"]), noise(["c", "d"]));
    expect(stretches.length).toBe(1);
    const mixed = compareWords(noise(["a", "b", "c"]), noise(["a", "b", "d"])).stretches;
    expect(mixed.flatMap(({ left }) => left).length).toBe(20_000);
  });
});
