/**
 * Finds candidate pairs: sorts bands, walks the classes that agree in one and keeps the pairs that
 * pass the cheap tests.
 */
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import type { Columns } from "../join/columns.ts";
import { compareRepresentatives, CROWDED } from "../join/crowded.ts";
import { createRunComparer } from "../join/run-comparer.ts";
import type { CrowdedKeys, RunComparer } from "../join/run-comparer.ts";
import { createPairList } from "../join/pair-list.ts";
import type { PairList, Pairs } from "../join/pair-list.ts";
import { probe } from "../join/probe.ts";
import { sortByKey } from "../join/sort.ts";

/** Classes that agree in a band, ascending; longer than a task should take at once. */
export interface LongRun {
  readonly band: number;
  /** u32 classes. */
  readonly members: SharedArrayBuffer;
}

/**
 * What to do: find crowded keys, walk whole bands from a position in the first one, compare some
 * rows of one long run, or compare new classes with all.
 */
export type JoinWork =
  | { readonly kind: "bands"; readonly from: number; readonly to: number; readonly at: number }
  | { readonly kind: "rows"; readonly run: LongRun; readonly from: number; readonly to: number }
  | { readonly kind: "crowded"; readonly from: number; readonly to: number }
  | { readonly kind: "probe"; readonly fresh: Uint32Array };

/** Work that can be given out in pieces. */
export type DivisibleWork = Extract<JoinWork, { readonly kind: "bands" | "rows" }>;

/** A piece of the join. */
export interface JoinInput {
  readonly columns: Columns;
  /** The least Jaccard similarity of a duplicate. */
  readonly floor: number;
  readonly work: JoinWork;
  /** Keys of runs that are not compared in full, as found by work of kind `crowded`. */
  readonly crowded: CrowdedKeys;
  /**
   * The task returns once it has about so many pairs, and says where to go on; a probe gives up.
   */
  readonly maxPairs: number;
  /** Runs above this many classes come back as work instead of being compared here. */
  readonly maxRun: number;
  /**
   * u16 by class: pairs with fewer equal bytes than this for both their classes are counted only.
   * Others may raise it meanwhile.
   */
  readonly leastRanks?: SharedArrayBuffer;
}

/** What a piece found. Each pair of classes is found by exactly one piece, whatever the pieces. */
export interface JoinOutput extends Pairs {
  /** Pairs that were found and left out as of no use. */
  readonly skipped: number;
  readonly runs: readonly LongRun[];
  /** What is left of the work. */
  readonly rest: DivisibleWork | undefined;
  /** Bands finished by this piece. */
  readonly bandsDone: number;
  /** Crowded keys with their bands, of work of that kind; a band and a key in turn. */
  readonly crowded: readonly number[];
  /** Classes that were in a crowded run; some more than once. */
  readonly crowdedClasses: readonly Uint32Array[];
  /** The work was a probe that met too many classes or pairs; it found nothing. */
  readonly gaveUp: boolean;
}

const CHECK_EVERY = 1_000;

interface Join {
  readonly input: JoinInput;
  readonly comparer: RunComparer;
  readonly pairs: PairList;
  readonly control: TaskControl;
  readonly runs: LongRun[];
  readonly crowdedClasses: Uint32Array[];
  readonly leastRanks: Uint16Array;
  skipped: number;
  sinceCheck: number;
}

/** Runs a piece. Throws `cancelled`. */
export function run(input: JoinInput, control: TaskControl): JoinOutput {
  if (input.work.kind === "crowded") return findCrowded(input, input.work, control);
  if (input.work.kind === "probe") return joinFresh(input, input.work.fresh, control);
  const join: Join = {
    input,
    comparer: createRunComparer(input.columns, input.floor, input.crowded),
    pairs: createPairList(),
    control,
    runs: [],
    crowdedClasses: [],
    leastRanks: new Uint16Array(input.leastRanks ?? new SharedArrayBuffer(0)),
    skipped: 0,
    sinceCheck: 0,
  };
  const { rest, bandsDone } =
    input.work.kind === "rows" ? joinRows(join, input.work) : joinBands(join, input.work);
  const pairs = join.pairs.take();
  control.transfer(pairs.low.buffer);
  control.transfer(pairs.high.buffer);
  control.transfer(pairs.equal.buffer);
  return {
    ...pairs,
    skipped: join.skipped,
    runs: join.runs,
    rest,
    bandsDone,
    crowded: [],
    crowdedClasses: join.crowdedClasses,
    gaveUp: false,
  };
}

function joinFresh(input: JoinInput, fresh: Uint32Array, control: TaskControl): JoinOutput {
  const pairs = createPairList();
  let sinceCheck = 0;
  const complete = probe(input.columns, input.floor, fresh, {
    found(low, high, equal) {
      pairs.push(low, high, equal);
      return pairs.length < input.maxPairs;
    },
    classDone(steps) {
      sinceCheck += steps;
      if (sinceCheck < CHECK_EVERY) return;
      sinceCheck = 0;
      if (control.cancelled()) throw stopped();
    },
  });
  const found = complete ? pairs.take() : createPairList().take();
  return { ...NOTHING, ...found, gaveUp: !complete };
}

/** What is beside the pairs of work that only finds pairs. */
const NOTHING = {
  skipped: 0,
  runs: [],
  rest: undefined,
  bandsDone: 0,
  crowded: [],
  crowdedClasses: [],
} as const;

/** Rows are never cut short: how many pairs they can have is bounded by whoever gives them out. */
function joinRows(
  join: Join,
  work: JoinWork & { kind: "rows" },
): { rest: undefined; bandsDone: number } {
  compareRun(join, work.run.band, new Uint32Array(work.run.members), work);
  return { rest: undefined, bandsDone: 0 };
}

function joinBands(
  join: Join,
  work: JoinWork & { kind: "bands" },
): { rest: DivisibleWork | undefined; bandsDone: number } {
  let at = work.at;
  for (let band = work.from; band < work.to; band += 1) {
    check(join, CHECK_EVERY);
    const end = joinBand(join, band, at);
    if (end !== undefined)
      return { rest: { ...work, from: band, at: end }, bandsDone: band - work.from };
    at = 0;
    join.control.step(1);
  }
  return { rest: undefined, bandsDone: work.to - work.from };
}

/** Walks one band from a position on; the position to go on from when there are pairs enough. */
function joinBand(join: Join, band: number, at: number): number | undefined {
  const { keys, classes } = sortByKey(...keysOf(join.input.columns, band));
  for (let start = at; start < keys.length;) {
    if (join.pairs.length >= join.input.maxPairs) return start;
    let end = start + 1;
    while (end < keys.length && keys[end] === keys[start]) end += 1;
    if (end - start > CROWDED)
      compareCrowded(join, { band, members: classes.subarray(start, end) });
    else if (end - start > join.input.maxRun)
      join.runs.push({ band, members: shared(classes.subarray(start, end)) });
    else if (end - start > 1)
      compareRun(join, band, classes.subarray(start, end), { from: 0, to: end - start });
    start = end;
  }
  return undefined;
}

function compareCrowded(
  join: Join,
  run: { readonly band: number; readonly members: Uint32Array },
): void {
  const { columns, floor, crowded } = join.input;
  join.crowdedClasses.push(run.members.slice());
  compareRepresentatives(columns, floor, crowded, run, {
    found: (low, high, equal) => push(join, low, high, equal),
    rowDone: (steps) => check(join, steps),
  });
}

function findCrowded(
  { columns }: JoinInput,
  { from, to }: JoinWork & { kind: "crowded" },
  control: TaskControl,
): JoinOutput {
  const crowded: number[] = [];
  for (let band = from; band < to; band += 1) {
    if (control.cancelled()) throw stopped();
    const { keys } = sortByKey(...keysOf(columns, band));
    for (let start = 0; start + CROWDED < keys.length; start += 1) {
      if (keys[start] !== keys[start + CROWDED]) continue;
      const key = keys[start] ?? 0;
      crowded.push(band, key);
      while (keys[start + 1] === key) start += 1;
    }
  }
  return { ...NOTHING, ...createPairList().take(), crowded, gaveUp: false };
}

function compareRun(
  join: Join,
  band: number,
  members: Uint32Array,
  rows: { readonly from: number; readonly to: number },
): void {
  join.comparer.compare(band, members, rows, {
    found: (low, high, equal) => push(join, low, high, equal),
    rowDone: (steps) => check(join, steps),
  });
}

function push(join: Join, low: number, high: number, equal: number): void {
  const { leastRanks } = join;
  if (equal < (leastRanks[low] ?? 0) && equal < (leastRanks[high] ?? 0)) join.skipped += 1;
  else join.pairs.push(low, high, equal);
}

function check(join: Join, steps: number): void {
  join.sinceCheck += steps;
  if (join.sinceCheck < CHECK_EVERY) return;
  join.sinceCheck = 0;
  if (join.control.cancelled()) throw stopped();
}

/** The keys of a band and their classes; classes without a signature are left out. */
function keysOf(columns: Columns, band: number): [Uint32Array, Uint32Array] {
  const bands = new Uint32Array(columns.bands);
  const signed = new Uint8Array(columns.signed);
  const keys = new Uint32Array(columns.classes);
  const classes = new Uint32Array(columns.classes);
  let count = 0;
  for (let i = 0; i < columns.classes; i += 1) {
    if (signed[i] === 0) continue;
    keys[count] = bands[i * columns.numBands + band] ?? 0;
    classes[count] = i;
    count += 1;
  }
  return [keys.subarray(0, count), classes.subarray(0, count)];
}

function shared(classes: Uint32Array): SharedArrayBuffer {
  const members = new Uint32Array(new SharedArrayBuffer(classes.byteLength));
  members.set(classes);
  return members.buffer;
}
