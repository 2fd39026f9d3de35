/**
 * The documents that match a filter, as a set. Looking at every document takes tens of milliseconds
 * in a large archive, and pages of one list ask for the same set again: the last few are kept for as
 * long as no document changes.
 */
import type { DocumentFilter, DocumentIndex } from "./index.ts";

/** What a list of groups narrows by. */
type MatchFilter = Pick<DocumentFilter, "search" | "sinceMs">;

export type Matching = (filter: MatchFilter) => ReadonlySet<number>;

/** At most so many sets of so many documents are kept: 10 MB at 100,000 documents. */
const KEPT = 4;

export function createMatching(index: Pick<DocumentIndex, "revision" | "select">): Matching {
  const kept = new Map<string, ReadonlySet<number>>();
  let revision = index.revision;
  return (filter) => {
    if (revision !== index.revision) {
      kept.clear();
      revision = index.revision;
    }
    const key = JSON.stringify([filter.search, filter.sinceMs]);
    const known = kept.get(key);
    const found = known ?? new Set(index.select(filter, { offset: 0, limit: Infinity }).docNos);
    // Used last, dropped last.
    kept.delete(key);
    kept.set(key, found);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT) break;
      kept.delete(oldest);
    }
    return found;
  };
}
