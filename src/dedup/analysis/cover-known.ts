/** Covers components whose pairs were all verified before, without reading a text. */
import { createCover } from "../../../workers/cover/cover.ts";
import type { OpenStar } from "../../../workers/cover/cover.ts";
import { SELECT_STEPS, VERDICT_STEPS, breathe } from "./breath.ts";
import type { Breath } from "./breath.ts";
import type { Subgraph } from "./components.ts";
import type { CoverDeps, Star, StarPair } from "./star.ts";

type KnownDeps = Pick<CoverDeps, "vertices" | "verdicts">;

/** The groups of a component from verdicts alone; undefined when one is missing. */
export async function coverKnown(
  { graph, vertices }: Subgraph,
  deps: KnownDeps,
  breath: Breath,
): Promise<Star[] | undefined> {
  const stars: Star[] = [];
  const entries = graph.others.length;
  const cover = createCover(graph);
  await breath.step(20 * vertices.length + entries);
  while (cover.open > 0) {
    for (const open of cover.select(Number.POSITIVE_INFINITY)) {
      const known = settle(open, vertices, deps);
      if (!known) return undefined;
      if (known.star.members.length > 0) stars.push(known.star);
      const pause = breath.step(VERDICT_STEPS * open.pairs.length);
      if (pause) await pause;
      await breathe(cover.applySteps(open, known.passed), breath);
    }
    const pause = breath.step(Math.min(SELECT_STEPS, entries));
    if (pause) await pause;
  }
  return stars;
}

function settle(
  { centre, neighbours }: OpenStar,
  vertices: Uint32Array,
  { vertices: { textOf }, verdicts }: KnownDeps,
): { readonly star: Star; readonly passed: Uint8Array } | undefined {
  const passed = new Uint8Array(neighbours.length);
  const members: StarPair[] = [];
  const own = vertices[centre] ?? 0;
  for (const [i, neighbour] of neighbours.entries()) {
    const vertex = vertices[neighbour] ?? 0;
    const scores = verdicts.of(textOf[own] ?? 0, textOf[vertex] ?? 0);
    if (!scores) return undefined;
    if (Number.isNaN(scores.confidence)) continue;
    passed[i] = 1;
    members.push({ vertex, scores });
  }
  return { star: { centre: own, members }, passed };
}

/** The same for two vertices, most components: of equal degrees the lower one is the centre. */
export function coverPair(
  centre: number,
  vertex: number,
  { vertices: { textOf }, verdicts }: KnownDeps,
): Star[] | undefined {
  const scores = verdicts.of(textOf[centre] ?? 0, textOf[vertex] ?? 0);
  if (!scores) return undefined;
  return Number.isNaN(scores.confidence) ? [] : [{ centre, members: [{ vertex, scores }] }];
}
