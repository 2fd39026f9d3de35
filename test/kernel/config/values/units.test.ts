import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatBytes,
  formatDuration,
  parseBytes,
  parseDuration,
} from "../../../../src/kernel/config/values/units.ts";

describe("a duration", () => {
  it.each([
    ["0", 0],
    ["250ms", 250],
    ["30s", 30_000],
    ["5m", 300_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["2d", 172_800_000],
  ])("reads %s", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "30", "s", "-5s", "5 s", "1e3s", "5S", "9999999999999999d"])(
    "refuses %j",
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it("is read back as it was written", () => {
    fc.assert(fc.property(fc.nat(), (ms) => parseDuration(formatDuration(ms)) === ms));
  });
});

describe("a size", () => {
  it.each([
    ["512", 512],
    ["64MiB", 67_108_864],
    ["1.5 kib", 1536],
    ["1GB", 1e9],
    ["0", 0],
  ])("reads %s", (text, size) => {
    expect(parseBytes(text)).toBe(size);
  });

  it.each(["", "MiB", "-1", "5 XB", "99999999TiB"])("refuses %j", (text) => {
    expect(parseBytes(text)).toBeUndefined();
  });

  it("is read back as it was written", () => {
    fc.assert(fc.property(fc.maxSafeNat(), (size) => parseBytes(formatBytes(size)) === size));
  });
});
