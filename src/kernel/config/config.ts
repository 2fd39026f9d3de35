/** The configuration of a running process: typed, immutable, and aware of where each value came from. */
import { assert } from "../base/errors.ts";
import type { Key, Schema } from "./key.ts";
import type { Place } from "./raw.ts";
import type { Shown } from "./types.ts";

/** Where a value came from. */
export type Source = { readonly from: "default" } | ({ readonly from: "file" | "environment" } & Place);

/** One key of the effective configuration (RESOLUTIONS M9, M11). A secret never has a `value`. */
export interface EffectiveRow {
  readonly key: string;
  readonly value?: Shown;
  readonly secret?: true;
  readonly set?: boolean;
  readonly provenance?: "default" | "file" | "env";
}

/** What the process was configured with. Never changes after start. */
export interface Config {
  get<T>(key: Key<T>): T;
  list<T>(key: Key<readonly T[]>): readonly T[];
  source(key: Key<unknown>): Source;
  /** All keys, sorted, without secrets. */
  effective(options: { readonly provenance: boolean }): readonly EffectiveRow[];
}

/** A value with its source. */
export interface Setting {
  readonly value: unknown;
  readonly source: Source;
}

/** Settings by path as a `Config`. Asking for a key that is not in the schema is our own mistake. */
export function createConfig(schema: Schema, settings: ReadonlyMap<string, Setting>): Config {
  const of = (key: { readonly path: string }): Setting => {
    const setting = settings.get(key.path);
    assert(setting !== undefined, `${key.path} is in the schema`);
    return setting;
  };
  return {
    // The loader read the value by the row of this very path, so it has the row's type.
    get: <T>(key: Key<T>) => of(key).value as T,
    list: <T>(key: Key<readonly T[]>) => of(key).value as readonly T[],
    source: (key) => of(key).source,
    effective: ({ provenance }) => schema.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map((key) => effectiveRow(key, of(key), provenance)),
  };
}

function effectiveRow(key: Key<unknown>, { value, source }: Setting, provenance: boolean): EffectiveRow {
  const from = source.from === "environment" ? "env" : source.from;
  const shown = value === undefined ? {} : { value: key.type.show(value) };
  return {
    key: key.path,
    ...(key.secret === true ? { secret: true, set: value !== undefined } : shown),
    ...(provenance ? { provenance: from } : {}),
  };
}
