import { describe, expect, it } from "vitest";
import { baseUrlWarnings, parseBaseUrl } from "../../../src/tokens/engine/base-url.ts";

describe("the base URL", () => {
  it.each([
    ["https://api.github.com", "/"],
    ["https://api.github.com/", "/"],
    ["https://ghes/api/v3", "/api/v3/"],
    ["https://ghes/api/v3/", "/api/v3/"],
    ["HTTPS://GHES:8443/x", "/x/"],
    [" http://127.0.0.1:1 ", "/"],
  ])("%s puts paths behind %s", (text, prefix) => {
    const base = parseBaseUrl(text);
    expect([base.prefix, base.url.pathname, base.origin]).toEqual([
      prefix,
      prefix,
      base.url.origin,
    ]);
  });

  it.each([
    "",
    "  ",
    "api.github.com",
    "/abs/path",
    "ftp://x",
    "https://",
    "https://u:p@x",
    "https://x?y=1",
    "https://x#y",
    `https://x/${"y".repeat(3_000)}`,
    "javascript:alert(1)",
  ])("refuses %j", (text) => {
    expect(() => parseBaseUrl(text)).toThrow(
      expect.objectContaining({
        code: "invalid",
        field: "base_url",
        message: expect.stringMatching(
          /^1 error occurred:\n\t\* unable to parse base URL: .*\n\n$/,
        ) as string,
      }) as Error,
    );
  });

  it("is warned of when tokens would travel in clear", () => {
    const warned = (text: string): number => baseUrlWarnings(parseBaseUrl(text)).length;
    expect(
      [
        "https://ghes",
        "http://127.0.0.1:1",
        "http://localhost",
        "http://[::1]:2",
        "http://ghes",
        "http://127.example.org",
      ].map(warned),
    ).toEqual([0, 0, 0, 0, 1, 1]);
  });
});
