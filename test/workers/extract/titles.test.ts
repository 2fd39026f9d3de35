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

  it("is one line of bounded length", () => {
    expect(cleanTitle(" a\n\tb ")).toBe("a b");
    expect(cleanTitle("😀".repeat(400)).length).toBe(500);
    expect(cleanTitle(`a${"😀".repeat(400)}`).length).toBe(499);
  });
});
