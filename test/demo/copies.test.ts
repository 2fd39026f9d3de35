import { describe, expect, it } from "vitest";
import { editWords, misreadLetters } from "../../src/demo/copies.ts";
import { expand } from "../../src/demo/grammar.ts";
import { inventMinutes } from "../../src/demo/minutes.ts";
import { createRandom } from "../../src/demo/random.ts";

const document = inventMinutes(createRandom(4));
const words = (text: readonly string[]): string[] => text.join(" ").split(/\s+/);

describe("copies", () => {
  it("with edits differ in a few words and in no figure", () => {
    const edited = editWords(document, 3, createRandom(1));
    const lost = words(document.paragraphs).filter(
      (word) => !words(edited.paragraphs).includes(word),
    );
    expect(edited.paragraphs).not.toEqual(document.paragraphs);
    expect(lost.length).toBeLessThanOrEqual(3);
    expect(words(edited.paragraphs).filter((word) => /\d/.test(word))).toEqual(
      words(document.paragraphs).filter((word) => /\d/.test(word)),
    );
  });

  it("misread have about one wrong character in a hundred", () => {
    const misread = misreadLetters(document, createRandom(1));
    const [before, after] = [words(document.paragraphs), words(misread.paragraphs)];
    expect(after).toHaveLength(before.length);
    const changed = after.filter((word, index) => word !== before[index]).length;
    const characters = document.paragraphs.join("").length;
    expect(changed).toBeGreaterThan(characters / 200);
    expect(changed).toBeLessThanOrEqual(Math.round(characters / 100) + 1);
  });
});

describe("rules", () => {
  it("replace names, begin with capitals and choose the article", () => {
    const rules = {
      thing: ["apple"],
      whole: ["a {thing} of a {colour}"],
      colour: () => "one green",
    };
    expect(expand("{^whole}, a unit, a used {thing}, a orange", rules, createRandom(1))).toBe(
      "An apple of a one green, a unit, a used apple, an orange",
    );
  });

  it("that are missing or never end are our own mistake", () => {
    expect(() => expand("{gone}", {}, createRandom(1))).toThrow("there is a rule gone");
    expect(() => expand("{again}", { again: ["{again}"] }, createRandom(1))).toThrow("end");
  });
});
