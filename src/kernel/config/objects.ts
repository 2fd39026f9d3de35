/** Lists of objects, e.g. `dedup.archives`: each object has rows of its own. They are written in the file only. */
import type { Complaint } from "./findings.ts";
import { nearest } from "../base/nearest.ts";
import { describeRaw, type Raw } from "./raw.ts";
import type { Complain, KeyType } from "./types.ts";

/** One field of an object. Without a `default` it must be given. */
export interface Field<T> {
  readonly type: KeyType<T>;
  readonly default?: T;
  rule?(value: T): Complaint | undefined;
  readonly help: string;
}

/** The fields of an object, by name. */
export type Fields<T> = { readonly [K in keyof T]: Field<T[K]> };

/** What an object as a whole must satisfy; `field` is the one to point at. */
export type ObjectRule<T> = (object: T) => (Complaint & { readonly field: string & keyof T }) | undefined;

/** A list of objects with these fields, at most `limit` of them. */
export function listOfObjects<T extends object>(options: { readonly fields: Fields<T>; readonly rule?: ObjectRule<T>; readonly limit: number }): KeyType<readonly T[]> {
  const expects = `a list of objects with ${Object.keys(options.fields).join(", ")}`;
  return {
    expects, fileOnly: true,
    read(raw, complain) {
      if (raw.kind !== "list") return complain({ rule: `must be ${expects}, got ${describeRaw(raw)}`, remedy: "begin each object with \"- \"." }, raw.place);
      if (raw.items.length > options.limit) return complain({ rule: `must have at most ${options.limit} entries, got ${raw.items.length}` }, raw.place);
      const values = raw.items.map((item, index) =>
        readObject(item, options, (complaint, place, under = "") => complain(complaint, place, `[${index}]${under}`)));
      return values.every((value) => value !== undefined) ? values : undefined;
    },
    show: (values) => values.map((value) => showObject(value, options.fields)),
  };
}

function readObject<T extends object>(raw: Raw, options: { readonly fields: Fields<T>; readonly rule?: ObjectRule<T> }, complain: Complain): T | undefined {
  if (raw.kind !== "map") return complain({ rule: `must have the keys ${Object.keys(options.fields).join(", ")}, got ${describeRaw(raw)}` }, raw.place);
  const known = Object.keys(options.fields);
  let sound = true;
  for (const [name, entry] of raw.entries) {
    if (known.includes(name)) continue;
    sound = false;
    const meant = nearest(name, known);
    complain({ rule: "is not a known key", ...(meant === undefined ? { remedy: `known here: ${known.join(", ")}.` } : { nearest: meant }) }, entry.place, `.${name}`);
  }
  const object: Partial<T> = {};
  for (const name of known as (string & keyof T)[]) {
    const value = readField(name, options.fields[name], raw, complain);
    if (value === undefined) sound = false;
    else object[name] = value;
  }
  if (!sound) return undefined;
  const broken = options.rule?.(object as T);
  if (broken === undefined) return object as T;
  return complain(broken, raw.entries.get(broken.field)?.place ?? raw.place, `.${broken.field}`);
}

function readField<T>(name: string, field: Field<T>, raw: Raw & { kind: "map" }, complain: Complain): T | undefined {
  const given = raw.entries.get(name);
  if (given === undefined) {
    if (field.default === undefined) complain({ rule: `is missing, must be ${field.type.expects}` }, raw.place, `.${name}`);
    return field.default;
  }
  const value = field.type.read(given, (complaint, place, under = "") => complain(complaint, place, `.${name}${under}`));
  const broken = value === undefined ? undefined : field.rule?.(value);
  return broken === undefined ? value : complain(broken, given.place, `.${name}`);
}

// The effective configuration knows no nested values (RESOLUTIONS M9), so an object shows as one text.
function showObject<T extends object>(value: T, fields: Fields<T>): string {
  return (Object.keys(fields) as (string & keyof T)[])
    .map((name) => [name, fields[name].type.show(value[name])] as const)
    .filter(([, shown]) => !Array.isArray(shown) || shown.length > 0)
    .map(([name, shown]) => `${name}=${Array.isArray(shown) ? shown.join(",") : String(shown)}`).join(" ");
}
