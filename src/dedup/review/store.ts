/**
 * What people decided in `steward dedup review`: the daemon's tables of documents, groups and
 * decisions in an environment of its own. Only groups that somebody decided about are in it.
 */
import { mainStore } from "../stores.ts";
import { decisions, documents, groups, meta } from "../tables.ts";
import type { AnyTable, EnvSpec } from "../../kernel/state/types.ts";

export const reviewStore: Omit<EnvSpec, "directory"> = {
  name: "dedup-review",
  tables: [documents, groups, decisions, meta] as readonly unknown[] as readonly AnyTable[],
  schema: mainStore.schema,
  derived: false,
  maxBytes: mainStore.maxBytes,
};
