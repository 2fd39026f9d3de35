import { describe, expect, it } from "vitest";
import { acceptsGzip } from "../../../../src/kernel/listen/headers/accept-encoding.ts";

describe("A client takes gzip", () => {
  it.each([
    "gzip",
    "gzip, deflate, br, zstd",
    "deflate, gzip;q=0.5",
    "br;q=1.0, gzip ; q=0.8",
    "x-gzip",
    "*",
    "GZIP",
    "deflate, *;q=0.5",
    "gzip;q=0.001",
    ["br", "gzip"],
  ])("when it says %s", (header) => {
    expect(acceptsGzip(header)).toBe(true);
  });

  it.each([
    undefined,
    "",
    "identity",
    "br",
    "gzip;q=0",
    "gzip;q=0, *",
    "gzip; q=0.0, *",
    "*;q=0",
    "gzipped",
    "gzip;q=much",
  ])("not when it says %s", (header) => {
    expect(acceptsGzip(header)).toBe(false);
  });
});
