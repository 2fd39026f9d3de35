import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  parseGoBool,
  parseGoDurationMs,
  parseGoInt,
} from "../../../src/tokens/logical/go-values.ts";

describe("Go's integers", () => {
  it.each([
    ["5", 5],
    ["-5", -5],
    ["+5", 5],
    ["0x10", 16],
    ["0b101", 5],
    ["0o17", 15],
    ["010", 8],
    ["1_000", 1000],
    ["0x_ff", 255],
    ["0", 0],
    ["-0", 0],
    ["9007199254740991", 9007199254740991],
  ])("read %s as %d", (text, number) => {
    expect(parseGoInt(text)).toBe(number);
  });

  it.each(["", "abc", "1.7", " 5", "5 ", "1__0", "_1", "1_", "08", "0x", "--5", "5n", "１"])(
    "refuse %j as Go does",
    (text) => {
      expect(() => parseGoInt(text)).toThrow(
        `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
      );
    },
  );

  it("refuse what a double cannot hold", () => {
    expect(() => parseGoInt("9007199254740993")).toThrow("value out of range");
    expect(() => parseGoInt("-9007199254740993")).toThrow("value out of range");
    expect(() => parseGoInt("9".repeat(300))).toThrow("invalid syntax");
  });

  it("read every safe integer", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (number) => {
        expect(parseGoInt(String(number))).toBe(number);
      }),
    );
  });
});

describe("Go's booleans", () => {
  it("are twelve texts", () => {
    expect(["1", "t", "T", "TRUE", "true", "True"].map(parseGoBool)).toEqual(
      Array.from({ length: 6 }, () => true),
    );
    expect(["0", "f", "F", "FALSE", "false", "False"].map(parseGoBool)).toEqual(
      Array.from({ length: 6 }, () => false),
    );
    for (const text of ["", "yes", "tRUE", "2", " true"])
      expect(() => parseGoBool(text)).toThrow("strconv.ParseBool");
  });
});

describe("a text in the wrong field", () => {
  it("is not quoted when it is long enough for a secret", () => {
    const token = `hvs.${"k7Zp".repeat(6)}`;
    for (const parse of [parseGoInt, parseGoBool, parseGoDurationMs])
      expect(() => parse(token)).toThrow(/a text of 28 characters/);
    for (const parse of [parseGoInt, parseGoBool, parseGoDurationMs])
      expect(() => parse(token)).not.toThrow(/k7Zp/);
  });
});

describe("Go's durations", () => {
  it.each([
    ["60", 60_000],
    ["60s", 60_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["0.29s", 290],
    ["300ms", 300],
    ["1500us", 1],
    ["1ns", 1],
    ["0ns", 0],
    ["7d", 604_800_000],
    ["", 0],
    ["0", 0],
    [" 5m ", 300_000],
    ["1h1m1s", 3_661_000],
  ])("read %j as %d ms", (text, ms) => {
    expect(parseGoDurationMs(text)).toBe(ms);
  });

  it.each(["h", "1x", "1h 30m", "1.2.3s", "1h30", "seconds", "1e3s"])("refuse %j", (text) => {
    expect(() => parseGoDurationMs(text)).toThrow(`time: invalid duration ${JSON.stringify(text)}`);
  });

  it("refuse what is negative or longer than Go's", () => {
    for (const text of ["-5", "-1h", "-1d"])
      expect(() => parseGoDurationMs(text)).toThrow("cannot provide negative value");
    for (const text of ["99999999999999999", "300000000h"])
      expect(() => parseGoDurationMs(text)).toThrow("292 years");
  });

  it("add up their parts", () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(59), fc.nat(59), fc.nat(999), (h, m, s, ms) => {
        expect(parseGoDurationMs(`${h}h${m}m${s}s${ms}ms`)).toBe(
          ((h * 60 + m) * 60 + s) * 1_000 + ms,
        );
      }),
    );
  });

  it("take a hostile text in no time", () => {
    const started = performance.now();
    for (const text of ["1".repeat(1_000_000), "1h".repeat(500_000), `${"1".repeat(500_000)}.`])
      expect(() => parseGoDurationMs(text)).toThrow(Error);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
