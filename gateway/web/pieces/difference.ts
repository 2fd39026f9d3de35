/**
 * Two texts side by side with the words that differ. Equal words are shown near a difference only;
 * the others are counted.
 */
import type { Difference, Stretch } from "../difference.ts";
import { formatCount, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";

export interface DifferenceOptions {
  readonly difference: Difference;
  /** What the sides are, above them. */
  readonly left: Child;
  readonly right: Child;
}

/** Equal words shown before and after a difference. */
const CONTEXT = 16;
/** Differences shown; the others are counted. */
const MAX_HUNKS = 100;
/** Words shown of one side of a difference. */
const MAX_WORDS = 400;

/** Differences that stand near one another. */
interface Hunk {
  /** Equal words left out before it. */
  readonly skipped: number;
  readonly stretches: readonly Stretch[];
}

export function difference({ difference, left, right }: DifferenceOptions): View {
  const { hunks, after } = hunksOf(difference.stretches);
  const shown = hunks.slice(0, MAX_HUNKS);
  const words = difference.stretches
    .filter(({ same }) => !same)
    .reduce((sum, stretch) => sum + Math.max(stretch.left.length, stretch.right.length), 0);
  if (words === 0)
    return html`<div class="difference"><p class="note">${summary(difference, words)}</p></div>`;
  return html`<div class="difference">
    <p class="note">${summary(difference, words)}</p>
    <div class="sides heads"><div class="side">${left}</div><div class="side">${right}</div></div>
    ${shown.map((hunk, index) => hunkView(hunk, index))}
    ${
      hunks.length > shown.length
        ? html`<p class="skipped">${formatSome(hunks.length - shown.length, "further difference")} not shown</p>`
        : skippedView(after, "end")
    }
  </div>`;
}

function summary({ truncated }: Difference, words: number): string {
  const cut = truncated ? " Only the first 20,000 words of each text were compared." : "";
  return words === 0
    ? `No word differs.${cut}`
    : `${formatSome(words, "word")} ${words === 1 ? "differs" : "differ"}.${cut}`;
}

function hunksOf(stretches: readonly Stretch[]): { hunks: readonly Hunk[]; after: number } {
  const hunks: Hunk[] = [];
  let open: Stretch[] = [];
  let skipped = 0;
  for (const [index, stretch] of stretches.entries()) {
    if (!stretch.same) {
      open.push(stretch);
      continue;
    }
    const isFirst = index === 0;
    const isLast = index === stretches.length - 1;
    const before = isFirst ? 0 : CONTEXT;
    const after = isLast ? 0 : CONTEXT;
    if (stretch.left.length <= before + after) {
      open.push(stretch);
      continue;
    }
    if (before > 0) open.push(cut(stretch, 0, before));
    if (open.length > 0) hunks.push({ skipped, stretches: open });
    skipped = stretch.left.length - before - after;
    open = after > 0 ? [cut(stretch, -after)] : [];
  }
  if (open.length > 0) hunks.push({ skipped, stretches: open });
  return { hunks, after: open.length > 0 ? 0 : skipped };
}

function cut({ same, left, right }: Stretch, from: number, to?: number): Stretch {
  return { same, left: left.slice(from, to), right: right.slice(from, to) };
}

function hunkView({ skipped, stretches }: Hunk, index: number): View {
  return html`<div class="hunk" key=${index}>${skippedView(skipped, index === 0 ? "start" : "middle")}<div class="sides">
    <div class="side">${stretches.map((stretch) => words(stretch, "left"))}</div>
    <div class="side">${stretches.map((stretch) => words(stretch, "right"))}</div>
  </div></div>`;
}

function skippedView(count: number, where: "start" | "middle" | "end"): View | undefined {
  if (count === 0) return undefined;
  const place = where === "start" ? " before" : where === "end" ? " after" : " between";
  return html`<p class="skipped">${formatCount(count)} equal ${count === 1 ? "word" : "words"}${place}</p>`;
}

function words(stretch: Stretch, side: "left" | "right"): Child {
  const own = stretch[side];
  const text = `${own.slice(0, MAX_WORDS).join(" ")}${own.length > MAX_WORDS ? ` … (${formatSome(own.length - MAX_WORDS, "further word")})` : ""}`;
  if (stretch.same) return `${text} `;
  if (own.length === 0) return undefined;
  return side === "left"
    ? html`<span><del>${text}</del> </span>`
    : html`<span><ins>${text}</ins> </span>`;
}
