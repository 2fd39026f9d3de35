/** A section of the configuration as one object: keys are declared as fields and read together. */
import type { Config } from "./config.ts";
import { writtenName, type Field } from "./values/fields.ts";
import type { Complaint } from "./findings.ts";
import { defineKey, type Key, type Schema } from "./key.ts";
import type { KeyType } from "./values/types.ts";

/** The keys of a section, by field name. */
export type KeyGroup<T> = { readonly [K in keyof T]-?: Key<T[K]> };

/** A field as a key: undefined unless it has a default. `rule` and `warn` validate it. */
export interface KeyField<T> extends Field<T> {
  warn?(value: Exclude<T, undefined>): Complaint | undefined;
}

/** A field with a default, whose type is inferred from it: for groups without a type of their own. */
export function keyField<T extends {}>(row: {
  readonly type: KeyType<T>;
  readonly default: T;
  readonly help: string;
  rule?(value: T): Complaint | undefined;
}): KeyField<T> {
  return row;
}

/**
 * Declares the keys of a section: `maxObjects` below `a.b` is `a.b.max_objects` (`writtenName`).
 */
export function defineKeyGroup<T extends object>(
  prefix: string,
  fields: { readonly [K in keyof T]-?: KeyField<T[K]> },
): KeyGroup<T> {
  const define = <V>(name: string, field: KeyField<V>): Key<V> => {
    const judge =
      (name: "rule" | "warn") =>
      (value: V): Complaint | undefined =>
        value === undefined ? undefined : field[name]?.(value as Exclude<V, undefined>);
    return defineKey<V>({
      path: `${prefix}.${writtenName(name, field)}`,
      type: field.type,
      default: field.default as V,
      help: field.help,
      rule: judge("rule"),
      warn: judge("warn"),
      ...(field.secret === true ? { secret: true as const } : {}),
    });
  };
  return Object.fromEntries(
    (Object.keys(fields) as (keyof T & string)[]).map((name) => [name, define(name, fields[name])]),
  ) as unknown as KeyGroup<T>;
}

export function readKeyGroup<T extends object>(config: Config, group: KeyGroup<T>): T {
  return Object.fromEntries(
    Object.entries<Key<unknown>>(group as Readonly<Record<string, Key<unknown>>>).map(
      ([name, key]) => [name, config.get(key)],
    ),
  ) as T;
}

export function keysOf(...groups: readonly KeyGroup<object>[]): Schema {
  return groups.flatMap((group) => Object.values(group) as readonly Key<unknown>[]);
}
