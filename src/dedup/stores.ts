/**
 * The environments of the document service as data: who opens, checks or backs them up reads the
 * same shapes.
 */
import { jobTables } from "../kernel/jobs/jobs.ts";
import { settingsTable } from "../kernel/settings/table.ts";
import type { AnyTable, EnvSpec } from "../kernel/state/types.ts";
import { SKETCH_SCHEMA, sketchTables } from "./analysis/sketch-store.ts";
import {
  aiCosts,
  aiFeedback,
  aiResults,
  appConfig,
  decisions,
  deletions,
  documents,
  groups,
  meta,
  texts,
} from "./tables.ts";

const GIB = 2 ** 30;
/** Version of the stored shapes of documents, groups, decisions and jobs, and of texts. */
const SCHEMA = 1;

type Spec = Omit<EnvSpec, "directory">;

/** Documents, groups, decisions, jobs, and the settings that the API changed. */
export const mainStore: Spec = {
  name: "dedup",
  tables: anyTables([
    documents,
    groups,
    decisions,
    deletions,
    meta,
    aiResults,
    aiFeedback,
    aiCosts,
    appConfig,
    settingsTable,
    ...jobTables,
  ]),
  schema: SCHEMA,
  derived: false,
  maxBytes: 32 * GIB,
};
/** Texts, apart so that bulk writes never delay decisions. */
export const textStore: Spec = {
  name: "dedup-text",
  tables: anyTables([texts]),
  schema: SCHEMA,
  derived: false,
  maxBytes: 128 * GIB,
};
/** Signatures, which an analysis makes anew. */
export const sketchStore: Spec = {
  name: "dedup-sketch",
  tables: sketchTables,
  schema: SKETCH_SCHEMA,
  derived: true,
  maxBytes: 128 * GIB,
};

export const dedupStores: readonly Spec[] = [mainStore, textStore, sketchStore];

function anyTables(tables: readonly unknown[]): readonly AnyTable[] {
  return tables as readonly AnyTable[];
}
