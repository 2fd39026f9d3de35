/** Rows of documents in batches that fit into one transaction. */
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { boundedBatches } from "../../kernel/base/batches.ts";

/**
 * Rows a transaction: with their indexes about a millisecond of work, and well below 1 MiB beside
 * the job's own row.
 */
const ROWS = 64;
const ROW_BYTES = 256 * 1024;

/** Consecutive items; an item without a row is one of the smallest. */
export function rowBatches<T>(
  items: Iterable<T>,
  rowOf: (item: T) => DocumentRow | undefined,
): Generator<T[]> {
  return boundedBatches(items, [ROWS, ROW_BYTES], (item) => {
    const row = rowOf(item);
    return [1, row === undefined ? 0 : sizeOf(row)];
  });
}

// Three bytes a unit at most; refs and names lie in indexes too.
function sizeOf({ title, archiveRef, correspondent, documentType, tags }: DocumentRow): number {
  const units = [
    title,
    archiveRef,
    archiveRef,
    correspondent ?? "",
    documentType ?? "",
    ...tags,
  ].reduce((sum, text) => sum + text.length, 0);
  return 1_024 + 3 * units;
}
