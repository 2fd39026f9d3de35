/** Judges a soak, and prints it. */
import type { Outcome } from "./activities.ts";
import type { ProcessSample } from "./process-sample.ts";
import { leastSquares, minuteMinima, secondHalf, theilSen, type Reading } from "./statistics.ts";

/** The lowest values of ten seconds. */
export interface Row extends ProcessSample {
  /** The load rested and garbage was collected: the process was at its floor. */
  readonly resting: boolean;
  /** Of all threads after the last collection: objects and buffers, and compiled code. */
  readonly dataMiB: number;
  readonly codeMiB: number;
}

/** A bar, and whether it was met. */
export interface Verdict {
  readonly name: string;
  readonly passed: boolean;
  readonly found: string;
}

/** What a soak left. `exit` is the daemon's code, or the signal that ended it. */
export interface SoakResult {
  readonly rows: readonly Row[];
  readonly outcomes: readonly Outcome[];
  /** Lines that the daemon logged as errors. */
  readonly errors: readonly string[];
  /** Status of `/readyz` at the end. */
  readonly ready: number | string;
  readonly exit: number | string | null;
}

/** MiB an hour. */
const MEMORY_BAR = 1;
const SUCCESS_BAR = 0.99;
/** A kept connection more or less. */
const DESCRIPTOR_SLACK = 2;
const SHOWN_ROWS = 30;
/**
 * Shown for comparison: garbage and its collectors are in it, so chance alone moves it by tens of
 * MiB/h.
 */
const SHOWN_TRENDS = [
  ["resident", (row: Row) => row.residentMiB],
  ["anonymous", (row: Row) => row.anonymousMiB],
  ["mapped files", (row: Row) => row.fileMiB],
] as const;

/** The lowest values of each minute in the second half, in which all caches are full. */
function settled(rows: readonly Row[], of: (row: Row) => number): Reading[] {
  return secondHalf(minuteMinima(rows.map((row) => ({ atMs: row.atMs, value: of(row) }))));
}

/** The resting rows of the second half. */
function rested(rows: readonly Row[], of: (row: Row) => number): Reading[] {
  return secondHalf(
    rows.map((row) => ({ atMs: row.atMs, value: row.resting ? of(row) : NaN })),
  ).filter(({ value }) => !Number.isNaN(value));
}

/** Every bar of the soak. */
export function judge({ rows, outcomes, errors, ready, exit }: SoakResult): Verdict[] {
  return [
    trendVerdict("resident memory at rest", rows, (row) => row.residentMiB),
    trendVerdict("objects and buffers at rest", rows, (row) => row.dataMiB),
    flatVerdict("descriptors", rows, DESCRIPTOR_SLACK, (row) => row.descriptors),
    flatVerdict("threads", rows, 0, (row) => row.threads),
    ...outcomes.map(({ name, succeeded, failed, reason }): Verdict => ({
      name,
      passed: succeeded > 0 && succeeded / (succeeded + failed) >= SUCCESS_BAR,
      found: `${succeeded} succeeded, ${failed} failed${reason === "" ? "" : `, last: ${reason}`}`,
    })),
    {
      name: "errors in the log",
      passed: errors.length === 0,
      found: errors.length === 0 ? "none" : `${errors.length}, first: ${errors[0]}`,
    },
    { name: "ready at the end", passed: ready === 200, found: String(ready) },
    { name: "stops cleanly", passed: exit === 0, found: String(exit) },
  ];
}

/**
 * Missed when the trend is above the bar by more than chance explains, i.e. by two standard errors:
 * of half an hour these are a few MiB an hour, of half a day a few hundredths.
 */
function trendVerdict(name: string, rows: readonly Row[], of: (row: Row) => number): Verdict {
  const readings = rested(rows, of);
  const { perHour, errorPerHour } = leastSquares(readings);
  const found = `${perHour.toFixed(2)} ± ${errorPerHour.toFixed(2)} MiB/h over ${readings.length} rests (Theil–Sen ${theilSen(readings).toFixed(2)}), bar ${MEMORY_BAR}`;
  return { name, passed: perHour - 2 * errorPerHour <= MEMORY_BAR, found };
}

/**
 * The lowest of the last quarter is no more than `slack` above that of the quarter before. A soak
 * of a few minutes has no quarters and fails.
 */
function flatVerdict(
  name: string,
  rows: readonly Row[],
  slack: number,
  of: (row: Row) => number,
): Verdict {
  const half = settled(rows, of);
  const middle = Math.floor(half.length / 2);
  const lowest = (part: readonly Reading[]): number =>
    part.length === 0 ? NaN : Math.min(...part.map(({ value }) => value));
  const [before, after] = [lowest(half.slice(0, middle)), lowest(half.slice(middle))];
  return {
    name: `${name}, last quarter`,
    passed: after <= before + slack,
    found: `${after}, ${before} in the quarter before`,
  };
}

/** The course of the soak, its load, and the verdicts; the last line counts them. */
export function printTable(
  rows: readonly Row[],
  outcomes: readonly Outcome[],
  verdicts: readonly Verdict[],
): void {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const step = Math.max(1, Math.ceil(rows.length / SHOWN_ROWS));
  print("minute  resident  anonymous  files  threads  descriptors  cores");
  for (const [at, row] of rows.entries()) {
    if (at % step !== 0 && at !== rows.length - 1) continue;
    const before = rows[Math.max(0, at - step)];
    const cores =
      before === undefined || before === row
        ? NaN
        : (row.cpuSeconds - before.cpuSeconds) / ((row.atMs - before.atMs) / 1_000);
    const cells = [
      [(row.atMs / 60_000).toFixed(1), 6],
      [row.residentMiB.toFixed(1), 8],
      [row.anonymousMiB.toFixed(1), 9],
      [row.fileMiB.toFixed(1), 5],
      [String(row.threads), 7],
      [String(row.descriptors), 11],
      [cores.toFixed(2), 5],
    ] as const;
    print(cells.map(([text, width]) => text.padStart(width)).join("  "));
  }
  print(
    `${outcomes.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)} rounds of ${outcomes.length} activities`,
  );
  print(
    `compiled code at rest: ${leastSquares(rested(rows, (row) => row.codeMiB)).perHour.toFixed(2)} MiB/h in the second half`,
  );
  for (const [name, of] of SHOWN_TRENDS)
    print(
      `${name} under load, lowest of each minute: ${leastSquares(settled(rows, of)).perHour.toFixed(2)} MiB/h in the second half`,
    );
  for (const { name, passed, found } of verdicts)
    print(`${passed ? "passed" : "FAILED"}  ${name}: ${found}`);
  print(
    `${verdicts.filter(({ passed }) => passed).length} passed, ${verdicts.filter(({ passed }) => !passed).length} failed`,
  );
}
