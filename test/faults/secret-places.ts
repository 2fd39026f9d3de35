/**
 * Every place of the configuration that holds a secret, found in the schema, so that a new one is
 * covered without a change.
 */
import type { Schema } from "../../src/kernel/config/key.ts";
import { canary, type Canary } from "./canaries.ts";

/** A part of a configuration file. */
export type Tree = { [name: string]: unknown };

/**
 * A secret's place: names of sections; `[]` stands for every element of a list, `*` for any name of
 * a map.
 */
export type Place = readonly string[];

/** All places of a schema. */
export function secretPlaces(schema: Schema): Place[] {
  return schema.flatMap((key): Place[] => {
    const path = key.path.split(".");
    if (key.secret === true) return [path];
    if (key.type.isMapOfSecrets === true) return [[...path, "*"]];
    return (key.type.fields ?? []).flatMap(({ name, secret, isMapOfSecrets }) =>
      secret || isMapOfSecrets === true
        ? [[...path, "[]", ...name.split("."), ...(secret ? [] : ["*"])]]
        : [],
    );
  });
}

/**
 * Puts a canary at every place that the configuration has the sections for, unless something stands
 * there; returns those of `places` that got one.
 */
export function fillSecrets(
  config: Tree,
  places: readonly Place[],
  at: (place: string, value: string) => string = (_place, value) => value,
): Canary[] {
  return places.flatMap((place) => put(config, place, place.join("."), at));
}

function put(
  tree: Tree,
  [name = "", ...rest]: Place,
  where: string,
  at: (place: string, value: string) => string,
): Canary[] {
  if (name === "[]")
    return (Array.isArray(tree) ? (tree as Tree[]) : []).flatMap((element) =>
      put(element, rest, where, at),
    );
  if (rest.length > 0) return put((tree[name] ??= {}) as Tree, rest, where, at);
  const made = canary(where);
  const key = name === "*" ? "x-canary" : name;
  if (tree[key] !== undefined) return [];
  tree[key] = at(where, made.value);
  return [made];
}
