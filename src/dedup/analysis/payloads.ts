/** Bringing the payloads of candidate classes back from the store, in segments of bounded size. */
import { TABLE_WORDS, readBlock } from "../../../workers/block.ts";
import type { Block } from "../../../workers/block.ts";
import type { Payloads } from "../../../workers/tasks/verify.ts";
import type { Arena } from "./arena.ts";
import type { SketchStore } from "./sketch-store.ts";

/** Consecutive candidate classes whose payloads fit in memory together. */
export interface Segment {
  /** Ascending; all candidates from the first to the last. */
  readonly classes: Uint32Array;
  readonly words: number;
}

/** Words of payloads in one segment; two are in memory at a time. */
export const SEGMENT_WORDS = 2 ** 26;

/** Cuts ascending classes into segments of at most `limit` words, but at least one class each. */
export function planSegments(
  classes: Uint32Array,
  arena: Pick<Arena, "payloadWords">,
  limit: number = SEGMENT_WORDS,
): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  let words = 0;
  for (let i = 0; i < classes.length; i += 1) {
    const more = arena.payloadWords(classes[i] ?? 0);
    if (i > from && words + more > limit) {
      segments.push({ classes: classes.subarray(from, i), words });
      from = i;
      words = 0;
    }
    words += more;
  }
  if (from < classes.length) segments.push({ classes: classes.subarray(from), words });
  return segments;
}

/**
 * The payloads of a segment; slot i is its i-th class. Reads each block once. Rejects with the
 * signal's reason.
 */
export async function loadSegment(
  segment: Segment,
  arena: Arena,
  store: SketchStore,
  signal: AbortSignal,
): Promise<Payloads> {
  const words = new Uint32Array(new SharedArrayBuffer(segment.words * 4));
  const table = new Uint32Array(new SharedArrayBuffer(segment.classes.length * TABLE_WORDS * 4));
  const slotsByBlock = new Map<number, number[]>();
  for (const [slot, index] of segment.classes.entries()) {
    const { block } = arena.location(index);
    const slots = slotsByBlock.get(block);
    if (slots) slots.push(slot);
    else slotsByBlock.set(block, [slot]);
  }
  let at = 0;
  for (const [id, slots] of slotsByBlock) {
    signal.throwIfAborted();
    const block = readBlock(await store.read(id));
    for (const slot of slots)
      at += copyPayload(block, arena.location(segment.classes[slot] ?? 0).slot, {
        words,
        table,
        slot,
        at,
      });
  }
  return { words: words.buffer, table: table.buffer };
}

function copyPayload(
  block: Block,
  from: number,
  to: { words: Uint32Array; table: Uint32Array; slot: number; at: number },
): number {
  const [start = 0, tokens = 0, set = 0, sample = 0] = block.table.subarray(
    from * TABLE_WORDS,
    (from + 1) * TABLE_WORDS,
  );
  const length = tokens + set + Math.ceil(sample / 4);
  to.words.set(block.words.subarray(start, start + length), to.at);
  to.table.set([to.at, tokens, set, sample], to.slot * TABLE_WORDS);
  return length;
}
