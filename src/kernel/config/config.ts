/** The configuration of a running process: typed, immutable, with the source of each value. */
import { Secret } from "../base/secret.ts";
import { assert } from "../base/errors.ts";
import type { Key, Schema } from "./key.ts";
import type { SourceLocation } from "./findings.ts";
import { redactUrl } from "./redact.ts";
import { secretSource, type SecretSource, type Shown } from "./values/types.ts";

export type Source =
  | { readonly from: "default" }
  | ({ readonly from: "file" | "environment" | "demo" } & SourceLocation);

/** The layer that supplied a value, as shown by the command line. */
type Provenance = "default" | "demo" | "file" | "env";

/**
 * One key, map entry or field of a listed object in the effective configuration. Secrets and unset
 * keys have no `value`.
 */
export interface EffectiveRow {
  readonly key: string;
  readonly value?: Shown;
  readonly secret?: true;
  readonly set?: boolean;
  readonly source?: SecretSource;
  readonly provenance?: Provenance;
}

/** Never changes after start. */
export interface Config {
  get<T>(key: Key<T>): T;
  list<T>(key: Key<readonly T[]>): readonly T[];
  /** For a map: the highest layer that has an entry. */
  source(key: Key<unknown>): Source;
  /** All keys, sorted, without secrets. */
  effective(options: { readonly provenance: boolean }): readonly EffectiveRow[];
}

export interface Setting {
  readonly value: unknown;
  readonly source: Source;
  /** Sources of a map's entries, by name. */
  readonly entries?: ReadonlyMap<string, Source>;
}

/**
 * Settings by path as a `Config`. Getting a key that is not in the schema is a programming error.
 */
export function createConfig(schema: Schema, settings: ReadonlyMap<string, Setting>): Config {
  const of = (key: { readonly path: string }): Setting => {
    const setting = settings.get(key.path);
    assert(setting !== undefined, `${key.path} is in the schema`);
    return setting;
  };
  return {
    // The loader read the value by this path's key, so it has the key's type.
    get: <T>(key: Key<T>) => of(key).value as T,
    list: <T>(key: Key<readonly T[]>) => of(key).value as readonly T[],
    source: (key) => of(key).source,
    effective: ({ provenance }) =>
      schema
        .flatMap((key) => effectiveRows(key, of(key)))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ provenance: from, ...row }) => (provenance ? { ...row, provenance: from } : row)),
  };
}

type Traced = EffectiveRow & { readonly provenance: Provenance };

function effectiveRows(key: Key<unknown>, setting: Setting): Traced[] {
  const { value, source } = setting;
  const provenance = provenanceOf(source);
  if (key.secret === true)
    return [
      {
        key: key.path,
        ...secretFields(secretSource(value instanceof Secret ? value : undefined)),
        provenance,
      },
    ];
  if (value === undefined) return [{ key: key.path, provenance }];
  const parts = key.type.parts?.(value) ?? [];
  if (parts.length > 0) {
    return parts.map(({ under, value: shown, secret }) => ({
      key: `${key.path}${under}`,
      ...(secret === undefined ? {} : secretFields(secret)),
      ...(shown === undefined ? {} : { value: redact(shown) }),
      provenance: provenanceOf(setting.entries?.get(under.slice(1)) ?? source),
    }));
  }
  return [
    {
      key: key.path,
      ...(key.type.isMap === true ? {} : { value: redact(key.type.show(value)) }),
      provenance,
    },
  ];
}

function secretFields(source: SecretSource): Pick<EffectiveRow, "secret" | "set" | "source"> {
  return { secret: true, set: source !== "unset", source };
}

function redact(shown: Shown): Shown {
  if (typeof shown === "string") return redactUrl(shown);
  return Array.isArray(shown) ? (shown as readonly string[]).map(redactUrl) : shown;
}

function provenanceOf({ from }: Source): Provenance {
  return from === "environment" ? "env" : from;
}
