import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  displayWidth,
  formatCount,
  formatElapsed,
  formatMemory,
  formatPercent,
  formatTraffic,
  shortenMiddle,
  wrapWords,
} from "../../../src/commands/report/text.ts";

describe("text for a terminal", () => {
  it.each([
    ["abc", 3],
    ["日本", 4],
    ["e\u0301", 1],
    ["👨‍👩‍👧", 2],
    ["\u200d", 0],
    ["", 0],
  ])("knows that %j takes %i columns", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it("shortens to what fits and no further", () => {
    expect(shortenMiddle("archive/2024/scan-0001.txt", 16)).toBe("archi…n-0001.txt");
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.integer({ min: 1, max: 40 }),
        (text, columns) => {
          const shown = shortenMiddle(text, columns);
          return displayWidth(shown) <= columns && (displayWidth(text) > columns || shown === text);
        },
      ),
    );
  });

  it("wraps between words and loses none", () => {
    expect(wrapWords("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapWords("incomprehensibilities", 5)).toEqual(["incomprehensibilities"]);
  });
});

describe("figures for people", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1000, "1,000"],
    [1_234_567, "1,234,567"],
  ])("writes %i as %s", (count, text) => {
    expect(formatCount(count)).toBe(text);
  });

  it.each([
    [0, "0 ms"],
    [999.4, "999 ms"],
    [4200, "4.2 s"],
    [59_949, "59.9 s"],
    [59_960, "1:00 min"],
    [187_000, "3:07 min"],
    [3_723_000, "1:02:03 h"],
  ])("writes %d ms as %s", (ms, text) => {
    expect(formatElapsed(ms)).toBe(text);
  });

  it.each([
    [0, "0 %"],
    [0.969, "96 %"],
    [0.29, "29 %"],
    [0.9999, "99 %"],
    [1, "100 %"],
    [1.2, "100 %"],
  ])("writes %d as %s", (share, text) => {
    expect(formatPercent(share)).toBe(text);
  });

  it("shows traffic in the unit that fits", () => {
    expect(
      [0, 1_023, 1_024, 10_240, 5.5 * 2 ** 30, 2 ** 60].map((bytes) => formatTraffic(bytes)),
    ).toEqual(["0 B", "1023 B", "1.0 KiB", "10 KiB", "5.5 GiB", "1024 PiB"]);
  });

  it("writes memory", () => {
    expect([formatMemory(90 * 2 ** 20), formatMemory(1.5 * 2 ** 30)]).toEqual([
      "90 MiB",
      "1.5 GiB",
    ]);
  });
});
