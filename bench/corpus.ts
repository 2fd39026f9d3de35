/**
 * A made-up archive from a seed: base texts, edited copies of some, and siblings of one layout that
 * are no duplicates (facts §7).
 */

/** What to make. */
export interface CorpusOptions {
  readonly documents: number;
  /** Words of a text on average. */
  readonly words: number;
  readonly seed: number;
  /** Share of texts that are edited copies, default 0.2. */
  readonly copies?: number;
  /** Share of words changed in a copy; one of these a copy. */
  readonly edits?: readonly number[];
}

const VOCABULARY = 30_000;
const SIBLINGS = 0.02;

/** The texts, in an order that mixes all kinds. The same options give the same texts. */
export function createCorpus(options: CorpusOptions): string[] {
  const random = mulberry32(options.seed);
  const word = zipf(random);
  const edits = options.edits ?? [0, 0.01, 0.02, 0.05, 0.1];
  const originals: string[][] = [];
  const texts: string[] = [];
  for (let i = 0; i < options.documents; i += 1) {
    const kind = originals.length === 0 ? 1 : random();
    const original = originals[Math.floor(random() * originals.length)] ?? [];
    if (kind < (options.copies ?? 0.2))
      texts.push(
        edited(original, edits[Math.floor(random() * edits.length)] ?? 0, random, word).join(" "),
      );
    else if (kind < (options.copies ?? 0.2) + SIBLINGS)
      texts.push([...invoiceHead(random), ...original.slice(HEAD_WORDS)].join(" "));
    else {
      const length = Math.max(30, Math.round(options.words * (0.6 + random() * 0.8)));
      const body = Array.from({ length }, word);
      const text = [...(random() < 0.5 ? invoiceHead(random) : body.slice(0, HEAD_WORDS)), ...body];
      originals.push(text);
      texts.push(text.join(" "));
    }
  }
  return texts;
}

const HEAD_WORDS = 9;

function invoiceHead(random: () => number): string[] {
  const number = (digits: number): string =>
    String(Math.floor(random() * 10 ** digits)).padStart(digits, "0");
  return [
    "Invoice",
    "number:",
    `NW-${number(6)}`,
    "Date:",
    `${1 + Math.floor(random() * 28)}/${1 + Math.floor(random() * 12)}/20${number(2)}`,
    "Total",
    "due:",
    `$${number(4)}.${number(2)}`,
    "payable",
  ];
}

function edited(
  original: readonly string[],
  share: number,
  random: () => number,
  word: () => string,
): string[] {
  return original.map((old, i) => (i >= HEAD_WORDS && random() < share ? word() : old));
}

/** Words of a long-tailed vocabulary. */
function zipf(random: () => number): () => string {
  const sums = new Float64Array(VOCABULARY);
  let total = 0;
  for (let rank = 0; rank < VOCABULARY; rank += 1) sums[rank] = total += 1 / (rank + 1) ** 1.05;
  const words = Array.from({ length: VOCABULARY }, (_, rank) =>
    spell(Math.imul(rank + 1, 0x9e3779b1) >>> 0),
  );
  return () => {
    const aim = random() * total;
    let from = 0;
    let to = VOCABULARY - 1;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((sums[middle] ?? 0) < aim) from = middle + 1;
      else to = middle;
    }
    return words[from] ?? "";
  };
}

function spell(value: number): string {
  let text = "";
  for (let rest = value; rest > 0; rest = Math.floor(rest / 60))
    text += ("bdfgklmnprst"[rest % 12] ?? "") + ("aeiou"[Math.floor(rest / 12) % 5] ?? "");
  return text;
}

/** The public-domain generator mulberry32: numbers from 0 to below 1. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
