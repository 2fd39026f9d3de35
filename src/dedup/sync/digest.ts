/**
 * Batches of an archive through the pool: each text normalised, hashed and packed there, in order,
 * a few batches under way.
 */
import { hash } from "node:crypto";
import { itemOf } from "../../../workers/packed.ts";
import { digest as digestTask } from "../../../workers/tasks.ts";
import type { DigestInput, DigestOutput } from "../../../workers/tasks/digest.ts";
import type {
  ArchiveBatch,
  ArchiveDocument,
  SkippedItem,
  UnchangedDocument,
} from "../archives/archive.ts";
import { cutText } from "../../../workers/text/decode.ts";
import { TEXT_BYTES, TEXT_UNITS } from "../documents/limits.ts";
import type { Pool } from "../../kernel/pool/types.ts";

/** What the pool finds out about a text. */
interface Digest {
  /** SHA-256 of the normalised text. */
  readonly hash: Uint8Array;
  readonly wordCount: number;
  /** The full text, zstd; empty when it can be read again at its location. */
  readonly zstd: Uint8Array;
}

/** A document with the digest of its text. */
export interface DigestedDocument {
  readonly kind: "document";
  readonly document: Omit<ArchiveDocument, "text">;
  readonly digest: Digest;
}

type DigestedItem = DigestedDocument | UnchangedDocument | SkippedItem;

/** A batch whose texts are digested. */
export interface DigestedBatch {
  readonly items: readonly DigestedItem[];
  readonly fraction: number;
  /** The signatures of the texts, when they were wanted. */
  readonly block?: ArrayBuffer;
}

/** What else to do with the texts. */
export interface DigestOptions {
  readonly signal: AbortSignal;
  /** Sign them in the same pass, and compress only those that cannot be read again. */
  readonly sign?: Required<DigestInput>["sign"];
}

/**
 * Batches in order, each text truncated to the stored length. Reads ahead only as the pool accepts
 * work.
 */
export async function* digestBatches(
  batches: AsyncIterable<ArchiveBatch>,
  pool: Pool,
  options: DigestOptions,
): AsyncGenerator<DigestedBatch> {
  const { signal, sign } = options;
  const underWay: ArchiveBatch[] = [];
  async function* textsOf(): AsyncGenerator<DigestInput> {
    for await (const batch of batches) {
      const cut = cutTexts(batch);
      underWay.push(cut);
      const read = cut.items.filter((item) => item.kind === "document");
      yield {
        texts: read.map(({ text }) => text),
        ...(read.some(({ beyond }) => beyond) && {
          beyond: read.map(({ beyond }) => beyond ?? ""),
        }),
        ...(sign && {
          sign,
          rereadable: Uint8Array.from(read, ({ location }) => (location ? 1 : 0)),
        }),
      };
    }
  }
  for await (const output of pool.map(digestTask, textsOf(), { signal })) {
    const batch = underWay.shift();
    if (batch === undefined) return;
    yield await joinDigests(batch, output, pool, signal);
  }
}

function cutTexts(batch: ArchiveBatch): ArchiveBatch {
  if (!batch.items.some((item) => item.kind === "document" && item.text.length > TEXT_UNITS))
    return batch;
  const items = batch.items.map((item) =>
    item.kind === "document" && item.text.length > TEXT_UNITS
      ? {
          ...item,
          text: cutText(item.text, TEXT_UNITS),
          beyond: item.beyond ?? hash("sha256", item.text.slice(TEXT_UNITS)),
          truncated: true,
          notes: [...item.notes, "truncated to 500,000 characters"],
        }
      : item,
  );
  return { ...batch, items };
}

async function joinDigests(
  batch: ArchiveBatch,
  output: DigestOutput,
  pool: Pool,
  signal: AbortSignal,
): Promise<DigestedBatch> {
  const items: DigestedItem[] = [];
  let at = 0;
  for (const item of batch.items) {
    if (item.kind !== "document") {
      items.push(item);
      continue;
    }
    const digest = digestAt(output, at++);
    const { text, ...document } = item;
    items.push(
      digest.zstd.byteLength <= TEXT_BYTES
        ? { kind: "document", document, digest }
        : await shorten({ document, text, hash: digest.hash }, pool, signal),
    );
  }
  const { block } = output;
  return { items, fraction: batch.fraction, ...(block && { block }) };
}

interface TooLarge {
  readonly document: Omit<ArchiveDocument, "text">;
  readonly text: string;
  /** The identity of the whole text, which stays that of the document. */
  readonly hash: Uint8Array;
}

// Text that hardly packs, such as random characters of three bytes, is halved until it fits a
// transaction.
async function shorten(
  { document, text, hash: identity }: TooLarge,
  pool: Pool,
  signal: AbortSignal,
): Promise<DigestedDocument> {
  let kept = text;
  for (;;) {
    kept = cutText(kept, Math.floor(kept.length / 2));
    for await (const output of pool.map(digestTask, [{ texts: [kept] }], { signal, inFlight: 1 })) {
      const digest = digestAt(output, 0);
      if (digest.zstd.byteLength > TEXT_BYTES) continue;
      return {
        kind: "document",
        document: {
          ...document,
          truncated: true,
          notes: [
            ...document.notes,
            `truncated to ${kept.length} characters, because it cannot be compressed further`,
          ],
        },
        digest: { ...digest, hash: identity },
      };
    }
  }
}

function digestAt({ hashes, wordCounts, zstd }: DigestOutput, at: number): Digest {
  return {
    hash: hashes.subarray(at * 32, at * 32 + 32),
    wordCount: wordCounts[at] ?? 0,
    zstd: itemOf(zstd, at),
  };
}
