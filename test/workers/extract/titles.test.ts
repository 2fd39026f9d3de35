import { describe, expect, it } from "vitest";
import { cleanTitle, headingOf } from "../../../workers/extract/titles.ts";

describe("the title of a document", () => {
  it("is the first heading in any of the usual forms", () => {
    expect(headingOf("text\n\n## Second `level` ##\n# First")).toBe("Second level");
    expect(headingOf("Title\n=====\n\nText")).toBe("Title");
    expect(headingOf("=====\nTitle\n=====\n")).toBe("Title");
    expect(headingOf("= Ascii Doc\n")).toBe("Ascii Doc");
    expect(headingOf("![badge](x)\n# ![logo](y) **Steward** [docs](z)\n")).toBe("Steward docs");
  });

  it("is no comment inside code and no rule", () => {
    expect(headingOf("```sh\n# not a title\n```\n# Title")).toBe("Title");
    expect(headingOf("---\n---\n\nplain text #hash")).toBeUndefined();
  });

  it("is that of the metadata before the text, and no line of them otherwise", () => {
    const yaml = (line: string): string => `---\n${line}\ndate: 2024-01-01\n---\n\n# Real`;
    expect(headingOf(yaml("title: My doc"))).toBe("My doc");
    expect(headingOf(yaml(`title: "Snow: a \\"study\\""`))).toBe('Snow: a "study"');
    expect(headingOf(yaml("title: 'Snow''s end'"))).toBe("Snow's end");
    for (const line of ["tags: [snow]", "author:\n  title: Dr", "title:", "title: >-\n  folded"])
      expect(headingOf(yaml(line))).toBe("Real");
    expect(headingOf("---\r\ntags: a\r\n...\r\n# Real")).toBe("Real");
    expect(headingOf('+++\n# comment\ntitle = "My doc"\n+++\n# Real')).toBe("My doc");
    expect(headingOf('+++\ndraft = true\n[menu]\ntitle = "No"\n+++\n# Real')).toBe("Real");
    expect(headingOf("---\n# comment\ntags: a\n---\n# Real")).toBe("Real");
  });

  it("may stand between rules", () => {
    expect(headingOf("---\n# Title\n---\n")).toBe("Title");
    expect(headingOf("---\n\ntext: and\n\n---\n# Title")).toBe("Title");
    expect(headingOf("text\n\n----\n\n# Title\n\n----\n\n# Second")).toBe("Title");
    expect(headingOf("Title\n----\ntext\n\n----\n# Second")).toBe("Title");
  });

  it("is none of the lines of an AsciiDoc listing, literal or comment", () => {
    for (const opening of ["----", "[source,sh]\n----", ".Example\n----", "+\n----", "...."]) {
      const mark = opening.slice(-4);
      expect(headingOf(`text\n\n${opening}\n# comment\nrun\n${mark}\n\n== Title`)).toBe("Title");
    }
    expect(headingOf("////\n= Draft\n////\n= Title")).toBe("Title");
    expect(headingOf("text\n\n----\n# Title\n\nno end")).toBe("Title");
  });

  it("is none of the lines of a fence within a longer one, and follows code in a line", () => {
    expect(headingOf("````md\n```sh\n# no\n```\n# no\n````\n# Title")).toBe("Title");
    expect(headingOf("```code``` in a line\n# Title")).toBe("Title");
    expect(headingOf("```\n# no, without an end")).toBeUndefined();
  });

  it("ends before the marks that close it, not before those of a word", () => {
    expect(headingOf("## About C# ##")).toBe("About C#");
    expect(headingOf("# C#")).toBe("C#");
    expect(headingOf("== Title ==")).toBe("Title");
    expect(headingOf("## ##\n# Title")).toBe("Title");
  });

  it("takes time in proportion to the text", () => {
    const spaces = " ".repeat(60_000);
    for (const text of [
      `# ${"<".repeat(60_000)}`,
      `# ${"![".repeat(30_000)}`,
      `# a${spaces}x#y`,
      `# a${" #".repeat(30_000)}x`,
      `a\n===${spaces}x`,
      `${"`".repeat(60_000)}a\``,
      "```\n~~~\n".repeat(8_000),
      "\n....\na\n----\na".repeat(4_000),
    ])
      for (let times = 0; times < 20; times++) headingOf(text);
    expect(headingOf(`# a${spaces}x#y`)).toBe("a");
  });

  it("is one line of bounded length", () => {
    expect(cleanTitle(" a\n\tb ")).toBe("a b");
    expect(cleanTitle("😀".repeat(400)).length).toBe(500);
    expect(cleanTitle(`a${"😀".repeat(400)}`).length).toBe(499);
  });
});
