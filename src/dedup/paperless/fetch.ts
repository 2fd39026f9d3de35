/** Documents by their ids, however large their texts are. */
import { boundedBatches } from "../../kernel/base/batches.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { readId } from "./decode.ts";
import type { PaperlessClient } from "./client.ts";

/** What was found of the documents asked for. */
interface Fetched {
  /** In the server's order; those that are gone are missing. */
  readonly entries: readonly unknown[];
  /** Ids of documents that alone exceed the size of a response. */
  readonly tooLarge: readonly number[];
}

/** Of the ids in an address: with all else it stays below the 8 KiB that proxies take by default. */
const ID_CHARACTERS = 5_500;

/** Ids in the slices that are asked for at once, at most `size` each. A comma is sent as `%2C`. */
export function idSlices(ids: readonly number[], size: number): Generator<readonly number[]> {
  return boundedBatches(ids, [size, ID_CHARACTERS], (id) => [1, String(id).length + 3]);
}

/**
 * One request, unlike pages not shifted by deletions. A response that is too large is asked for in
 * halves.
 */
export async function fetchDocuments(
  client: PaperlessClient,
  ids: readonly number[],
  fields: string,
  signal: AbortSignal,
): Promise<Fetched> {
  if (ids.length === 0) return { entries: [], tooLarge: [] };
  try {
    const query = { id__in: ids.join(","), page_size: ids.length, ordering: "id", fields };
    const page = await client.page("documents", query, signal);
    const asked = new Set(ids);
    return {
      entries: (page?.results ?? []).filter((entry) => asked.has(readId(entry) ?? 0)),
      tooLarge: [],
    };
  } catch (error) {
    if (!(error instanceof StewardError) || error.rule !== "too_large") throw error;
    if (ids.length === 1) return { entries: [], tooLarge: ids };
  }
  const middle = Math.ceil(ids.length / 2);
  const left = await fetchDocuments(client, ids.slice(0, middle), fields, signal);
  const right = await fetchDocuments(client, ids.slice(middle), fields, signal);
  return {
    entries: [...left.entries, ...right.entries],
    tooLarge: [...left.tooLarge, ...right.tooLarge],
  };
}
