/**
 * Third phase: from candidate pairs to groups, verifying only what a group needs. Small components
 * go to the pool many at a time and are covered there; of a large one this thread keeps the cover
 * and the pool verifies its stars. Both give the same groups: a cover is a function of its
 * component.
 */
import type { Task } from "../../kernel/pool/types.ts";
import { createCover } from "../../../workers/cover/cover.ts";
import { createScoreColumns, scoresAt } from "../../../workers/cover/score-columns.ts";
import { pack } from "../../../workers/packed.ts";
import type { CoverInput, CoverOutput } from "../../../workers/tasks/cover.ts";
import { cover as coverTask } from "../../../workers/tasks.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";
import type { Breath } from "./breath.ts";
import { breathe, createBreath } from "./breath.ts";
import { componentSteps, createSubgraphs } from "./components.ts";
import type { Components, Subgraph } from "./components.ts";
import { coverLarge } from "./cover-large.ts";
import type { CoverDeps, Star, StarPair } from "./star.ts";
import { coverParametersOf } from "./parameters.ts";
import type { Verdicts } from "./verdicts.ts";

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
  const { small, large, known } = await split(components, { ...deps, cut }, stars, breath);
  deps.progress(known);
  let verified = await coverSmall(small, { ...deps, cut, settledBefore: known }, stars, breath);
  if (large.length > 0)
    verified += await coverLarge({
      ...deps,
      only: large,
      found: (star) => void stars.push(star),
      settledBefore: graph.starts.length - 1 - large.length,
    });
  return { stars: stars.sort((a, b) => a.centre - b.centre), verified };
}

interface SmallDeps extends CoverDeps {
  readonly cut: (vertices: Uint32Array) => Subgraph;
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
  deps: SmallDeps,
  stars: Star[],
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
    if (deps.verdicts.any) {
      const [one, other] = own;
      if (own.length === 2 && one !== undefined && other !== undefined) {
        if (coverPair(one, other, deps, stars)) {
          known += 2;
          continue;
        }
      } else if (own.length > 2) {
        await breath.step(20 * own.length + entries);
        if (coverKnown(deps.cut(own), deps, stars)) {
          known += own.length;
          continue;
        }
      }
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

function joined(parts: readonly Uint32Array[]): Uint32Array {
  const whole = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.sort();
}

/** A batch on its way. */
interface Sent {
  readonly subgraph: Subgraph;
  /** Both vertices of each pair. */
  readonly ends: Uint32Array;
}

async function coverSmall(
  batches: readonly Uint32Array[],
  deps: SmallDeps & { readonly settledBefore: number },
  stars: Star[],
  breath: Breath,
): Promise<number> {
  const sent: Sent[] = [];
  let done = deps.settledBefore;
  let verified = 0;
  async function* inputs(): AsyncGenerator<CoverInput> {
    for (const batch of batches) {
      const subgraph = deps.cut(batch);
      await breath.step(20 * subgraph.vertices.length);
      yield await coverInput(subgraph, deps, sent);
    }
  }
  const task: Task<CoverInput, CoverOutput> = coverTask;
  for await (const output of deps.pool.map(task, inputs(), { signal: deps.signal })) {
    const batch = sent.shift();
    if (!batch) break;
    verified += collect(batch, output, deps, stars);
    await deps.verdicts.flush();
    deps.progress((done += batch.subgraph.vertices.length));
  }
  return verified;
}

async function coverInput(
  subgraph: Subgraph,
  { vertices: { textOf }, text, parameters, verdicts }: CoverDeps,
  sent: Sent[],
): Promise<CoverInput> {
  const texts = Uint32Array.from(
    new Set(Array.from(subgraph.vertices, (vertex) => textOf[vertex] ?? 0)),
  );
  const placeOf = new Map(Array.from(texts, (own, place) => [own, place]));
  const ends = endsOf(subgraph);
  sent.push({ subgraph, ends });
  return {
    graph: subgraph.graph,
    textOf: subgraph.vertices.map((vertex) => placeOf.get(textOf[vertex] ?? 0) ?? 0),
    texts: pack((await text([...texts])).map((bytes) => bytes ?? new Uint8Array(0))),
    parameters: coverParametersOf(parameters),
    ...(verdicts.any && { known: knownPairs(subgraph, ends, textOf, verdicts) }),
  };
}

/** The pairs of a batch that were verified before. */
function knownPairs(
  { vertices }: Subgraph,
  ends: Uint32Array,
  textOf: Uint32Array,
  verdicts: Verdicts,
): NonNullable<CoverInput["known"]> {
  const pairs: number[] = [];
  const scores = createScoreColumns();
  for (let pair = 0; 2 * pair < ends.length; pair += 1) {
    const [a = 0, b = 0] = [vertices[ends[2 * pair] ?? 0], vertices[ends[2 * pair + 1] ?? 0]];
    const own = verdicts.of(textOf[a] ?? 0, textOf[b] ?? 0);
    if (!own) continue;
    pairs.push(pair);
    scores.push(own);
  }
  return { pairs: Uint32Array.from(pairs), scores: scores.take() };
}

/** Takes the stars and verdicts of a batch; answers how many pairs it verified. */
function collect(
  { subgraph: { vertices }, ends }: Sent,
  { stars: found, pairs, scores }: CoverOutput,
  { vertices: { textOf }, verdicts }: CoverDeps,
  stars: Star[],
): number {
  const scoresOf = new Map<number, PairScores>();
  for (const [at, pair] of pairs.entries()) {
    const own = scoresAt(scores, at);
    scoresOf.set(pair, own);
    const [a = 0, b = 0] = [ends[2 * pair], ends[2 * pair + 1]];
    verdicts.note(textOf[vertices[a] ?? 0] ?? 0, textOf[vertices[b] ?? 0] ?? 0, own);
  }
  for (let at = 0; at < found.length;) {
    const centre = found[at] ?? 0;
    const count = found[at + 1] ?? 0;
    const members = Array.from(found.subarray(at + 2, at + 2 + count), (pair): StarPair => {
      const [a = 0, b = 0] = [ends[2 * pair], ends[2 * pair + 1]];
      const [first, second] = [textOf[vertices[a] ?? 0] ?? 0, textOf[vertices[b] ?? 0] ?? 0];
      return {
        vertex: vertices[a === centre ? b : a] ?? 0,
        scores: scoresOf.get(pair) ?? verdicts.of(first, second) ?? SAME_TEXT,
      };
    });
    stars.push({ centre: vertices[centre] ?? 0, members });
    at += 2 + count;
  }
  return pairs.length;
}

/** Both vertices of each pair. */
function endsOf({ graph: { starts, others, pairs, weights } }: Subgraph): Uint32Array {
  const ends = new Uint32Array(2 * weights.length);
  for (let vertex = 0; vertex < starts.length - 1; vertex += 1)
    for (let entry = starts[vertex] ?? 0; entry < (starts[vertex + 1] ?? 0); entry += 1) {
      const other = others[entry] ?? 0;
      if (vertex < other) ends.set([vertex, other], 2 * (pairs[entry] ?? 0));
    }
  return ends;
}

/** The same for two vertices, most components: of equal degrees the lower one is the centre. */
function coverPair(centre: number, vertex: number, deps: CoverDeps, stars: Star[]): boolean {
  const { textOf } = deps.vertices;
  const scores = deps.verdicts.of(textOf[centre] ?? 0, textOf[vertex] ?? 0);
  if (scores && !Number.isNaN(scores.confidence))
    stars.push({ centre, members: [{ vertex, scores }] });
  return scores !== undefined;
}

/** Covers a component from verdicts alone; false, and nothing done, when one is missing. */
function coverKnown(subgraph: Subgraph, deps: CoverDeps, stars: Star[]): boolean {
  const { textOf } = deps.vertices;
  const { vertices } = subgraph;
  const own: Star[] = [];
  const cover = createCover(subgraph.graph);
  while (cover.open > 0)
    for (const open of cover.select(Number.POSITIVE_INFINITY)) {
      const passed = new Uint8Array(open.pairs.length);
      const members: StarPair[] = [];
      const centre = vertices[open.centre] ?? 0;
      for (const [i, neighbour] of open.neighbours.entries()) {
        const vertex = vertices[neighbour] ?? 0;
        const scores = deps.verdicts.of(textOf[centre] ?? 0, textOf[vertex] ?? 0);
        if (!scores) return false;
        if (Number.isNaN(scores.confidence)) continue;
        passed[i] = 1;
        members.push({ vertex, scores });
      }
      if (members.length > 0) own.push({ centre, members });
      cover.apply(open, passed);
    }
  stars.push(...own);
  return true;
}
