/** Fields of an object in the configuration file: declaring, reading and showing them. */
import { Secret } from "../../base/secret.ts";
import { nearest } from "../../base/text/nearest.ts";
import type { Complaint } from "../findings.ts";
import { optionalValue, secretFileProperty, type JsonSchema } from "./json-schema.ts";
import { describeKind, isBlank, type Raw } from "./raw.ts";
import { chooseSecret, FILE_ENDING } from "./secret-file.ts";
import { writeSecret, writeValue } from "./written.ts";
import {
  type WrittenGroup,
  secretSource,
  type Complain,
  type FieldRow,
  type KeyType,
  type ReadContext,
  type ShownPart,
} from "./types.ts";

/** Required unless it has a `default`, is optional or is an object itself. */
export interface Field<T> {
  readonly type: KeyType<Exclude<T, undefined>>;
  readonly default?: T;
  /** May be omitted and is then undefined. */
  readonly optional?: true;
  /** Its value is a `Secret`, is never shown, and may be read from the file `<name>_file`. */
  readonly secret?: true;
  /** Its name in the file, if not `writtenName`. */
  readonly as?: string;
  rule?(value: Exclude<T, undefined>): Complaint | undefined;
  readonly help: string;
}

export type Fields<T> = { readonly [K in keyof T]-?: Field<T[K]> };

/** A rule for the object as a whole; `field` is the one to report. */
type ObjectRule<T> = (object: T) => (Complaint & { readonly field: string & keyof T }) | undefined;

export interface ObjectShape<T> {
  readonly fields: Fields<T>;
  readonly rule?: ObjectRule<T>;
}

/**
 * The name in the file: `maxObjects` is `max_objects`, `timeoutMs` is `timeout`, since values are
 * written with their unit.
 */
export function writtenName(name: string, field: { readonly as?: string }): string {
  return (
    field.as ??
    name
      .replace(/Ms$/, "")
      .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
      .toLowerCase()
  );
}

export function writtenNames<T extends object>(fields: Fields<T>): string[] {
  return namesOf(fields).map((name) => writtenName(name, fields[name]));
}

/** Undefined after a complaint. */
export function readObject<T extends object>(
  raw: Raw,
  { fields, rule }: ObjectShape<T>,
  complain: Complain,
  context: ReadContext,
): T | undefined {
  if (raw.kind !== "map")
    return complain(
      { rule: `must have the keys ${writtenNames(fields).join(", ")}, got ${describeKind(raw)}` },
      raw.location,
    );
  const names = namesOf(fields);
  let sound = refuseUnknown(
    raw,
    names.flatMap((name) => written(name, fields[name])),
    complain,
  );
  const object: Partial<T> = {};
  for (const name of names) {
    const read = readField(writtenName(name, fields[name]), fields[name], raw, complain, context);
    if (read === undefined) sound = false;
    else object[name] = read.value;
  }
  if (!sound) return undefined;
  const broken = rule?.(object as T);
  if (broken === undefined) return object as T;
  const at = writtenName(broken.field, fields[broken.field]);
  return complain(broken, raw.entries.get(at)?.location ?? raw.location, `.${at}`);
}

/** The rows of an object in the effective configuration. */
export function objectParts<T extends object>(
  object: T,
  fields: Fields<T>,
  under: string,
): ShownPart[] {
  return namesOf(fields).flatMap((name): ShownPart[] => {
    const { type, secret } = fields[name];
    const value = object[name];
    const at = `${under}.${writtenName(name, fields[name])}`;
    if (secret === true)
      return [{ under: at, secret: secretSource(value instanceof Secret ? value : undefined) }];
    if (value === undefined) return [{ under: at }];
    const parts = type.parts?.(value as Exclude<T[typeof name], undefined>);
    if (parts !== undefined && parts.length > 0)
      return parts.map((part) => ({ ...part, under: `${at}${part.under}` }));
    return type.isMap === true
      ? [{ under: at }]
      : [{ under: at, value: type.show(value as Exclude<T[typeof name], undefined>) }];
  });
}

/** An object for the configuration file, without unset fields. */
export function writeObject<T extends object>(object: T, fields: Fields<T>): WrittenGroup {
  return {
    entries: namesOf(fields).flatMap((name) => {
      const { type, secret } = fields[name];
      const value = object[name];
      const at = writtenName(name, fields[name]);
      if (secret === true) return writeSecret(at, value);
      return value === undefined
        ? []
        : [{ name: at, value: writeValue(type, value as Exclude<T[typeof name], undefined>) }];
    }),
  };
}

/** The fields for the reference page; nested ones by their full names. */
export function fieldRows<T extends object>(fields: Fields<T>): FieldRow[] {
  return namesOf(fields).flatMap((name): FieldRow[] => {
    const field = fields[name];
    const { type, help, secret, optional } = field;
    const at = writtenName(name, field);
    if (type.fields !== undefined)
      return type.fields.map((inner) => ({
        ...inner,
        name: `${at}${type.isGroup === true ? "" : "[]"}.${inner.name}`,
      }));
    const shown =
      field.default === undefined
        ? undefined
        : type.show(field.default as Exclude<T[typeof name], undefined>);
    return [
      {
        name: at,
        expects: type.expects,
        default: shown,
        required: field.default === undefined && optional !== true,
        secret: secret === true,
        ...(type.isMapOfSecrets === true ? { isMapOfSecrets: true } : {}),
        help,
      },
    ];
  });
}

/** An object as a file holds it; a secret that is needed may be in the file `<name>_file`. */
export function objectSchema<T extends object>(fields: Fields<T>): JsonSchema {
  const names = namesOf(fields);
  const needed = names.filter((name) => {
    const { default: usual, optional, type } = fields[name];
    return usual === undefined && optional !== true && type.isGroup !== true;
  });
  return {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(names.flatMap((name) => propertiesOf(name, fields[name]))),
    ...(needed.length === 0
      ? {}
      : {
          allOf: needed.map((name) => ({
            anyOf: written(name, fields[name]).map((at) => ({ required: [at] })),
          })),
        }),
  };
}

function propertiesOf<T>(name: string, field: Field<T>): [string, JsonSchema][] {
  const { type, help } = field;
  const usual =
    field.default === undefined || field.secret === true || type.fields !== undefined
      ? undefined
      : type.show(field.default as Exclude<T, undefined>);
  const [at = "", file] = written(name, field);
  return [
    [at, optionalValue(type.accepts, { help, default: usual })],
    ...(file === undefined ? [] : [secretFileProperty(file, help)]),
  ];
}

function namesOf<T extends object>(fields: Fields<T>): (string & keyof T)[] {
  return Object.keys(fields) as (string & keyof T)[];
}

function written<T>(name: string, field: Field<T>): string[] {
  const at = writtenName(name, field);
  return field.secret === true ? [at, `${at}${FILE_ENDING}`] : [at];
}

function refuseUnknown(
  raw: Raw & { kind: "map" },
  known: readonly string[],
  complain: Complain,
): boolean {
  let sound = true;
  for (const [name, entry] of raw.entries) {
    if (known.includes(name)) continue;
    sound = false;
    const meant = nearest(name, known);
    complain(
      {
        rule: "is not a known key",
        ...(meant === undefined
          ? { remedy: `known here: ${known.join(", ")}.` }
          : { nearest: meant }),
      },
      entry.location,
      `.${name}`,
    );
  }
  return sound;
}

/** Undefined after a complaint. */
function readField<T>(
  name: string,
  field: Field<T>,
  raw: Raw & { kind: "map" },
  complain: Complain,
  context: ReadContext,
): { readonly value: T } | undefined {
  const under: Complain = (complaint, location, more = "") =>
    complain(complaint, location, `.${name}${more}`);
  const given = (written: string, holds: KeyType<unknown>["holds"]): Raw | undefined => {
    const entry = raw.entries.get(written);
    return entry === undefined || isBlank(entry, holds) ? undefined : entry;
  };
  const file = field.secret === true ? given(`${name}${FILE_ENDING}`, undefined) : undefined;
  const direct =
    given(name, field.type.holds) ??
    (field.type.isGroup === true ? emptyGroup(raw.entries.get(name) ?? raw) : undefined);
  if (direct === undefined && file === undefined) {
    if (field.default !== undefined || field.optional === true)
      return { value: field.default as T };
    return under({ rule: `is missing, must be ${field.type.expects}` }, raw.location);
  }
  const chosen = chooseSecret(direct, file, under, context);
  const value = chosen === undefined ? undefined : field.type.read(chosen, under, context);
  if (chosen === undefined || value === undefined) return undefined;
  const broken = field.rule?.(value);
  return broken === undefined ? { value } : under(broken, chosen.location);
}

function emptyGroup({ location }: Raw): Raw {
  return { kind: "map", entries: new Map(), location };
}
