/** Covers small components: batches of them go to the pool with their texts. */
import type { Task } from "../../kernel/pool/types.ts";
import { createScoreColumns, scoresAt } from "../../../workers/cover/score-columns.ts";
import { pack } from "../../../workers/packed.ts";
import type { CoverInput, CoverOutput } from "../../../workers/tasks/cover.ts";
import { cover as coverTask } from "../../../workers/tasks.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";
import { VERDICT_STEPS } from "./breath.ts";
import type { Breath } from "./breath.ts";
import type { Subgraph } from "./components.ts";
import type { CoverDeps, Star, StarPair } from "./star.ts";
import { coverParametersOf } from "./parameters.ts";

export interface SmallDeps extends CoverDeps {
  readonly cut: (vertices: Uint32Array) => Subgraph;
  found(star: Star): void;
  /** Vertices that are settled already, for the progress. */
  readonly settledBefore: number;
}

/** A batch on its way. */
interface Sent {
  readonly subgraph: Subgraph;
  /** Both vertices of each pair. */
  readonly ends: Uint32Array;
}

/** Covers batches of whole components; answers how many pairs were verified. */
export async function coverSmall(
  batches: readonly Uint32Array[],
  deps: SmallDeps,
  breath: Breath,
): Promise<number> {
  const sent: Sent[] = [];
  let done = deps.settledBefore;
  let verified = 0;
  async function* inputs(): AsyncGenerator<CoverInput> {
    for (const batch of batches) {
      const subgraph = deps.cut(batch);
      await breath.step(20 * subgraph.vertices.length);
      yield await coverInput(subgraph, { ...deps, sent, breath });
    }
  }
  const task: Task<CoverInput, CoverOutput> = coverTask;
  for await (const output of deps.pool.map(task, inputs(), { signal: deps.signal })) {
    const batch = sent.shift();
    if (!batch) break;
    const found = await collect(batch, output, deps, breath);
    for (const star of found) deps.found(star);
    verified += output.pairs.length;
    await deps.verdicts.flush();
    deps.progress((done += batch.subgraph.vertices.length));
  }
  return verified;
}

interface InputDeps extends CoverDeps {
  readonly sent: Sent[];
  readonly breath: Breath;
}

async function coverInput(subgraph: Subgraph, deps: InputDeps): Promise<CoverInput> {
  const {
    vertices: { textOf },
    parameters,
    verdicts,
    sent,
    breath,
  } = deps;
  const texts = Uint32Array.from(
    new Set(Array.from(subgraph.vertices, (vertex) => textOf[vertex] ?? 0)),
  );
  const placeOf = new Map(Array.from(texts, (own, place) => [own, place]));
  const ends = endsOf(subgraph);
  sent.push({ subgraph, ends });
  return {
    graph: subgraph.graph,
    textOf: subgraph.vertices.map((vertex) => placeOf.get(textOf[vertex] ?? 0) ?? 0),
    texts: pack(await readTexts(texts, deps)),
    parameters: coverParametersOf(parameters),
    ...(verdicts.any && { known: await knownPairs({ subgraph, ends }, deps, breath) }),
  };
}

/** Texts that are read at once. */
const TEXTS_AT_ONCE = 128;
/** Steps of one. */
const TEXT_STEPS = 200;

/** A text that is gone is empty. */
async function readTexts(
  texts: Uint32Array,
  { text, breath }: Pick<InputDeps, "text" | "breath">,
): Promise<Uint8Array[]> {
  const read: Uint8Array[] = [];
  for (let at = 0; at < texts.length; at += TEXTS_AT_ONCE) {
    const some = texts.subarray(at, at + TEXTS_AT_ONCE);
    for (const bytes of await text([...some])) read.push(bytes ?? new Uint8Array(0));
    await breath.step(TEXT_STEPS * some.length);
  }
  return read;
}

/** The pairs of a batch that were verified before. */
async function knownPairs(
  { subgraph: { vertices }, ends }: Sent,
  { vertices: { textOf }, verdicts }: CoverDeps,
  breath: Breath,
): Promise<NonNullable<CoverInput["known"]>> {
  const pairs: number[] = [];
  const scores = createScoreColumns();
  for (let pair = 0; 2 * pair < ends.length; pair += 1) {
    const pause = breath.step(VERDICT_STEPS);
    if (pause) await pause;
    const [a = 0, b = 0] = [vertices[ends[2 * pair] ?? 0], vertices[ends[2 * pair + 1] ?? 0]];
    const own = verdicts.of(textOf[a] ?? 0, textOf[b] ?? 0);
    if (!own) continue;
    pairs.push(pair);
    scores.push(own);
  }
  return { pairs: Uint32Array.from(pairs), scores: scores.take() };
}

/** The stars of a batch; keeps the scores of the pairs that it verified. */
async function collect(
  { subgraph: { vertices }, ends }: Sent,
  { stars: found, pairs, scores }: CoverOutput,
  { vertices: { textOf }, verdicts }: CoverDeps,
  breath: Breath,
): Promise<Star[]> {
  const stars: Star[] = [];
  const scoresOf = new Map<number, PairScores>();
  for (const [at, pair] of pairs.entries()) {
    const pause = breath.step(VERDICT_STEPS);
    if (pause) await pause;
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
  return stars;
}

/** Both vertices of each pair. */
function endsOf({ graph: { starts, others, pairs, weights } }: Subgraph): Uint32Array {
  const ends = new Uint32Array(2 * weights.length);
  for (let vertex = 0; vertex < starts.length - 1; vertex += 1)
    for (let entry = starts[vertex] ?? 0; entry < (starts[vertex + 1] ?? 0); entry += 1) {
      const other = others[entry] ?? 0;
      if (vertex >= other) continue;
      const pair = pairs[entry] ?? 0;
      ends[2 * pair] = vertex;
      ends[2 * pair + 1] = other;
    }
  return ends;
}
