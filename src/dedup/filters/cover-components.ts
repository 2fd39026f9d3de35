/** Covers components by the code of the analysis: a line for each group. */
import { bytesFor } from "../../../workers/sketch/estimate.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { coverAll } from "../analysis/cover-phase.ts";
import { STRONG_ESTIMATE } from "../analysis/engine.ts";
import { createNoVerdicts } from "../analysis/verdicts.ts";
import { runInSlices } from "../groups/steps.ts";
import { vertexSteps } from "../groups/vertices.ts";
import type { VertexInput } from "../groups/vertices.ts";
import type { Component } from "./components.ts";
import type { VerifyDeps } from "./score-pairs.ts";

/** A text of a batch: its component, and its position there. */
interface TextOfBatch {
  readonly component: number;
  readonly position: number;
}

/** Bytes of a word, for the size of a task. */
const WORD_BYTES = 6;

/** The groups of a batch by component, and the line that ends each component. */
export async function coverComponents(
  batch: readonly Component[],
  { numPermutations, ...deps }: VerifyDeps & { readonly numPermutations: number },
): Promise<string[]> {
  const { texts, pairs } = mergeBatch(batch);
  const vertices = await runInSlices(
    vertexSteps({
      documents: texts.map((_, text) => [text]),
      pairs,
      rejections: [],
      strongFrom: bytesFor(STRONG_ESTIMATE, numPermutations),
    }),
    { clock: systemClock, signal: deps.signal },
  );
  const bytesOf = (text: number): Uint8Array | undefined => {
    const { component, position } = texts[text] ?? NOWHERE;
    return batch[component]?.texts[position];
  };
  const { stars } = await coverAll({
    ...deps,
    vertices,
    wordCount: (text) => Math.ceil((bytesOf(text)?.length ?? 0) / WORD_BYTES),
    text: (wanted) => wanted.map(bytesOf),
    verdicts: createNoVerdicts(),
    progress: () => undefined,
  });
  const lines: string[][] = batch.map(() => []);
  for (const { centre, members } of stars) {
    const idOf = (vertex: number): string | undefined => {
      const { component, position } = texts[vertices.textOf[vertex] ?? -1] ?? NOWHERE;
      return batch[component]?.ids[position];
    };
    const { component } = texts[vertices.textOf[centre] ?? -1] ?? NOWHERE;
    lines[component]?.push(
      `${JSON.stringify({
        component: batch[component]?.name,
        centre: idOf(centre),
        members: members.map(({ vertex, scores }) => ({ id: idOf(vertex), ...scores })),
      })}\n`,
    );
  }
  return batch.flatMap(({ name }, component) => [
    ...(lines[component] ?? []),
    `${JSON.stringify({ end: name, groups: lines[component]?.length ?? 0 })}\n`,
  ]);
}

const NOWHERE: TextOfBatch = { component: -1, position: -1 };

interface MergedBatch {
  readonly texts: readonly TextOfBatch[];
  readonly pairs: VertexInput["pairs"];
}

/** A pair as one number: lower text, higher text, equal values. Texts are below 2^21. */
const TEXTS = 2 ** 21;
const RANKS = 2 ** 11;

/** Numbers the texts of each component in the order of their identities, which decides ties. */
function mergeBatch(batch: readonly Component[]): MergedBatch {
  const texts: TextOfBatch[] = [];
  const pairs = new Float64Array(batch.reduce((sum, { equal }) => sum + equal.length, 0));
  let count = 0;
  for (const [component, { identities, ends, equal }] of batch.entries()) {
    const first = texts.length;
    const order = identities
      .map((identity, position) => ({ identity, position }))
      .sort((a, b) => (a.identity < b.identity ? -1 : 1));
    const rankOf = new Uint32Array(order.length);
    for (const [rank, { position }] of order.entries()) {
      rankOf[position] = first + rank;
      texts.push({ component, position });
    }
    for (let pair = 0; pair < equal.length; pair += 1) {
      const a = rankOf[ends[2 * pair] ?? 0] ?? 0;
      const b = rankOf[ends[2 * pair + 1] ?? 0] ?? 0;
      pairs[count] = (Math.min(a, b) * TEXTS + Math.max(a, b)) * RANKS + (equal[pair] ?? 0);
      count += 1;
    }
  }
  return { texts, pairs: rowsOf(pairs.sort(), texts.length) };
}

/** Rows by the lower text; a pair that was given twice is there once. */
function rowsOf(pairs: Float64Array, texts: number): MergedBatch["pairs"] {
  const ends = (pair: number): number => Math.floor(pair / RANKS);
  const distinct = pairs.filter((pair, i) => i === 0 || ends(pair) !== ends(pairs[i - 1] ?? 0));
  const starts = new Uint32Array(texts + 1);
  for (const pair of distinct) {
    const low = Math.floor(ends(pair) / TEXTS);
    starts[low + 1] = (starts[low + 1] ?? 0) + 1;
  }
  for (let text = 0; text < texts; text += 1)
    starts[text + 1] = (starts[text + 1] ?? 0) + (starts[text] ?? 0);
  return {
    starts,
    highs: Uint32Array.from(distinct, (pair) => ends(pair) % TEXTS),
    equal: Uint16Array.from(distinct, (pair) => pair % RANKS),
  };
}
