/** Lists of objects, e.g. `dedup.archives`: each object has rows of its own. They are written in the file only. */
import { Secret } from "../base/secret.ts";
import type { Complaint } from "./findings.ts";
import { nearest } from "../base/nearest.ts";
import { describeRaw, type Raw } from "./raw.ts";
import { chooseSecret, FILE_ENDING } from "./secret-file.ts";
import { secretSource, type Complain, type FieldRow, type KeyType, type ReadContext, type ShownPart } from "./types.ts";

/** One field of an object. Without a `default` it must be given, unless it is optional. */
export interface Field<T> {
  readonly type: KeyType<Exclude<T, undefined>>;
  readonly default?: T;
  /** May be left out and is then undefined. */
  readonly optional?: true;
  /** Its value is a `Secret`, is never shown, and may lie in the file that `<name>_file` names. */
  readonly secret?: true;
  rule?(value: Exclude<T, undefined>): Complaint | undefined;
  readonly help: string;
}

/** The fields of an object, by name. */
export type Fields<T> = { readonly [K in keyof T]-?: Field<T[K]> };

/** What an object as a whole must satisfy; `field` is the one to point at. */
export type ObjectRule<T> = (object: T) => (Complaint & { readonly field: string & keyof T }) | undefined;

interface Options<T> {
  readonly fields: Fields<T>;
  readonly rule?: ObjectRule<T>;
  readonly limit: number;
}

/** A list of objects with these fields, at most `limit` of them. */
export function listOfObjects<T extends object>(options: Options<T>): KeyType<readonly T[]> {
  const expects = `a list of objects with ${Object.keys(options.fields).join(", ")}`;
  return {
    expects, fileOnly: true, fields: fieldRows(options.fields),
    read(raw, complain, context) {
      if (raw.kind !== "list") return complain({ rule: `must be ${expects}, got ${describeRaw(raw)}`, remedy: "begin each object with \"- \"." }, raw.place);
      if (raw.items.length > options.limit) return complain({ rule: `must have at most ${options.limit} entries, got ${raw.items.length}` }, raw.place);
      const values = raw.items.map((item, index) =>
        readObject(item, options, (complaint, place, under = "") => complain(complaint, place, `[${index}]${under}`), context));
      return values.every((value) => value !== undefined) ? values : undefined;
    },
    show: (values) => values.map((_, index) => String(index)),
    parts: (values) => values.flatMap((value, index) => objectParts(value, options.fields, `.${index}`)),
  };
}

function readObject<T extends object>(raw: Raw, options: Options<T>, complain: Complain, context: ReadContext): T | undefined {
  if (raw.kind !== "map") return complain({ rule: `must have the keys ${Object.keys(options.fields).join(", ")}, got ${describeRaw(raw)}` }, raw.place);
  const names = Object.keys(options.fields) as (string & keyof T)[];
  let sound = refuseUnknown(raw, names.flatMap((name) => (options.fields[name].secret === true ? [name, `${name}${FILE_ENDING}`] : [name])), complain);
  const object: Partial<T> = {};
  for (const name of names) {
    const read = readField(name, options.fields[name], raw, complain, context);
    if (read === undefined) sound = false;
    else object[name] = read.value;
  }
  if (!sound) return undefined;
  const broken = options.rule?.(object as T);
  if (broken === undefined) return object as T;
  return complain(broken, raw.entries.get(broken.field)?.place ?? raw.place, `.${broken.field}`);
}

function refuseUnknown(raw: Raw & { kind: "map" }, known: readonly string[], complain: Complain): boolean {
  let sound = true;
  for (const [name, entry] of raw.entries) {
    if (known.includes(name)) continue;
    sound = false;
    const meant = nearest(name, known);
    complain({ rule: "is not a known key", ...(meant === undefined ? { remedy: `known here: ${known.join(", ")}.` } : { nearest: meant }) }, entry.place, `.${name}`);
  }
  return sound;
}

/** The value of a field; undefined after a complaint. */
function readField<T>(name: string, field: Field<T>, raw: Raw & { kind: "map" }, complain: Complain, context: ReadContext): { readonly value: T } | undefined {
  const under: Complain = (complaint, place, more = "") => complain(complaint, place, `.${name}${more}`);
  const file = field.secret === true ? raw.entries.get(`${name}${FILE_ENDING}`) : undefined;
  const direct = raw.entries.get(name);
  if (direct === undefined && file === undefined) {
    if (field.default !== undefined || field.optional === true) return { value: field.default as T };
    return under({ rule: `is missing, must be ${field.type.expects}` }, raw.place);
  }
  const given = chooseSecret(direct, file, under, context);
  const value = given === undefined ? undefined : field.type.read(given, under, context);
  if (given === undefined || value === undefined) return undefined;
  const broken = field.rule?.(value);
  return broken === undefined ? { value } : under(broken, given.place);
}

function objectParts<T extends object>(object: T, fields: Fields<T>, under: string): ShownPart[] {
  return (Object.keys(fields) as (string & keyof T)[]).flatMap((name): ShownPart[] => {
    const { type, secret } = fields[name];
    const value = object[name];
    const at = `${under}.${name}`;
    if (secret === true) return [{ under: at, secret: secretSource(value instanceof Secret ? value : undefined) }];
    if (value === undefined) return [{ under: at }];
    const parts = type.parts?.(value as Exclude<T[typeof name], undefined>);
    if (parts !== undefined && parts.length > 0) return parts.map((part) => ({ ...part, under: `${at}${part.under}` }));
    return type.isMap === true ? [{ under: at }] : [{ under: at, value: type.show(value as Exclude<T[typeof name], undefined>) }];
  });
}

function fieldRows<T extends object>(fields: Fields<T>): FieldRow[] {
  return (Object.keys(fields) as (string & keyof T)[]).map((name) => {
    const { type, help, secret, optional, ...field } = fields[name];
    const shown = field.default === undefined ? undefined : type.show(field.default as Exclude<T[typeof name], undefined>);
    return { name, expects: type.expects, default: shown, required: field.default === undefined && optional !== true, secret: secret === true, help };
  });
}
