/**
 * Brings the scores of all groups to the weights in effect, after a change of weights or the
 * penalty. Works in bounded transactions beside readers, people and a running analysis; one run at
 * a time. A run that a crash or a stop cut off is repeated as a whole: every step can be repeated.
 */
import { scorePairs } from "../../../workers/describe/tasks.ts";
import type { FullScores } from "../../../workers/describe/tasks.ts";
import type { GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { createSerial } from "../../kernel/async/serial.ts";
import { boundedBatches } from "../../kernel/base/batches.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Env, Snapshot, Tx } from "../../kernel/state/types.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import { weightsFingerprint } from "../analysis/staleness.ts";
import type { DocumentStore } from "../documents/store.ts";
import { metaText, setMetaText } from "../meta.ts";
import { documents, groups } from "../tables.ts";
import { currentGeneration, currentView } from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { pairsToScore, rescoreRow } from "./rescore-row.ts";
import type { IndexPair } from "./rescore-row.ts";
import { createPause } from "./steps.ts";
import { listGroup, rowIn } from "./store.ts";

export interface RescoringDeps {
  readonly env: Env;
  readonly documents: Pick<DocumentStore, "text">;
  readonly index: GroupIndex;
  readonly pool: Pool;
  readonly clock: Clock;
  /** The parameters as they are set now. */
  readonly parameters: () => AnalysisParameters;
}

/** Keeps the scores of groups in step with the weights. */
export interface Rescoring {
  /**
   * Resolves when the scores of all groups have the weights in effect, with the number of groups.
   * Rejects with the reason given to `stop`.
   */
  run(): Promise<number>;
  /** Ends a run between two steps; resolves when none is under way. */
  stop(reason: Error): Promise<void>;
}

/** Groups read at once, and the pair entries of one transaction. */
const GROUPS_AT_ONCE = 32;
const ENTRIES_AT_ONCE = 8_192;
/** Documents read in one piece. */
const DOCUMENTS_AT_ONCE = 64;
/** Pairs scored by one task. */
const PAIRS_AT_ONCE = 64;

/** Nothing runs before the first call. */
export function createRescoring(deps: RescoringDeps): Rescoring {
  const stopping = new AbortController();
  const serial = createSerial();
  return {
    run: () => serial(() => rescoreAll(deps, stopping.signal)),
    async stop(reason) {
      stopping.abort(reason);
      await serial(() => Promise.resolve());
    },
  };
}

async function rescoreAll(deps: RescoringDeps, signal: AbortSignal): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    const parameters = deps.parameters();
    const weights = weightsFingerprint(parameters);
    const { generation, scored } = deps.env.read((snapshot) => ({
      generation: currentGeneration(snapshot),
      scored: metaText(snapshot, "scoreWeights"),
    }));
    if (generation === 0 || scored === weights) return deps.index.size;
    await rescoreGeneration(deps, { generation, parameters, signal });
    // Whatever an analysis or another change of weights did meanwhile is brought up to date, too.
    await deps.env.write((tx) => {
      if (currentGeneration(tx) === generation) setMetaText(tx, "scoreWeights", weights);
    });
  }
}

interface Run {
  readonly generation: number;
  readonly parameters: AnalysisParameters;
  readonly signal: AbortSignal;
}

async function rescoreGeneration(deps: RescoringDeps, run: Run): Promise<void> {
  const { env, clock } = deps;
  const pause = createPause({ clock, signal: run.signal });
  // The current generation first: rows that are merged meanwhile are found in the base.
  const layers = [...env.read(currentView)];
  let after: string | undefined;
  while (layers.length > 0) {
    const [generation = 0] = layers;
    const found = env.read((snapshot) => readRows(snapshot, generation, after));
    after = found.at(-1)?.id;
    if (after === undefined) layers.shift();
    const rows = found.filter(({ removed }) => !removed);
    const scores = await missingScores(deps, rows, run);
    const hashes = await hashesOf(deps, rows, pause);
    for (const batch of boundedBatches(rows, [ENTRIES_AT_ONCE], (row) => [entriesOf(row)])) {
      await env.write((tx) => {
        if (currentGeneration(tx) !== run.generation) return;
        for (const { id } of batch) rescoreOne(tx, deps, run, { id, scores, hashes });
      });
      await pause();
    }
  }
}

function readRows(snapshot: Snapshot, generation: number, after: string | undefined): GroupRow[] {
  const rows: GroupRow[] = [];
  for (const [[, id], row] of snapshot.range(groups, {
    start: after === undefined ? [generation] : [generation, after],
    end: [generation + 1],
    limit: GROUPS_AT_ONCE + 1,
  }))
    if (id !== after) rows.push(row);
  return rows.slice(0, GROUPS_AT_ONCE);
}

function entriesOf({ members, pairScores }: GroupRow): number {
  return 64 + members.length + pairScores.length;
}

/** The hash of each member's text, by document number. */
async function hashesOf(
  { env }: RescoringDeps,
  rows: readonly GroupRow[],
  pause: () => Promise<void>,
): Promise<Map<number, Uint8Array>> {
  const hashes = new Map<number, Uint8Array>();
  for (const { members } of rows)
    for (let at = 0; at < members.length; at += DOCUMENTS_AT_ONCE) {
      env.read((snapshot) => {
        for (const docNo of members.slice(at, at + DOCUMENTS_AT_ONCE)) {
          const row = snapshot.get(documents, docNo);
          if (row) hashes.set(docNo, row.contentHash);
        }
      });
      await pause();
    }
  return hashes;
}

interface OneGroup {
  readonly id: string;
  readonly scores: ReadonlyMap<string, FullScores>;
  readonly hashes: ReadonlyMap<number, Uint8Array>;
}

/** The row may have lost members since it was read. */
function rescoreOne(
  tx: Tx,
  { index, clock }: RescoringDeps,
  { parameters }: Run,
  { id, scores, hashes }: OneGroup,
): void {
  const stored = rowIn(tx, currentView(tx), id);
  if (!stored) return;
  const { generation, row } = stored;
  const hashOf = (member: number): Uint8Array =>
    hashes.get(row.members[member] ?? 0) ?? new Uint8Array();
  const next = rescoreRow(row, parameters, {
    lookup: ({ a, b }) => scores.get(pairKey(hashOf(a), hashOf(b))),
    order: (a, b) => Buffer.compare(hashOf(a), hashOf(b)),
    nowMs: clock.now(),
  });
  tx.put(groups, [generation, id], next);
  listGroup(tx, index, id);
}

interface Wanted {
  readonly key: string;
  readonly texts: readonly [Uint8Array, Uint8Array];
}

/** Scores that the rows do not hold, by the hashes of the texts. */
async function missingScores(
  deps: RescoringDeps,
  rows: readonly GroupRow[],
  { parameters, signal }: Run,
): Promise<Map<string, FullScores>> {
  const scores = new Map<string, FullScores>();
  const keys: string[] = [];
  const inputs = function* (): Generator<readonly (readonly [Uint8Array, Uint8Array])[]> {
    let batch: Wanted[] = [];
    for (const row of rows)
      for (const pair of pairsToScore(row, parameters)) {
        const wanted = wantedPair(deps, row, pair);
        if (wanted === undefined) continue;
        batch.push(wanted);
        if (batch.length < PAIRS_AT_ONCE) continue;
        keys.push(...batch.map(({ key }) => key));
        yield batch.map(({ texts }) => texts);
        batch = [];
      }
    keys.push(...batch.map(({ key }) => key));
    if (batch.length > 0) yield batch.map(({ texts }) => texts);
  };
  const { ngramSize, fuzzySampleSize } = parameters;
  const tasks = inputs().map((pairs) => ({
    pairs,
    parameters: { ngramSize, fuzzySampleSize },
    explained: false,
  }));
  let at = 0;
  for await (const output of deps.pool.map(scorePairs, tasks, { signal }))
    for (const { scores: own } of output) scores.set(keys[at++] ?? "", own);
  return scores;
}

/** Undefined when a document or its text has changed or is gone. */
function wantedPair(
  { env, documents: store }: RescoringDeps,
  row: GroupRow,
  { a, b }: IndexPair,
): Wanted | undefined {
  const [one, other] = env.read((snapshot) =>
    [a, b].map((member) => snapshot.get(documents, row.members[member] ?? 0)),
  );
  const [textA, textB] = [one && store.text(one), other && store.text(other)];
  return one && other && textA && textB
    ? { key: pairKey(one.contentHash, other.contentHash), texts: [textA, textB] }
    : undefined;
}

function pairKey(a: Uint8Array, b: Uint8Array): string {
  const [low, high] = Buffer.compare(a, b) <= 0 ? [a, b] : [b, a];
  return `${Buffer.from(low).toString("latin1")}${Buffer.from(high).toString("latin1")}`;
}
