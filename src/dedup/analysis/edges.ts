/** The verified pairs of an analysis. */

/** One verified pair of classes, `low` below `high`. Scores are exact and never rounded, 0 to 1. */
export interface Edge {
  readonly low: number;
  readonly high: number;
  readonly jaccard: number;
  readonly fuzzy: number;
  readonly discriminative: number;
  readonly confidence: number;
}

/** Edges as columns, ascending by (low, high). */
export interface Edges {
  readonly length: number;
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly jaccard: Float64Array;
  readonly fuzzy: Float64Array;
  readonly discriminative: Float64Array;
  readonly confidence: Float64Array;
}

/** One edge of the columns. */
export function edgeAt(edges: Edges, index: number): Edge {
  return {
    low: edges.low[index] ?? 0,
    high: edges.high[index] ?? 0,
    jaccard: edges.jaccard[index] ?? 0,
    fuzzy: edges.fuzzy[index] ?? 0,
    discriminative: edges.discriminative[index] ?? 0,
    confidence: edges.confidence[index] ?? 0,
  };
}

/** The columns of edges in any order. */
export function sortedEdges(edges: readonly Edge[]): Edges {
  const sorted = [...edges].sort((a, b) => a.low - b.low || a.high - b.high);
  const whole = (name: "low" | "high"): Uint32Array =>
    Uint32Array.from(sorted, (edge) => edge[name]);
  const score = (name: Exclude<keyof Edge, "low" | "high">): Float64Array =>
    Float64Array.from(sorted, (edge) => edge[name]);
  return {
    length: sorted.length,
    low: whole("low"),
    high: whole("high"),
    jaccard: score("jaccard"),
    fuzzy: score("fuzzy"),
    discriminative: score("discriminative"),
    confidence: score("confidence"),
  };
}
