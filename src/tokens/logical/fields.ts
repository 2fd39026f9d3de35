/**
 * Decodes request data to typed fields by a message's descriptor: known fields, their kinds, and
 * unknown fields.
 */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { assert } from "../../kernel/base/errors.ts";
import { coerce, type Coerced, type Kind } from "./coerce.ts";
import { GoValueError } from "./go-values.ts";
import { logicalError, occurred } from "./occurred.ts";
import type { CoerceRule, Data, Fields, Path } from "./types.ts";

/** Kinds of a path's fields by name, in declaration order. */
export type FieldKinds = ReadonlyMap<string, Kind>;

/** Throws an assertion for a rule that does not fit. */
export function kindsOf(
  message: DescMessage,
  rules: Readonly<Record<string, CoerceRule>> = {},
): FieldKinds {
  for (const name of Object.keys(rules))
    assert(
      message.fields.some((field) => field.name === name),
      `${message.typeName} has the field ${name} that a rule names`,
    );
  return new Map(
    message.fields.map((field) => [field.name, kindOf(field, rules[field.name] ?? "plain")]),
  );
}

function kindOf(field: DescField, rule: CoerceRule): Kind {
  const where = `${field.parent.typeName}.${field.name}`;
  if (rule === "any" || field.fieldKind === "message") return "any";
  if (rule === "duration") return "duration";
  if (field.fieldKind === "map") {
    assert(
      field.mapKind === "scalar" && field.scalar === ScalarType.STRING,
      `${where} maps to texts`,
    );
    return "pairs";
  }
  assert(rule !== "pairs", `${where} is a map`);
  if (field.fieldKind === "list") {
    assert(field.listKind === "scalar", `${where} is a list of scalars`);
    if (field.scalar === ScalarType.STRING) return rule === "comma_list" ? "comma_texts" : "texts";
    assert(isInteger(field.scalar), `${where} is a list of texts or integers`);
    return rule === "comma_list" ? "comma_integers" : "integers";
  }
  assert(rule === "plain" && field.fieldKind === "scalar", `${where} is a scalar`);
  if (field.scalar === ScalarType.STRING) return "text";
  if (field.scalar === ScalarType.BOOL) return "boolean";
  assert(isInteger(field.scalar), `${where} is a text, an integer or a boolean`);
  return "integer";
}

const INTEGERS: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT32,
  ScalarType.INT64,
  ScalarType.UINT32,
  ScalarType.UINT64,
  ScalarType.SINT32,
  ScalarType.SINT64,
]);

function isInteger(scalar: ScalarType): boolean {
  return INTEGERS.has(scalar);
}

export interface Taken {
  readonly fields: Fields;
  readonly warnings: readonly string[];
}

export interface Taking {
  readonly kinds: FieldKinds;
  readonly data: Data;
  readonly fromPath: ReadonlyMap<string, string>;
  readonly unknown: Path["unknown"];
  /** Prefix of coercion error texts. */
  readonly prefix: string;
}

/**
 * Coerces declared fields; rejects, reports or ignores others. Path fields win. Throws `invalid`
 * with Vault's texts.
 */
export function takeFields(taking: Taking): Taken {
  const { kinds, data, fromPath } = taking;
  const values = new Map<string, unknown>();
  const strange: string[] = [];
  const replaced: string[] = [];
  for (const name of Object.keys(data)) {
    const kind = kinds.get(name);
    if (kind === undefined) strange.push(name);
    else if (fromPath.has(name)) replaced.push(name);
    else
      values.set(
        name,
        kind === "any" ? data[name] : coerceField(name, data[name], kind, taking.prefix),
      );
  }
  if (strange.length > 0 && taking.unknown === "refuse") throw unknownFields(strange);
  for (const [name, value] of fromPath) values.set(name, value);
  const warnings = [
    ...(strange.length > 0 && taking.unknown === "warn"
      ? [`Endpoint ignored these unrecognized parameters: [${shown(strange).join(" ")}]`]
      : []),
    ...(replaced.length > 0
      ? [
          `Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [${replaced.toSorted().join(" ")}]`,
        ]
      : []),
  ];
  return { fields: fieldsOf(kinds, values), warnings };
}

/** Fields from typed values, for tests and internal requests. */
function fieldsOf(kinds: FieldKinds, values: ReadonlyMap<string, unknown>): Fields {
  function read(name: string, wanted: readonly Kind[]): unknown {
    const kind = kinds.get(name);
    assert(
      kind !== undefined && wanted.includes(kind),
      `the field ${name} is declared as ${wanted.join(" or ")}`,
    );
    return values.get(name);
  }
  return {
    has: (name) => values.has(name),
    text: (name) => read(name, ["text"]) as string | undefined,
    integer: (name) => read(name, ["integer"]) as number | undefined,
    boolean: (name) => read(name, ["boolean"]) as boolean | undefined,
    durationMs: (name) => read(name, ["duration"]) as number | undefined,
    texts: (name) => read(name, ["texts", "comma_texts"]) as readonly string[] | undefined,
    integers: (name) => read(name, ["integers", "comma_integers"]) as readonly number[] | undefined,
    pairs: (name) => read(name, ["pairs"]) as ReadonlyMap<string, string> | undefined,
    raw: (name) => read(name, ["any"]),
  };
}

function coerceField(
  name: string,
  value: unknown,
  kind: Exclude<Kind, "any">,
  prefix: string,
): Coerced {
  try {
    return coerce(value, kind);
  } catch (error) {
    if (!(error instanceof GoValueError)) throw error;
    throw logicalError(
      `${prefix}error converting input for field ${JSON.stringify(name)}: ${error.message}`,
      { field: name, rule: "type" },
    );
  }
}

function unknownFields(names: readonly string[]): Error {
  const list = shown(names);
  return logicalError(
    occurred(`unknown field${names.length === 1 ? "" : "s"}: ${list.join(", ")}`),
    { rule: "unknown_field", remedy: "ask for help on the path to see its fields" },
  );
}

/** Names listed in a message, and the length shown of each. */
const MAX_SHOWN = 20;
const MAX_SHOWN_LENGTH = 64;

function shown(names: readonly string[]): readonly string[] {
  const first = smallest(names, MAX_SHOWN).map((name) =>
    name.length > MAX_SHOWN_LENGTH ? `${name.slice(0, MAX_SHOWN_LENGTH)}…` : name,
  );
  return names.length > MAX_SHOWN ? [...first, `… (${names.length - MAX_SHOWN} more)`] : first;
}

/** The first names in order, without sorting all. */
function smallest(names: readonly string[], most: number): readonly string[] {
  const first: string[] = [];
  for (const name of names) {
    const last = first.at(-1);
    if (first.length === most && last !== undefined && name >= last) continue;
    const at = first.findIndex((other) => name < other);
    first.splice(at === -1 ? first.length : at, 0, name);
    if (first.length > most) first.pop();
  }
  return first;
}
