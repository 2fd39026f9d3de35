import { describe, expect, it } from "vitest";
import {
  leastSquares,
  median,
  minuteMinima,
  secondHalf,
  theilSen,
  type Reading,
} from "./statistics.ts";

const MINUTE_MS = 60_000;

/** A sawtooth of so many MiB on a line, read every ten seconds. */
function sawtooth(minutes: number, perHour: number, height: number): Reading[] {
  return Array.from({ length: minutes * 6 }, (_, at) => ({
    atMs: at * 10_000,
    value: 300 + (perHour * at) / 360 + (height * (at % 5)) / 4,
  }));
}

describe("the trend of a process's memory", () => {
  it("is that of its lowest values, whatever garbage collectors do in between", () => {
    for (const perHour of [-4, 0, 0.5, 12]) {
      const floor = secondHalf(minuteMinima(sawtooth(60, perHour, 40)));
      expect(leastSquares(floor).perHour).toBeCloseTo(perHour, 0);
      expect(theilSen(floor)).toBeCloseTo(perHour, 0);
    }
  });

  it("is exact on a line, and says how far it may be off", () => {
    const line = Array.from({ length: 30 }, (_, at) => ({
      atMs: at * MINUTE_MS,
      value: 5 + at / 10,
    }));
    expect(leastSquares(line)).toMatchObject({
      perHour: expect.closeTo(6, 9) as number,
      errorPerHour: expect.closeTo(0, 9) as number,
    });
    expect(theilSen(line)).toBeCloseTo(6, 9);
    const bent = line.map(({ atMs, value }, at) => ({ atMs, value: value + (at % 2) }));
    expect(leastSquares(bent).errorPerHour).toBeGreaterThan(0.5);
  });

  it("is not moved by a single outlier when it is the median of slopes", () => {
    const line = Array.from({ length: 30 }, (_, at) => ({
      atMs: at * MINUTE_MS,
      value: at === 29 ? 500 : 300,
    }));
    expect(theilSen(line)).toBe(0);
    expect(leastSquares(line).perHour).toBeGreaterThan(10);
  });

  it("is that of the second half alone, minute by minute", () => {
    const readings = sawtooth(10, 0, 10);
    expect(minuteMinima(readings)).toHaveLength(10);
    expect(secondHalf(readings).map(({ atMs }) => atMs)[0]).toBeGreaterThanOrEqual(
      5 * MINUTE_MS - 10_000,
    );
  });

  it("is not a number of too little", () => {
    expect([
      leastSquares([]).perHour,
      leastSquares([{ atMs: 0, value: 1 }]).perHour,
      theilSen([]),
      median([]),
    ]).toEqual([NaN, NaN, NaN, NaN]);
    expect(minuteMinima([])).toEqual([]);
    expect(secondHalf([])).toEqual([]);
  });
});
