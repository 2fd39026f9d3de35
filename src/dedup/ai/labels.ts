/** Names of one Paperless-ngx while suggestions are applied: read once, added to when one is made. */
import type { LabelList } from "../paperless/label-lists.ts";
import type { PaperlessWriter } from "../paperless/writer.ts";
import { createNameMatcher, type NameMatcher } from "./names.ts";

export interface Labels {
  nameOf(list: LabelList, id: number, signal: AbortSignal): Promise<string | undefined>;
  /** The id of the label with this name, or nearly; created only if asked for. */
  idOf(
    list: LabelList,
    name: string,
    options: { readonly create: boolean; readonly signal: AbortSignal },
  ): Promise<number | undefined>;
}

interface Known {
  readonly byId: Map<number, string>;
  readonly byName: Map<string, number>;
  matcher: NameMatcher;
}

export function createLabels(writer: PaperlessWriter): Labels {
  const lists = new Map<LabelList, Promise<Known>>();

  function load(list: LabelList, signal: AbortSignal): Promise<Known> {
    let loading = lists.get(list);
    if (loading === undefined) {
      loading = read(list, signal);
      lists.set(list, loading);
      loading.catch(() => lists.delete(list));
    }
    return loading;
  }

  async function read(list: LabelList, signal: AbortSignal): Promise<Known> {
    const byId = new Map(await writer.labels(list, signal));
    const byName = new Map([...byId].toReversed().map(([id, name]) => [name, id]));
    return { byId, byName, matcher: createNameMatcher(byName.keys()) };
  }

  return {
    nameOf: async (list, id, signal) => (await load(list, signal)).byId.get(id),
    async idOf(list, name, { create, signal }) {
      const known = await load(list, signal);
      const found = known.matcher.find(name);
      if (found !== undefined) return known.byName.get(found);
      if (!create) return undefined;
      const made = await writer.ensureLabel(list, name, signal);
      known.byId.set(made.id, made.name);
      known.byName.set(made.name, made.id);
      known.matcher = createNameMatcher(known.byName.keys());
      return made.id;
    },
  };
}
