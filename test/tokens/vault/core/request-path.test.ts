import { describe, expect, it } from "vitest";
import { requestPath } from "../../../../src/tokens/vault/core/request-path.ts";

const read = { list: false };

describe("the path of a request", () => {
  it("is taken as it is, and ends in a slash for a list", () => {
    expect(requestPath("github/token/a..b", read)).toBe("github/token/a..b");
    expect([
      requestPath("a/b", { list: true }),
      requestPath("a/b/", { list: true }),
      requestPath("a/b/", read),
    ]).toEqual(["a/b/", "a/b/", "a/b/"]);
  });

  it.each([
    ["a/../b", "relative"],
    ["..", "relative"],
    ["a/..", "relative"],
    ["a/\0", "control"],
    ["a\nb", "control"],
    ["a\x7f", "control"],
    ["a".repeat(1_401), "longer than 1400 bytes"],
    ["é".repeat(701), "longer than 1400 bytes"],
  ])("is refused: %j", (path, why) => {
    expect(() => requestPath(path, read)).toThrow(
      expect.objectContaining({
        code: "invalid",
        field: "path",
        message: expect.stringContaining(why) as string,
      }) as Error,
    );
  });

  it("may be as long as it may be", () => {
    expect(requestPath("é".repeat(700), read)).toHaveLength(700);
  });
});
