/**
 * Second phase: from columns to candidates. Workers find the pairs, the neighbours decide which go
 * on.
 */
import type { Pool } from "../../kernel/pool/types.ts";
import { CROWDED } from "../../../workers/join/crowded.ts";
import type { CrowdedKeys } from "../../../workers/join/run-comparer.ts";
import type { Columns } from "../../../workers/join/columns.ts";
import type { Pairs } from "../../../workers/join/pair-list.ts";
import type { DivisibleWork, JoinInput, LongRun } from "../../../workers/tasks/join.ts";
import { join } from "../../../workers/tasks.ts";
import { createBreath } from "./breath.ts";
import type { Breath } from "./breath.ts";
import type { KnownJoin } from "./join-record.ts";
import type { Neighbours } from "./neighbours.ts";

export interface JoinDeps {
  readonly columns: Columns;
  /** The least Jaccard similarity of a duplicate. */
  readonly floor: number;
  readonly neighbours: Neighbours;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Bands done. */
  progress(done: number): void;
}

/** Pairs that one task holds and returns, 10 bytes each. */
const MAX_PAIRS = 500_000;
/** Classes in a run that a task compares on its own. */
const MAX_RUN = 1_024;
/** Comparisons of one task in a longer run: some hundred milliseconds. */
const COMPARISONS = 2_000_000;
/** New classes are joined apart when they are at most one of so many. */
const FRESH_SHARE = 8;
/** Classes that a task sorts at least, so that it is worth its way. */
const SORTED_CLASSES = 65_536;

/**
 * Feeds the neighbours with every pair of classes that meets in a band and may reach the threshold.
 */
export async function joinAll(deps: JoinDeps): Promise<void> {
  const { columns, neighbours, pool, signal } = deps;
  const breath = createBreath(signal);
  const work: DivisibleWork[] = bandWork(columns);
  const crowded = await findCrowded(deps);
  let done = 0;
  while (work.length > 0) {
    for await (const found of pool.map(
      join,
      pieces(work, { columns, floor: deps.floor, crowded, leastRanks: neighbours.leastRanks }),
      { signal },
    )) {
      // What is left of a piece goes first, so that little is waiting at any time.
      if (found.rest) work.unshift(found.rest);
      work.unshift(...found.runs.map(wholeRun));
      neighbours.skip(found.skipped);
      await addPairs(neighbours, found, breath);
      for (const classes of found.crowdedClasses) {
        for (const one of classes) neighbours.limit(one);
        await breath.step(classes.length);
      }
      done += found.bandsDone;
      deps.progress(done);
    }
  }
}

/**
 * Feeds the neighbours with the pairs known before and those that new classes are in: the same as
 * `joinAll`. False, and nothing fed, when that has to be done instead: the new classes are many, or
 * in a run too long to be compared.
 */
export async function joinFresh(
  deps: JoinDeps,
  { pairs, fresh }: Pick<KnownJoin, "pairs" | "fresh">,
): Promise<boolean> {
  const { columns, floor, neighbours, pool, signal } = deps;
  if (fresh.length * FRESH_SHARE > columns.classes) return false;
  const breath = createBreath(signal);
  if (fresh.length > 0) {
    const input: JoinInput = {
      columns,
      floor,
      crowded: [],
      work: { kind: "probe", fresh },
      maxPairs: MAX_PAIRS,
      maxRun: 0,
    };
    for await (const found of pool.map(join, [input], { signal })) {
      if (found.gaveUp) return false;
      await addPairs(neighbours, found, breath);
    }
  }
  await addPairs(neighbours, pairs, breath);
  deps.progress(columns.numBands);
  return true;
}

function bandWork(columns: Columns): (DivisibleWork & { kind: "bands" })[] {
  const bands = Math.max(1, Math.floor(SORTED_CLASSES / Math.max(1, columns.classes)));
  const work: (DivisibleWork & { kind: "bands" })[] = [];
  for (let from = 0; from < columns.numBands; from += bands)
    work.push({ kind: "bands", from, to: Math.min(columns.numBands, from + bands), at: 0 });
  return work;
}

/** The keys of runs that are not compared in full; none when there are not so many classes. */
async function findCrowded({ columns, floor, pool, signal }: JoinDeps): Promise<CrowdedKeys> {
  const keys: Set<number>[] = [];
  if (columns.classes <= CROWDED) return keys;
  const inputs = bandWork(columns).map(({ from, to }): JoinInput => {
    const work = { kind: "crowded" as const, from, to };
    return { columns, floor, crowded: [], work, maxPairs: 0, maxRun: 0 };
  });
  for await (const { crowded } of pool.map(join, inputs, { signal }))
    for (let i = 0; i < crowded.length; i += 2)
      (keys[crowded[i] ?? 0] ??= new Set()).add(crowded[i + 1] ?? 0);
  return keys;
}

function wholeRun(run: LongRun): DivisibleWork {
  return { kind: "rows", run, from: 0, to: run.members.byteLength / 4 };
}

/** Takes work from the list until it is empty; of a long run a slice of rows at a time. */
function* pieces(
  work: DivisibleWork[],
  shared: Pick<JoinInput, "columns" | "floor" | "crowded" | "leastRanks">,
): Generator<JoinInput> {
  for (let next = work.shift(); next !== undefined; next = work.shift()) {
    const piece = next.kind === "rows" ? firstRows(next) : next;
    if (piece.to < next.to) work.unshift({ ...next, from: piece.to });
    yield { ...shared, work: piece, maxPairs: MAX_PAIRS, maxRun: MAX_RUN };
  }
}

/** Rows compare with all behind them: the first ones with most. */
function firstRows(work: DivisibleWork & { kind: "rows" }): DivisibleWork & { kind: "rows" } {
  const behind = work.run.members.byteLength / 4 - work.from;
  return {
    ...work,
    to: Math.min(work.to, work.from + Math.max(1, Math.ceil(COMPARISONS / behind))),
  };
}

async function addPairs(neighbours: Neighbours, found: Pairs, breath: Breath): Promise<void> {
  for (let i = 0; i < found.low.length; i += 1) {
    const steps = neighbours.add(found.low[i] ?? 0, found.high[i] ?? 0, found.equal[i] ?? 0);
    // An await costs more than the pair.
    const pause = breath.step(steps);
    if (pause) await pause;
  }
  await neighbours.shrink(breath);
}
