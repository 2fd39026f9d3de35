/**
 * JSON Schema of messages as REST writes and reads them: draft-07 standalone, and within OpenAPI
 * 3.1. Derived from the same descriptors and options as the writer, so that they cannot diverge.
 */
import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import {
  enumTexts,
  fieldStyleOf,
  isWellKnown,
  jsonName,
  styleOf,
} from "../../src/kernel/wire/style.ts";
import { isRequired, rulesOf } from "./rules.ts";

/** Without `type` it accepts anything. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly enum?: readonly (string | null)[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly [rule: string]: unknown;
}

export interface SchemaOptions {
  /** Messages of responses, or of requests. */
  readonly side: "answer" | "request";
  /** The comment of a declaration by its full name; undefined without one. */
  readonly comment: (name: string) => string | undefined;
  /**
   * A reference for a nested message; without it messages are nested in full, and a recursive one
   * once.
   */
  readonly reference?: (message: DescMessage) => string;
}

/**
 * The schema of a message. In a response nothing is `required`: which fields may be absent differs
 * by surface and never breaks a reader.
 */
export function messageSchema(
  message: DescMessage,
  options: SchemaOptions,
  within: readonly DescMessage[] = [],
): JsonSchema {
  const inside = [...within, message];
  const required = message.fields.filter(isRequired).map(jsonName);
  const fields = message.fields.filter(
    (field) => options.side === "request" || !fieldStyleOf(field).secret,
  );
  return {
    type: "object",
    ...described(message.typeName, options),
    properties: Object.fromEntries(
      fields.map((field) => [jsonName(field), fieldSchema(field, options, inside)]),
    ),
    ...(options.side === "request"
      ? { additionalProperties: false, ...(required.length === 0 ? {} : { required }) }
      : {}),
  };
}

/** The schema of a field with its rules; `within` are the messages that contain it. */
export function fieldSchema(
  field: DescField,
  options: SchemaOptions,
  within: readonly DescMessage[] = [],
): JsonSchema {
  const rules = options.side === "request" ? rulesOf(field) : {};
  const whole = { ...described(`${field.parent.typeName}.${field.name}`, options), ...rules };
  switch (field.fieldKind) {
    case "list":
      return { type: "array", items: valueSchema(field, options, within), ...whole };
    case "map":
      return {
        type: "object",
        additionalProperties: valueSchema(field, options, within),
        ...whole,
      };
    default: {
      const schema = { ...valueSchema(field, options, within), ...whole };
      return options.side === "answer" && mayBeNull(field) ? nullable(schema) : schema;
    }
  }
}

function described(name: string, { comment }: SchemaOptions): { description?: string } {
  const text = comment(name);
  return text === undefined ? {} : { description: text };
}

/** Whether the writer emits `null` for an unset field: see `absentOf` in wire/write.ts. */
function mayBeNull(field: DescField): boolean {
  const style = fieldStyleOf(field);
  if (style.omitEmpty || style.zeroTime) return false;
  if (!style.nullable && styleOf(field.parent.file).unset !== "null") return false;
  const unsetEnum = field.fieldKind === "enum" && enumTexts(field.enum).unset !== undefined;
  return (
    unsetEnum ||
    field.oneof !== undefined ||
    field.fieldKind === "message" ||
    field.proto.proto3Optional
  );
}

function nullable(schema: JsonSchema): JsonSchema {
  if (schema.$ref !== undefined) {
    const { $ref, ...rest } = schema;
    return { ...rest, anyOf: [{ $ref }, { type: "null" }] };
  }
  if (typeof schema.type !== "string") return schema;
  return {
    ...schema,
    type: [schema.type, "null"],
    ...(schema.enum === undefined ? {} : { enum: [...schema.enum, null] }),
  };
}

/** The schema of one value: of the field itself, or of each element of a list or map. */
function valueSchema(
  field: DescField,
  options: SchemaOptions,
  within: readonly DescMessage[],
): JsonSchema {
  if (field.enum !== undefined)
    return { type: "string", enum: [...enumTexts(field.enum).numbers.keys()] };
  if (field.scalar !== undefined) return scalarSchema(field.scalar);
  const { message } = field;
  if (message === undefined) return {};
  if (isWellKnown(message.typeName)) return wellKnown(message.typeName);
  if (options.reference !== undefined) return { $ref: options.reference(message) };
  return within.includes(message) ? { type: "object" } : messageSchema(message, options, within);
}

function scalarSchema(type: ScalarType): JsonSchema {
  switch (type) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.FIXED32:
    case ScalarType.FIXED64:
      return { type: "integer", minimum: 0 };
    default:
      return { type: "integer" };
  }
}

function wellKnown(typeName: string): JsonSchema {
  switch (typeName) {
    case "google.protobuf.Timestamp":
      return { type: "string", format: "date-time" };
    case "google.protobuf.Struct":
      return { type: "object", additionalProperties: true };
    case "google.protobuf.ListValue":
      return { type: "array" };
    default:
      return {};
  }
}
