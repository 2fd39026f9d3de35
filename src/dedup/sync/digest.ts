/**
 * An archive read to its end with every text digested: by the archive itself where it reads them on
 * the pool, else here.
 */
import type { DigestedTexts } from "../../../workers/text/digester.ts";
import { digest as digestTask } from "../../../workers/tasks.ts";
import type { DigestInput } from "../../../workers/tasks/digest.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type {
  Archive,
  ArchiveBatch,
  DigestedDocument,
  ReadOptions,
  SkippedItem,
  UnchangedDocument,
} from "../archives/archive.ts";
import { withDigest, withoutText } from "../archives/digests.ts";
import { mapInOrder } from "../archives/ordered.ts";

type DigestedItem = DigestedDocument | UnchangedDocument | SkippedItem;

/** A batch whose texts are digested. */
export interface DigestedBatch {
  readonly items: readonly DigestedItem[];
  readonly fraction: number;
  /** The signatures of the texts, when they were wanted. */
  readonly blocks: readonly ArrayBuffer[];
}

/** Batches in order. Reads ahead only as the pool accepts work. */
export function readDigested(
  archive: Archive,
  pool: Pool,
  options: ReadOptions,
): AsyncGenerator<DigestedBatch> {
  return mapInOrder(archive.read(options), pool.status().threads + 1, (batch) =>
    digestBatch(batch, pool, options),
  );
}

async function digestBatch(
  { items, fraction, blocks = [] }: ArchiveBatch,
  pool: Pool,
  options: ReadOptions,
): Promise<DigestedBatch> {
  const documents = items.filter((item) => item.kind === "document");
  const digests = documents.length === 0 ? undefined : await digestTexts(documents, pool, options);
  let next = 0;
  return {
    items: items.map((item) =>
      item.kind === "document" && digests
        ? withDigest(withoutText(item), digests, next++)
        : (item as DigestedItem),
    ),
    fraction,
    blocks: digests?.block ? [...blocks, digests.block] : blocks,
  };
}

async function digestTexts(
  documents: readonly { readonly text: string; readonly beyond?: string }[],
  pool: Pool,
  { signal, digest: request }: ReadOptions,
): Promise<DigestedTexts | undefined> {
  const input: DigestInput = {
    texts: documents.map(({ text }) => text),
    ...(documents.some(({ beyond }) => beyond) && {
      beyond: documents.map(({ beyond }) => beyond ?? ""),
    }),
    request,
  };
  for await (const digests of pool.map(digestTask, [input], { signal, inFlight: 1 }))
    return digests;
  return undefined;
}
