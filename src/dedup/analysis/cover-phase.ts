/**
 * Third phase: from candidate pairs to groups, verifying only what a group needs. Small components
 * go to the pool many at a time and are covered there; of a large one this thread keeps the cover
 * and the pool verifies its stars. Both give the same groups: a cover is a function of its
 * component.
 */
import type { Breath } from "./breath.ts";
import { breathe, createBreath } from "./breath.ts";
import { componentSteps, createSubgraphs } from "./components.ts";
import type { Components } from "./components.ts";
import { coverKnown, coverPair } from "./cover-known.ts";
import { coverLarge } from "./cover-large.ts";
import { coverSmall } from "./cover-small.ts";
import type { SmallDeps } from "./cover-small.ts";
import type { CoverDeps, Star } from "./star.ts";

/** The groups in the order of their centres, and how many pairs were verified for them. */
export interface CoverResult {
  readonly stars: readonly Star[];
  /** Pairs of texts that were verified in this run. */
  readonly verified: number;
}

/** A batch of components is full at these sizes: about 100 ms of work. */
const BATCH_VERTICES = 512;
const BATCH_ENTRIES = 8_192;
const BATCH_WORDS = 100_000;
/**
 * A component up to these sizes is covered by one task: a few seconds of work and 100 MB of
 * features. Above them its stars are spread over the pool, which costs a message for each few.
 */
const SMALL_VERTICES = 4_096;
const SMALL_ENTRIES = 524_288;
const SMALL_WORDS = 2_000_000;

/** Covers every component. Rejects with the signal's reason. */
export async function coverAll(deps: CoverDeps): Promise<CoverResult> {
  const breath = createBreath(deps.signal);
  const { graph } = deps.vertices;
  const components = await breathe(componentSteps(graph), breath);
  const stars: Star[] = [];
  const cut = createSubgraphs(graph);
  const found = (star: Star): void => void stars.push(star);
  const { small, large, known } = await split(components, { ...deps, cut, found }, breath);
  deps.progress(known);
  let verified = await coverSmall(small, { ...deps, cut, found, settledBefore: known }, breath);
  if (large.length > 0)
    verified += await coverLarge({
      ...deps,
      only: large,
      found,
      settledBefore: graph.starts.length - 1 - large.length,
    });
  return { stars: stars.sort((a, b) => a.centre - b.centre), verified };
}

interface Split {
  /** Batches of small components. */
  readonly small: readonly Uint32Array[];
  /** The vertices of all large ones. */
  readonly large: Uint32Array;
  /** Vertices of those that verdicts have settled. */
  readonly known: number;
}

async function split(
  { count, starts, members }: Components,
  deps: Omit<SmallDeps, "settledBefore">,
  breath: Breath,
): Promise<Split> {
  const {
    vertices: { graph, textOf },
    wordCount,
  } = deps;
  let known = 0;
  const small: Uint32Array[] = [];
  const large: Uint32Array[] = [];
  let batch: Uint32Array[] = [];
  const sizes = { vertices: 0, entries: 0, words: 0 };
  const flush = (): void => {
    if (batch.length > 0) small.push(joined(batch));
    batch = [];
    Object.assign(sizes, { vertices: 0, entries: 0, words: 0 });
  };
  for (let component = 0; component < count; component += 1) {
    const own = members.subarray(starts[component], starts[component + 1]);
    let entries = 0;
    let words = 0;
    for (const vertex of own) {
      entries += (graph.starts[vertex + 1] ?? 0) - (graph.starts[vertex] ?? 0);
      words += wordCount(textOf[vertex] ?? 0);
    }
    const pause = breath.step(own.length);
    if (pause) await pause;
    if (own.length > SMALL_VERTICES || entries > SMALL_ENTRIES || words > SMALL_WORDS) {
      large.push(own);
      continue;
    }
    const found = deps.verdicts.any && (await coverFromVerdicts(own, deps, breath));
    if (found) {
      for (const star of found) deps.found(star);
      known += own.length;
      continue;
    }
    if (
      sizes.vertices + own.length > BATCH_VERTICES ||
      sizes.entries + entries > BATCH_ENTRIES ||
      sizes.words + words > BATCH_WORDS
    )
      flush();
    batch.push(own);
    sizes.vertices += own.length;
    sizes.entries += entries;
    sizes.words += words;
  }
  flush();
  return { small, large: joined(large), known };
}

/** The groups of a component whose verdicts are all known; undefined for another one. */
async function coverFromVerdicts(
  own: Uint32Array,
  deps: Pick<SmallDeps, "cut" | "vertices" | "verdicts">,
  breath: Breath,
): Promise<readonly Star[] | undefined> {
  const [one, other, third] = own;
  if (one === undefined || other === undefined) return undefined;
  return third === undefined
    ? coverPair(one, other, deps)
    : await coverKnown(deps.cut(own), deps, breath);
}

function joined(parts: readonly Uint32Array[]): Uint32Array {
  const whole = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.sort();
}
