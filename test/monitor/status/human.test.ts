import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { humanBytes, humanDuration, wholeSeconds } from "../../../src/monitor/status/human.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seconds of `2d4h`, `5m3s`. */
function secondsOf(text: string): number {
  const units: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };
  return [...text.matchAll(/(\d+)([dhms])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ""] ?? 0),
    0,
  );
}

describe("a duration for people", () => {
  it.each([
    [-5 * HOUR, "0s"],
    [0, "0s"],
    [499, "0s"],
    [500, "1s"],
    [45_000, "45s"],
    [59_499, "59s"],
    [59_500, "1m0s"],
    [5 * MINUTE + 3 * SECOND, "5m3s"],
    [5 * MINUTE, "5m0s"],
    [HOUR - 501, "59m59s"],
    [HOUR - 500, "1h0m"],
    [3 * HOUR + 12 * MINUTE + 59 * SECOND, "3h12m"],
    [DAY - 1, "1d0h"],
    [DAY, "1d0h"],
    [2 * DAY + 4 * HOUR + 59 * MINUTE, "2d4h"],
    [400 * DAY, "400d0h"],
  ])("of %d ms is %s", (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });

  it("is never further from the time than half a second and what its smaller unit leaves out, and never falls when time goes on", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e12, noNaN: true }),
        fc.double({ min: 0, max: 1e12, noNaN: true }),
        (one, other) => {
          const [less, more] = [Math.min(one, other), Math.max(one, other)];
          const shown = secondsOf(humanDuration(more));
          const unit = shown < 3_600 ? 1 : shown < 86_400 ? 60 : 3_600;
          expect(more / 1_000 - shown).toBeGreaterThanOrEqual(-0.5);
          expect(more / 1_000 - shown).toBeLessThan(unit + 0.5);
          expect(secondsOf(humanDuration(less))).toBeLessThanOrEqual(shown);
          expect(humanDuration(more)).toMatch(
            /^(\d{1,2}s|\d{1,2}m\d{1,2}s|\d{1,2}h\d{1,2}m|\d+d\d{1,2}h)$/,
          );
        },
      ),
    );
  });
});

describe("whole seconds", () => {
  it("are cut where the text beside them is rounded", () => {
    expect([55_900, -1, 999].map((ms) => [wholeSeconds(ms), humanDuration(ms)])).toEqual([
      [55, "56s"],
      [0, "0s"],
      [0, "1s"],
    ]);
  });
});

describe("a size for people", () => {
  it.each([
    [0, "0 B"],
    [512, "512 B"],
    [1_023, "1023 B"],
    [1_024, "1.0 KiB"],
    [1_536, "1.5 KiB"],
    [1_572_864, "1.5 MiB"],
    [31_851_160, "30.4 MiB"],
    [2 ** 30, "1.0 GiB"],
    [2 ** 40, "1.0 TiB"],
    [2 ** 50, "1.0 PiB"],
    [2 ** 60, "1.0 EiB"],
    [2 ** 20 - 1, "1.0 MiB"],
    [3 * 2 ** 70, "3072.0 EiB"],
  ])("of %d bytes is %s", (bytes, text) => {
    expect(humanBytes(bytes)).toBe(text);
  });

  it("has less than 1024 of its unit, and is within half of its last digit", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (bytes) => {
        const [, amount = "", unit = ""] =
          /^([\d.]+) (B|[KMGTPE]iB)$/.exec(humanBytes(bytes)) ?? [];
        const size = 1_024 ** ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].indexOf(unit);
        expect(Number(amount)).toBeLessThan(1_024);
        expect(Math.abs(Number(amount) - bytes / size)).toBeLessThanOrEqual(
          unit === "B" ? 0 : 0.05 + 1e-9,
        );
      }),
    );
  });
});
