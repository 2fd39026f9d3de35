/** Single items to bounded batches. */
import type { ArchiveBatch, ArchiveItem } from "./archive.ts";

const ITEMS = 128;
const TEXT_BYTES = 4 * 1024 * 1024;

/** An item with how far the archive was read when it was found. */
export interface PositionedItem {
  readonly item: ArchiveItem;
  readonly fraction: number;
}

/**
 * Batches of at most 128 items and 4 MiB of text in memory (two bytes a unit). A larger single
 * document is a batch of its own.
 */
export async function* inBatches(
  items: AsyncIterable<PositionedItem>,
): AsyncGenerator<ArchiveBatch> {
  let batch: ArchiveItem[] = [];
  let bytes = 0;
  let fraction = 0;
  for await (const positioned of items) {
    const size = positioned.item.kind === "document" ? positioned.item.text.length * 2 : 0;
    if (batch.length > 0 && (batch.length === ITEMS || bytes + size > TEXT_BYTES)) {
      yield { items: batch, fraction };
      batch = [];
      bytes = 0;
    }
    batch.push(positioned.item);
    bytes += size;
    fraction = Math.max(fraction, positioned.fraction);
  }
  if (batch.length > 0) yield { items: batch, fraction };
}
