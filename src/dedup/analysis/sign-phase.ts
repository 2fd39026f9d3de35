/**
 * First phase: every class gets its signature, from the store where it is known, from its text
 * where not.
 */
import type { Pool } from "../../kernel/pool/types.ts";
import { readBlock, signatureAt, writeBlock } from "../../../workers/block.ts";
import type { Signature } from "../../../workers/block.ts";
import { pack } from "../../../workers/packed.ts";
import type { SignInput } from "../../../workers/tasks/sign.ts";
import { sign } from "../../../workers/tasks.ts";
import type { Arena } from "./arena.ts";
import type { Breath } from "./breath.ts";
import type { ClassIndex } from "./class-index.ts";
import { parametersFingerprint, signatureParametersOf } from "./parameters.ts";
import type { AnalysisParameters } from "./parameters.ts";
import type { SketchStore } from "./sketch-store.ts";

/**
 * Texts of classes, in their order: UTF-8, under zstd or plain; undefined for one that is gone. The
 * source vouches that a text has the hash of its class.
 */
export type TextSource = (
  indexes: readonly number[],
) => Promise<readonly (Uint8Array | undefined)[]> | readonly (Uint8Array | undefined)[];

export interface SignDeps {
  readonly classes: readonly { readonly wordCount: number }[];
  /** All classes in the order in which their texts are best read. */
  readonly readingOrder: Uint32Array;
  readonly classIndex: ClassIndex;
  readonly arena: Arena;
  readonly store: SketchStore;
  readonly parameters: AnalysisParameters;
  readonly text: TextSource;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  readonly breath: Breath;
  progress(done: number): void;
}

/** What was done: classes found in the store, and signed anew. */
export interface SignResult {
  readonly reused: number;
  readonly signed: number;
}

/** A block holds this many classes, or fewer of longer texts. */
const BLOCK_CLASSES = 256;
const BLOCK_WORDS = 200_000;
/** An analysis after a change leaves a block of the few texts that are new. */
const SMALL_CLASSES = 64;
/** With more small blocks than this they are put together. */
const MAX_SMALL_BLOCKS = 100;
/** Steps of the breath: for reading a block, and for each of its classes. */
const BLOCK_STEPS = 300;
const CLASS_STEPS = 50;

/**
 * Signs every class whose text is there. A finished block is durable at once, so a crash loses at
 * most those under way.
 */
export async function signAll(deps: SignDeps): Promise<SignResult> {
  const fingerprint = parametersFingerprint(deps.parameters);
  await adoptStored(deps, fingerprint);
  const reused = deps.arena.signed;
  deps.progress(reused);
  let done = reused;
  const counts: number[] = [];
  for await (const { block: buffer } of deps.pool.map(sign, batches(deps, fingerprint, counts), {
    signal: deps.signal,
  })) {
    const block = readBlock(buffer);
    if (block.classes > 0) deps.arena.adopt(await deps.store.save(buffer), block);
    done += counts.shift() ?? 0;
    deps.progress(done);
  }
  return { reused, signed: deps.arena.signed - reused };
}

async function* batches(
  deps: SignDeps,
  fingerprint: Uint8Array,
  counts: number[],
): AsyncGenerator<SignInput> {
  let batch: number[] = [];
  let words = 0;
  const input = async (): Promise<SignInput> => {
    counts.push(batch.length);
    const texts = pack((await deps.text(batch)).map((text) => text ?? new Uint8Array(0)));
    const hashes = pack(
      batch.map((index) => deps.classIndex.hashes.subarray(index * 32, (index + 1) * 32)),
    ).bytes;
    return {
      texts,
      hashes,
      fingerprint,
      parameters: signatureParametersOf(deps.parameters),
    };
  };
  for (const index of deps.readingOrder) {
    if (deps.arena.isSigned(index)) continue;
    const { wordCount } = deps.classes[index] ?? { wordCount: 0 };
    if (batch.length === BLOCK_CLASSES || (batch.length > 0 && words + wordCount > BLOCK_WORDS)) {
      yield await input();
      batch = [];
      words = 0;
    }
    batch.push(index);
    words += wordCount;
  }
  if (batch.length > 0) yield await input();
}

/**
 * Takes what the store knows; when more than half of that is of no use any more, the sparse blocks
 * are written anew, and when there are many small ones, those.
 */
async function adoptStored(deps: SignDeps, fingerprint: Uint8Array): Promise<void> {
  const { arena, store, signal, breath } = deps;
  const seen: { readonly id: number; readonly live: number; readonly total: number }[] = [];
  for await (const { id, buffer } of store.load(fingerprint)) {
    signal.throwIfAborted();
    const block = readBlock(buffer);
    seen.push({ id, ...arena.adopt(id, block) });
    deps.progress(arena.signed);
    await breath.step(BLOCK_STEPS + CLASS_STEPS * block.classes);
  }
  if (!store.lasting) return;
  const total = seen.reduce((sum, block) => sum + block.total, 0);
  const isSparse = arena.signed * 2 < total;
  const areMany = seen.filter((block) => block.total < SMALL_CLASSES).length > MAX_SMALL_BLOCKS;
  const unfit = seen.filter(
    (block) =>
      (isSparse && block.live * 2 < block.total) || (areMany && block.total < SMALL_CLASSES),
  );
  await rewrite(
    deps,
    fingerprint,
    unfit.map(({ id }) => id),
  );
}

/**
 * Moves what is still of use out of sparse blocks, then deletes them. A crash between leaves a
 * copy, which the next start ignores.
 */
async function rewrite(
  deps: SignDeps,
  fingerprint: Uint8Array,
  ids: readonly number[],
): Promise<void> {
  const {
    arena,
    store,
    parameters: { numPermutations: sketchSize, numBands },
  } = deps;
  let kept: Signature[] = [];
  let emptied: number[] = [];
  const flush = async (): Promise<void> => {
    if (kept.length > 0) {
      const buffer = writeBlock(fingerprint, { sketchSize, numBands }, kept);
      arena.move(await store.save(buffer), readBlock(buffer));
    }
    await store.drop(emptied);
    kept = [];
    emptied = [];
  };
  for (const id of ids) {
    deps.signal.throwIfAborted();
    const block = readBlock(await store.read(id));
    for (let slot = 0; slot < block.classes; slot += 1)
      if (arena.isAt(deps.classIndex.find(block.hashes, slot * 32), id, slot))
        kept.push(signatureAt(block, slot));
    emptied.push(id);
    await deps.breath.step(BLOCK_STEPS + CLASS_STEPS * block.classes);
    if (kept.length >= BLOCK_CLASSES / 2 || emptied.length >= BLOCK_CLASSES) await flush();
  }
  await flush();
}
