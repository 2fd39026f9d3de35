/**
 * The REST style of files, fields and enums as declared by their options, read once per descriptor.
 * A field has the style of the file that declares its message: a message looks the same wherever it
 * is nested.
 */
import {
  create,
  getOption,
  type DescEnum,
  type DescEnumValue,
  type DescField,
  type DescFile,
  type DescMessage,
} from "@bufbuild/protobuf";
import {
  FieldStyleSchema,
  Case,
  Dialect,
  Unset,
  field as fieldOption,
  json_value as jsonValueOption,
  schema_version as schemaVersionOption,
  style as styleOption,
} from "../../gen/steward/options/v1/options_pb.ts";
import type { FieldStyle } from "../../gen/steward/options/v1/options_pb.ts";
import { assert } from "../base/errors.ts";

/** The REST surfaces, by the names that errors and routes use. */
export type DialectName = "monitor" | "dedup" | "vault";

/** The complete conventions of one file. */
export interface JsonStyle {
  readonly camel: boolean;
  /** The JSON of an unset optional field or message. */
  readonly unset: "omit" | "null";
  readonly dialect: DialectName;
}

/**
 * The texts of an enum. `unset` is the number of the `…_UNSPECIFIED` value, which counts as absent.
 */
export interface EnumTexts {
  readonly texts: ReadonlyMap<number, string>;
  readonly numbers: ReadonlyMap<string, number>;
  readonly unset: number | undefined;
}

const styles = new WeakMap<DescFile, JsonStyle>();
const fieldStyles = new WeakMap<DescField, FieldStyle>();
const names = new WeakMap<DescField, string>();
const enums = new WeakMap<DescEnum, EnumTexts>();

const dialects: Readonly<Record<Dialect, DialectName | undefined>> = {
  [Dialect.UNSPECIFIED]: undefined,
  [Dialect.MONITOR]: "monitor",
  [Dialect.DEDUP]: "dedup",
  [Dialect.VAULT]: "vault",
};

/** Throws when the file declares no style or an incomplete one. */
export function styleOf(file: DescFile): JsonStyle {
  return remember(styles, file, () => {
    const declared = file.proto.options === undefined ? undefined : getOption(file, styleOption);
    const dialect = declared === undefined ? undefined : dialects[declared.dialect];
    const whole =
      declared !== undefined &&
      dialect !== undefined &&
      declared.case !== Case.UNSPECIFIED &&
      declared.unset !== Unset.UNSPECIFIED;
    assert(
      whole,
      `${file.name}.proto declares no REST style; set case, unset and dialect in option (steward.options.v1.style)`,
    );
    return {
      camel: declared.case === Case.CAMEL,
      unset: declared.unset === Unset.NULL ? "null" : "omit",
      dialect,
    };
  });
}

/** The exceptions declared by a field; all false and empty by default. */
export function fieldStyleOf(field: DescField): FieldStyle {
  return remember(fieldStyles, field, () =>
    field.proto.options === undefined ? create(FieldStyleSchema) : getOption(field, fieldOption),
  );
}

/** The name a field is written with. */
export function jsonName(field: DescField): string {
  return remember(names, field, () => {
    const given = fieldStyleOf(field).jsonName;
    if (given !== "") return given;
    return styleOf(field.parent.file).camel ? field.jsonName : field.name;
  });
}

/** The names a field is read with: as written, as declared, and lowerCamel. */
export function acceptedNames(field: DescField): readonly string[] {
  return [...new Set([jsonName(field), field.name, field.jsonName])];
}

/** Throws when two values share a text. */
export function enumTexts(desc: DescEnum): EnumTexts {
  return remember(enums, desc, () => {
    const zero = desc.values.find(
      (value) =>
        value.number === 0 && value.name.endsWith("_UNSPECIFIED") && givenText(value) === "",
    );
    const known = desc.values.filter((value) => value !== zero);
    const numbers = new Map(
      known.map((value) => [givenText(value) || defaultText(value), value.number]),
    );
    assert(numbers.size === known.length, `two values of ${desc.typeName} have the same JSON text`);
    return {
      texts: new Map([...numbers].map(([text, number]) => [number, text])),
      numbers,
      unset: zero?.number,
    };
  });
}

/** The version of a document's schema: its `schema_version`. */
export function schemaVersion(desc: DescMessage): number {
  const declared = desc.proto.options === undefined ? 0 : getOption(desc, schemaVersionOption);
  return declared === 0 ? 1 : declared;
}

/** Whether a message type has a native JSON form. */
export function isWellKnown(typeName: string): boolean {
  return [
    "google.protobuf.Timestamp",
    "google.protobuf.Struct",
    "google.protobuf.Value",
    "google.protobuf.ListValue",
  ].includes(typeName);
}

function givenText(value: DescEnumValue): string {
  return value.proto.options === undefined ? "" : getOption(value, jsonValueOption);
}

function defaultText(value: DescEnumValue): string {
  return value.name.slice(value.parent.sharedPrefix?.length ?? 0).toLowerCase();
}

function remember<K extends WeakKey, V>(known: WeakMap<K, V>, key: K, make: () => V): V {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  known.set(key, made);
  return made;
}
