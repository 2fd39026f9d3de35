/**
 * Loads the page `/duplicates` with no more requests than a change needs: opening a group leaves
 * the list as it is. What cannot be read again is shown as it was, with the reason.
 */
import type { ReviewApi } from "../review/api.ts";
import { loadActivity, loadDuplicates, loadGroup, valueOf } from "../review/load.ts";
import type { DuplicatesFacts } from "../review/load.ts";

export interface ReviewLoading {
  load(params: URLSearchParams, before: DuplicatesFacts | undefined): Promise<DuplicatesFacts>;
  /** The next load reads everything. */
  forget(): void;
  /** The state of the archives alone. */
  refreshActivity(before: DuplicatesFacts): Promise<DuplicatesFacts>;
  /** Whether a sync or an analysis ended after `before` was loaded: the list is of the time before. */
  isOutdated(before: DuplicatesFacts, next: DuplicatesFacts): boolean;
}

export function createReviewLoading(api: ReviewApi): ReviewLoading {
  let loaded: string | undefined;
  return {
    async load(params, before) {
      const key = listKey(params);
      if (before !== undefined && loaded === key)
        return { ...before, open: await openOf(api, params) };
      const next = await loadDuplicates(api, params);
      if (valueOf(next.list) !== undefined) loaded = key;
      return next;
    },
    forget() {
      loaded = undefined;
    },
    async refreshActivity(before) {
      const activity = await loadActivity(api);
      return { ...before, activity: valueOf(activity) === undefined ? before.activity : activity };
    },
    isOutdated: (before, next) => endsOf(before) !== endsOf(next),
  };
}

/** When the newest sync and the newest analysis that were stored began and ended. */
function endsOf({ activity }: DuplicatesFacts): string | undefined {
  const known = valueOf(activity);
  return known && `${known.sync.lastSyncAt} ${known.analysis.lastAnalysisAt}`;
}

async function openOf(api: ReviewApi, params: URLSearchParams): Promise<DuplicatesFacts["open"]> {
  const id = params.get("group") ?? "";
  return id === "" ? undefined : await loadGroup(api, id, params.get("with") ?? undefined);
}

/** The part of the address that the list depends on. */
function listKey(params: URLSearchParams): string {
  const list = new URLSearchParams(params);
  list.delete("group");
  list.delete("with");
  list.sort();
  return list.toString();
}
