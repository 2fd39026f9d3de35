/**
 * Puts found groups into words: which member should stay, and why the members match. Texts are read
 * on the pool, each distinct one of a group once for its quality.
 */
import { explainPairs, textQualities } from "../../../workers/describe/tasks.ts";
import type { PairToExplain } from "../../../workers/describe/tasks.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Findings, FoundPair } from "./graph.ts";
import type { PrimaryCandidate } from "./primary.ts";
import { suggestPrimary } from "./primary.ts";

/** What describing needs to know. Documents are named by the numbers in `members`. */
export interface DescribeDeps {
  readonly pool: Pool;
  /** Undefined when the document is gone. */
  facts(document: number): PrimaryCandidate | undefined;
  /**
   * The full text in UTF-8 under zstd, as the analysis saw it; undefined when it is gone or was
   * replaced.
   */
  text(document: number): Uint8Array | undefined;
  /** The parameters the pairs were scored with. */
  readonly parameters: { readonly ngramSize: number; readonly fuzzySampleSize: number };
  readonly signal: AbortSignal;
}

/** A group in words. */
export interface Description {
  /** The member that should stay. */
  readonly primary: number;
  /** Why the members match, then why this one should stay. */
  readonly reasons: readonly string[];
}

/** Texts handed to a task at once, in bytes and number. */
const TASK_BYTES = 4 * 1024 * 1024;
const TASK_TEXTS = 64;

/** One description for each group. Rejects with the signal's reason. */
export async function describeGroups(
  found: readonly Findings[],
  deps: DescribeDeps,
): Promise<Description[]> {
  const qualities = await readQualities(found, deps);
  const choices = found.map((group, index) => suggest(group, qualities[index] ?? new Map(), deps));
  const explanations = await explainAll(
    found.map((group, index) => pairToExplain(group, choices[index]?.member ?? 0)),
    found,
    deps,
  );
  return found.map((group, index) => {
    const { member = 0, reasons = [] } = choices[index] ?? {};
    const stays = reasons.length > 0 ? [`suggested to stay: ${reasons.join("; ")}`] : [];
    return {
      primary: group.members[member] ?? 0,
      reasons: [...(explanations[index] ?? []), ...stays],
    };
  });
}

/** For each group the quality of its texts, by the index of their representative. */
async function readQualities(
  found: readonly Findings[],
  deps: DescribeDeps,
): Promise<ReadonlyMap<number, number>[]> {
  const results: Map<number, number>[] = found.map(() => new Map());
  const read: Wanted[] = [];
  const wanted = found.flatMap((group, index) =>
    textsToRead(group).map((member) => ({
      index,
      member,
      document: group.members[member] ?? 0,
    })),
  );
  const inputs = batches(
    present(wanted, ({ document }) => deps.text(document), read),
    (text) => text.byteLength,
  );
  let at = 0;
  for await (const qualities of deps.pool.map(textQualities, inputs, { signal: deps.signal })) {
    for (const quality of qualities) {
      const { index, member } = read[at++] ?? { index: 0, member: 0 };
      results[index]?.set(member, quality);
    }
  }
  return results;
}

/** A text to look at: group, member, document. */
interface Wanted {
  readonly index: number;
  readonly member: number;
  readonly document: number;
}

/**
 * Reads texts on demand, so that only batches in progress are in memory; `read` receives what each
 * was read for.
 */
function* present<T, V>(
  wanted: Iterable<T>,
  value: (one: T) => V | undefined,
  read: T[],
): Generator<V> {
  for (const one of wanted) {
    const found = value(one);
    if (found === undefined) continue;
    read.push(one);
    yield found;
  }
}

/** Members that stand for the texts; none when there is nothing to compare. */
function textsToRead({ texts }: Findings): number[] {
  const distinct = [...new Set(texts)];
  return distinct.length < 2 ? [] : distinct;
}

function suggest(
  { members, texts }: Findings,
  qualities: ReadonlyMap<number, number>,
  deps: DescribeDeps,
): { member: number; reasons: readonly string[] } {
  const present = [...members.keys()].flatMap((member) => {
    const facts = deps.facts(members[member] ?? 0);
    return facts
      ? [{ member, facts: { ...facts, quality: qualities.get(texts[member] ?? 0) } }]
      : [];
  });
  if (present.length === 0) return { member: 0, reasons: [] };
  const { index, reasons } = suggestPrimary(present.map(({ facts }) => facts));
  return { member: present[index]?.member ?? 0, reasons };
}

/**
 * The primary's best pair with another text, else the group's best; none when all texts are equal.
 * Of equally good ones that with the lower text by hash; the primary's text comes first, else the
 * lower one.
 */
function pairToExplain({ pairs, texts, ranks }: Findings, primary: number): FoundPair | undefined {
  const text = texts[primary];
  const key = ({ a, b, confidence }: FoundPair): readonly number[] => {
    const [low = 0, high = 0] = [ranks[a] ?? 0, ranks[b] ?? 0].sort((x, y) => x - y);
    return [a === text || b === text ? 0 : 1, -confidence, low, high];
  };
  let best: FoundPair | undefined;
  for (const pair of pairs) if (!best || isBefore(key(pair), key(best))) best = pair;
  if (!best) return undefined;
  const turned =
    best.b === text || (best.a !== text && (ranks[best.b] ?? 0) < (ranks[best.a] ?? 0));
  return turned ? { ...best, a: best.b, b: best.a } : best;
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  for (const [at, value] of a.entries()) if (value !== b[at]) return value < (b[at] ?? 0);
  return false;
}

async function explainAll(
  pairs: readonly (FoundPair | undefined)[],
  found: readonly Findings[],
  deps: DescribeDeps,
): Promise<string[][]> {
  const lines = found.map((group, index) => describeTexts(group, pairs[index], deps));
  const read: number[] = [];
  const texts = (index: number): PairToExplain | undefined => {
    const pair = pairs[index];
    const [a, b] = [pair?.a, pair?.b].map((member) =>
      member === undefined ? undefined : deps.text(found[index]?.members[member] ?? 0),
    );
    return pair && a && b ? { a, b, jaccard: pair.jaccard, fuzzy: pair.fuzzy } : undefined;
  };
  const { ngramSize, fuzzySampleSize: sampleUnits } = deps.parameters;
  const inputs = batches(
    present(pairs.keys(), texts, read),
    (pair) => pair.a.byteLength + pair.b.byteLength,
  );
  let at = 0;
  for await (const explained of deps.pool.map(
    explainPairs,
    inputs.map((own) => ({ pairs: own, ngramSize, sampleUnits })),
    { signal: deps.signal },
  )) {
    for (const own of explained) lines[read[at++] ?? 0]?.unshift(...own);
  }
  return lines;
}

// Texts that are equal as far as they were read are no exact copies.
function describeTexts(
  { members, texts }: Findings,
  pair: FoundPair | undefined,
  deps: DescribeDeps,
): string[] {
  const truncated = members.filter((document) => deps.facts(document)?.truncated === true).length;
  const distinct = new Set(texts).size;
  return [
    ...(pair !== undefined
      ? []
      : [
          truncated === 0
            ? "exact copy: the texts are the same, word for word"
            : "as far as they were read, the texts are the same, word for word",
        ]),
    ...(pair !== undefined && distinct < members.length
      ? [`${members.length} documents have ${distinct} different texts`]
      : []),
    ...(truncated > 0 ? [describeTruncated(truncated, members.length)] : []),
  ];
}

function describeTruncated(truncated: number, all: number): string {
  const which = truncated === all ? "all" : `${truncated} of the ${all}`;
  return `of ${which} documents only the beginning of the text was compared`;
}

function* batches<T>(items: Iterable<T>, bytesOf: (item: T) => number): Generator<T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const item of items) {
    if (batch.length > 0 && (bytes + bytesOf(item) > TASK_BYTES || batch.length >= TASK_TEXTS)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += bytesOf(item);
  }
  if (batch.length > 0) yield batch;
}
