/** Reads a change of settings with the types of the configuration keys. */
import { nearest } from "../base/text/nearest.ts";
import type { Key, Schema } from "../config/key.ts";
import type { Raw } from "../config/values/raw.ts";
import type { Complain, ReadContext, Shown } from "../config/values/types.ts";
import { invalidRequest, type Issues } from "../wire/issues.ts";

/** Settings never name files. */
const NOWHERE: ReadContext = { folder: ".", readFile: () => "" };

/** New values by path; undefined resets to the default. */
export interface Patch {
  readonly values: ReadonlyMap<
    string,
    { readonly key: Key<unknown>; readonly value: unknown } | undefined
  >;
  readonly ignored: readonly string[];
}

/**
 * Reads the whole patch; problems are added to `issues`. `fixed` lists keys that only the operator
 * may set.
 */
export function readPatch(
  scope: string,
  patch: Readonly<Record<string, unknown>>,
  schema: Schema,
  fixed: (key: Key<unknown>) => boolean,
  issues: Issues,
): Patch {
  const below = schema.filter((key) => key.path.startsWith(`${scope}.`));
  const values = new Map<
    string,
    { readonly key: Key<unknown>; readonly value: unknown } | undefined
  >();
  const ignored: string[] = [];
  for (const [name, given] of Object.entries(patch)) {
    // The patch is rejected with these; more would only take time.
    if (issues.full) break;
    const key = below.find((candidate) => candidate.path === `${scope}.${name}`);
    if (key === undefined)
      issues.add([name.slice(0, 100)], describeUnknown(name, below, scope), "unknown_field");
    else if (fixed(key)) ignored.push(name);
    else if (given === null) values.set(key.path, undefined);
    else {
      const value = readValue(key, given, (text, code) => issues.add([name], text, code));
      if (value !== undefined) values.set(key.path, { key, value });
    }
  }
  if (issues.found.length > 0) throw invalidRequest(issues.found);
  return { values, ignored: ignored.toSorted() };
}

/** Reads and validates a stored or sent value; undefined after `complain`. */
export function readValue(
  key: Key<unknown>,
  given: unknown,
  complain: (text: string, code: string) => void,
): unknown {
  const say: Complain = ({ rule, remedy }) => {
    complain(remedy === undefined ? rule : `${rule}; ${remedy}`, "invalid_value");
    return undefined;
  };
  const raw = toRaw(given);
  const value =
    raw === undefined
      ? say({ rule: `must be ${key.type.expects}` }, {})
      : key.type.read(raw, say, NOWHERE);
  const broken = value === undefined ? undefined : key.rule?.(value);
  return broken === undefined ? value : say(broken, {});
}

/** The form in which a value is stored. */
export function storedForm(key: Key<unknown>, value: unknown): Shown {
  return key.type.show(value);
}

function toRaw(given: unknown): Raw | undefined {
  // Like a variable: paths are relative to the working directory, as no file contains the setting.
  const location = { variable: "setting" };
  if (typeof given === "string" || typeof given === "boolean" || typeof given === "number")
    return { kind: "text", text: String(given), location };
  if (!Array.isArray(given)) return undefined;
  const items = given.map(toRaw);
  return items.every((item) => item !== undefined) ? { kind: "list", items, location } : undefined;
}

function describeUnknown(name: string, below: Schema, scope: string): string {
  const names = below.map((key) => key.path.slice(scope.length + 1));
  const meant = nearest(name, names);
  return `is not a known setting${meant === undefined ? "" : `, did you mean ${meant}?`}`;
}
