/** Flattens a schema to the paths and types of its leaves, to compare two versions of an API. */
import type { JsonSchema } from "./json-schema.ts";

/** `data.items[].name` → `null|string`; `[]` are items, `{}` values of a map. Sorted by path. */
export type Paths = Readonly<Record<string, string>>;

/** The stored schema of one message. */
export interface Baseline {
  /** Incremented when a path is removed, renamed or changes its type. */
  readonly schema_version: number;
  readonly paths: Paths;
}

/** The leaves of a schema without references. Objects are represented by their leaves only. */
export function flatten(schema: JsonSchema): Paths {
  const leaves: [string, string][] = [];
  collect(schema, "", leaves);
  return Object.fromEntries(leaves.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Every incompatible change, sorted; empty when readers of the baseline can read the schema.
 * Additional paths are compatible.
 */
export function breaks(baseline: Baseline, now: Baseline): readonly string[] {
  const version =
    now.schema_version === baseline.schema_version
      ? []
      : [`schema_version: baseline ${baseline.schema_version}, now ${now.schema_version}`];
  const paths = Object.entries(baseline.paths).flatMap(([path, type]) => {
    const found = Object.hasOwn(now.paths, path) ? now.paths[path] : undefined;
    if (found === undefined) return [`${path}: REMOVED (was ${type})`];
    return found === type ? [] : [`${path}: changed from ${type} to ${found}`];
  });
  return [...version, ...paths].sort();
}

function collect(schema: JsonSchema, path: string, leaves: [string, string][]): void {
  const { properties, items, additionalProperties } = schema;
  const entries = Object.entries(properties ?? {});
  for (const [name, each] of entries) collect(each, path === "" ? name : `${path}.${name}`, leaves);
  if (items !== undefined) return collect(items, `${path}[]`, leaves);
  if (typeof additionalProperties === "object")
    return collect(additionalProperties, `${path}{}`, leaves);
  if (additionalProperties === true) leaves.push([`${path}{}`, "any"]);
  else if (entries.length === 0 && path !== "") leaves.push([path, typeText(schema.type)]);
}

function typeText(type: JsonSchema["type"]): string {
  if (type === undefined) return "any";
  return typeof type === "string" ? type : [...type].sort().join("|");
}
