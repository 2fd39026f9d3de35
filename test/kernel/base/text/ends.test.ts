import { expect, it } from "vitest";
import { withoutEnd, withoutEnds } from "../../../../src/kernel/base/text/ends.ts";

it.each([
  ["", "", ""],
  ["/", "", ""],
  ["///", "", ""],
  ["/a/b//", "/a/b", "a/b"],
  ["a", "a", "a"],
  ["//a", "//a", "a"],
])("cuts slashes off %j", (text, withoutLast, withoutBoth) => {
  expect([withoutEnd(text, "/"), withoutEnds(text, "/")]).toEqual([withoutLast, withoutBoth]);
});

it("takes time in proportion to the text", () => {
  const text = `a${"/".repeat(4_000_000)}a`;
  expect(withoutEnds(text, "/")).toBe(text);
});
