/**
 * Writes messages as REST JSON by the options in their descriptors. Each message type is compiled
 * once into a list of closures; writing then costs one call per field. A value that JSON cannot
 * represent exactly fails an assertion.
 */
import {
  ScalarType,
  toJson,
  type DescField,
  type DescMessage,
  type JsonObject,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  ListValueSchema,
  ValueSchema,
  type ListValue,
  type Timestamp,
  type Value,
} from "@bufbuild/protobuf/wkt";
import { assert } from "../base/errors.ts";
import {
  enumTexts,
  fieldStyleOf,
  isWellKnown,
  jsonName,
  styleOf,
  type DialectName,
} from "./style.ts";
import { formatTime, ZERO_TIME, type TimePrecision } from "./time.ts";

type Fields = Readonly<Record<string, unknown>>;
type Put = (message: Fields, out: Record<string, unknown>) => void;
type Form = (value: unknown) => unknown;
interface Plan {
  readonly puts: Put[];
  readonly byField: Map<DescField, Put>;
}

const plans = new WeakMap<DescMessage, Plan>();

export interface WriteOptions {
  /** Spaces per level; 0, the default, writes one line. */
  readonly indent?: number;
}

/** Fails an assertion for what its style forbids: unsafe integers, NaN, unknown enum values. */
export function writeMessage<D extends DescMessage>(
  schema: D,
  message: MessageShape<D>,
  options: WriteOptions = {},
): string {
  return JSON.stringify(plainMessage(schema, message), null, options.indent ?? 0);
}

/** A message as the value whose JSON text `writeMessage` returns. */
export function plainMessage<D extends DescMessage>(
  schema: D,
  message: MessageShape<D>,
): JsonObject {
  return writePlan(planOf(schema), message) as JsonObject;
}

/**
 * One field of a message as it would be written: an object with its key and value, empty when it is
 * omitted. For callers that write a large message in parts.
 */
export function plainField(field: DescField, message: Message): JsonObject {
  const out: Record<string, unknown> = {};
  planOf(field.parent).byField.get(field)?.(message, out);
  return out as JsonObject;
}

/** Whether a field is ever written, unlike a secret one. */
export function isWritten(field: DescField): boolean {
  return planOf(field.parent).byField.has(field);
}

/**
 * Compiles the plan of a message type and all nested types, so that a wrong declaration fails the
 * start.
 */
export function prepareWriter(schema: DescMessage): void {
  planOf(schema);
}

function writePlan(plan: Plan, message: Fields): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const put of plan.puts) put(message, out);
  return out;
}

function planOf(desc: DescMessage): Plan {
  const known = plans.get(desc);
  if (known !== undefined) return known;
  // Registered before it is filled: a message may contain itself.
  const plan: Plan = { puts: [], byField: new Map() };
  plans.set(desc, plan);
  try {
    const names = new Set<string>();
    for (const field of desc.fields) {
      if (fieldStyleOf(field).secret) continue;
      const name = jsonName(field);
      assert(
        !names.has(name) && name !== "__proto__" && !/^\d+$/.test(name),
        `${desc.typeName} cannot write a field as ${JSON.stringify(name)}: the name is taken or would lose its place`,
      );
      names.add(name);
      const put = putOf(field, name);
      plan.puts.push(put);
      plan.byField.set(field, put);
    }
  } catch (error) {
    plans.delete(desc);
    throw error;
  }
  return plan;
}

function putOf(field: DescField, name: string): Put {
  const mayOmit = omissionOf(field);
  const form = formOf(field);
  const read = readerOf(field);
  const unsetEnum = field.fieldKind === "enum" ? enumTexts(field.enum).unset : undefined;
  const absent = absentOf(field);
  return (message, out) => {
    const value = read(message);
    if (value === undefined || (unsetEnum !== undefined && value === unsetEnum)) {
      if (absent !== undefined) out[name] = absent;
    } else if (mayOmit === undefined || !mayOmit(message) || !isEmpty(value)) {
      out[name] = form(value);
    }
  };
}

/** Whether the field is omitted when empty; undefined when it never is. */
function omissionOf(field: DescField): ((message: Fields) => boolean) | undefined {
  const { omitEmpty, omitUnless } = fieldStyleOf(field);
  if (omitUnless === "") return omitEmpty ? () => true : undefined;
  const judge = field.parent.fields.find((beside) => beside.name === omitUnless);
  assert(
    judge?.scalar === ScalarType.BOOL && judge.fieldKind === "scalar",
    `${describe(field)} is left out unless ${omitUnless}, which is no boolean field beside it`,
  );
  const { localName } = judge;
  return (message) => message[localName] !== true;
}

/** The JSON of an unset field; undefined omits the key. */
function absentOf(field: DescField): string | null | undefined {
  const style = fieldStyleOf(field);
  if (style.omitEmpty) return undefined;
  if (style.zeroTime) return ZERO_TIME;
  return style.nullable || styleOf(field.parent.file).unset === "null" ? null : undefined;
}

function readerOf(field: DescField): (message: Fields) => unknown {
  const { localName, oneof } = field;
  if (oneof === undefined) return (message) => message[localName];
  return (message) => {
    const member = message[oneof.localName] as { case?: string; value?: unknown };
    return member.case === localName ? member.value : undefined;
  };
}

function isEmpty(value: unknown): boolean {
  if (value === "" || value === 0 || value === 0n || value === false) return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  return (
    typeof value === "object" &&
    value !== null &&
    !("$typeName" in value) &&
    Object.keys(value).length === 0
  );
}

function formOf(field: DescField): Form {
  switch (field.fieldKind) {
    case "list":
      return listForm(elementForm(field));
    case "map":
      return mapForm(elementForm(field));
    default:
      return elementForm(field);
  }
}

/** The form of one value: of the field itself, or of each element of a list or map. */
function elementForm(field: DescField): Form {
  if (field.message !== undefined) return messageForm(field, field.message);
  if (field.enum !== undefined) return enumForm(field, enumTexts(field.enum).texts);
  switch (field.scalar) {
    case ScalarType.STRING:
    case ScalarType.BOOL:
      return (value) => value;
    case ScalarType.BYTES:
      assert(
        styleOf(field.parent.file).dialect === "vault",
        `${describe(field)}: bytes have no place in this JSON`,
      );
      return (value) => Buffer.from(value as Uint8Array).toString("base64");
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return (value) => {
        assert(
          Number.isFinite(value),
          `${describe(field)} is ${String(value)}, which JSON cannot hold`,
        );
        return value;
      };
    default:
      return integerForm(field);
  }
}

function integerForm(field: DescField): Form {
  return (value) => {
    const number = Number(value);
    assert(
      Number.isSafeInteger(number),
      `${describe(field)} is ${String(value)}, which a JSON number cannot hold exactly`,
    );
    return number;
  };
}

function enumForm(field: DescField, texts: ReadonlyMap<number, string>): Form {
  return (value) => {
    const text = texts.get(value as number);
    assert(
      text !== undefined,
      `${describe(field)} holds the enum value ${String(value)}, which has no JSON text`,
    );
    return text;
  };
}

const precisions: Readonly<Record<DialectName, TimePrecision>> = {
  monitor: "seconds",
  dedup: "milliseconds",
  vault: "nanoseconds",
};

function messageForm(field: DescField, desc: DescMessage): Form {
  if (!isWellKnown(desc.typeName)) {
    const plan = planOf(desc);
    return (value) => writePlan(plan, value as Fields);
  }
  if (desc.typeName === "google.protobuf.Timestamp") {
    const precision = fieldStyleOf(field).precise
      ? "nanoseconds"
      : precisions[styleOf(field.parent.file).dialect];
    return (value) => formatTime(value as Timestamp, precision);
  }
  if (desc.typeName === "google.protobuf.Value")
    return (value) =>
      (value as Value).kind.case === undefined ? null : toJson(ValueSchema, value as Value);
  if (desc.typeName === "google.protobuf.ListValue")
    return (value) => toJson(ListValueSchema, value as ListValue);
  return (value) => {
    assertFinite(field, value);
    return value;
  };
}

/** A Struct is a plain object; its numbers are checked like all others. */
function assertFinite(field: DescField, value: unknown): void {
  if (typeof value === "number")
    assert(Number.isFinite(value), `${describe(field)} holds ${value}, which JSON cannot hold`);
  else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) assertFinite(field, inner);
}

function listForm(form: Form): Form {
  return (value) => (value as readonly unknown[]).map(form);
}

function mapForm(form: Form): Form {
  return (value) => {
    // Without a prototype every key is an ordinary one.
    const out = Object.create(null) as Record<string, unknown>;
    for (const [key, inner] of Object.entries(value as Fields)) out[key] = form(inner);
    return out;
  };
}

function describe(field: DescField): string {
  return `${field.parent.typeName}.${field.name}`;
}
