/**
 * Trends in samples of a process. Resident memory is a sawtooth of several garbage collectors, so a
 * trend is taken over the lowest value of each minute: what the process cannot give back, not what
 * it has not collected yet.
 */

/** A value and when it was read. */
export interface Reading {
  readonly atMs: number;
  readonly value: number;
}

/**
 * A line through readings. `perHour` is its slope, `errorPerHour` the standard error of that slope.
 */
export interface Trend {
  readonly perHour: number;
  readonly errorPerHour: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * The lowest reading of each minute since the first, in order. Minutes without a reading are left
 * out.
 */
export function minuteMinima(readings: readonly Reading[]): Reading[] {
  const [first] = readings;
  if (first === undefined) return [];
  const lowest = new Map<number, Reading>();
  for (const reading of readings) {
    const minute = Math.floor((reading.atMs - first.atMs) / MINUTE_MS);
    const known = lowest.get(minute);
    if (known === undefined || reading.value < known.value) lowest.set(minute, reading);
  }
  return [...lowest.values()];
}

/** Readings of the second half of the time from first to last. */
export function secondHalf(readings: readonly Reading[]): Reading[] {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined) return [];
  const middleMs = (first.atMs + last.atMs) / 2;
  return readings.filter(({ atMs }) => atMs >= middleMs);
}

/** Least squares. NaN with fewer than three readings. */
export function leastSquares(readings: readonly Reading[]): Trend {
  const count = readings.length;
  if (count < 3) return { perHour: NaN, errorPerHour: NaN };
  const hours = readings.map(({ atMs }) => atMs / HOUR_MS);
  const meanHour = mean(hours);
  const meanValue = mean(readings.map(({ value }) => value));
  const spread = hours.reduce((sum, hour) => sum + (hour - meanHour) ** 2, 0);
  const perHour =
    readings.reduce(
      (sum, { value }, at) => sum + ((hours[at] ?? 0) - meanHour) * (value - meanValue),
      0,
    ) / spread;
  const residual = readings.reduce((sum, { value }, at) => {
    return sum + (value - meanValue - perHour * ((hours[at] ?? 0) - meanHour)) ** 2;
  }, 0);
  return { perHour, errorPerHour: Math.sqrt(residual / (count - 2) / spread) };
}

/**
 * Theil–Sen: the median slope of all pairs, which a few outliers do not move. NaN with fewer than
 * two readings.
 */
export function theilSen(readings: readonly Reading[]): number {
  const slopes = readings.flatMap((from, at) =>
    readings
      .slice(at + 1)
      .filter(({ atMs }) => atMs > from.atMs)
      .map((to) => (to.value - from.value) / ((to.atMs - from.atMs) / HOUR_MS)),
  );
  return median(slopes);
}

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
