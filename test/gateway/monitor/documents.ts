/**
 * The monitor's documents filled by their descriptors: once with everything, once with nothing that
 * may be left out.
 */
import {
  create,
  ScalarType,
  type DescField,
  type DescMessage,
  type Message,
} from "@bufbuild/protobuf";
import { TimestampSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { fieldStyleOf } from "../../../src/kernel/wire/style.ts";

/** 2026-01-02T03:04:05.6Z */
const TIME = { seconds: 1_767_323_045n, nanos: 600_000_000 };

/** Every field is set to something that is not empty; lists and maps have one entry. */
export function filled(desc: DescMessage): Message {
  return made(desc, (field) => whole(field, () => something(field)));
}

/**
 * As little as the monitor may say: what is left out when empty is not set, what must be said is,
 * and rows have one entry each.
 */
export function minimal(
  desc: DescMessage,
  mayOmit: (field: DescField) => boolean = isOmitted,
): Message {
  return made(desc, (field) => {
    if (mayOmit(field)) return undefined;
    if (field.enum !== undefined) return field.enum.values[1]?.number;
    if (field.fieldKind === "message" && !fieldStyleOf(field).nullable)
      return value(field, (inner) => minimal(inner, mayOmit));
    return field.fieldKind === "list" && field.message !== undefined
      ? [minimal(field.message, mayOmit)]
      : undefined;
  });
}

function isOmitted(field: DescField): boolean {
  const { omitEmpty, omitUnless } = fieldStyleOf(field);
  return omitEmpty || omitUnless !== "";
}

function made(desc: DescMessage, valueOf: (field: DescField) => unknown): Message {
  const message = create(desc);
  for (const field of desc.fields) {
    const given = valueOf(field);
    if (given !== undefined) Object.assign(message, { [field.localName]: given });
  }
  return message;
}

function whole(field: DescField, one: () => unknown): unknown {
  return field.fieldKind === "list"
    ? [one()]
    : field.fieldKind === "map"
      ? { "a.key": one() }
      : one();
}

function something(field: DescField): unknown {
  if (field.enum !== undefined) return field.enum.values.at(-1)?.number;
  if (field.message !== undefined) return value(field, filled);
  switch (field.scalar) {
    case ScalarType.STRING:
      return `a ${field.name}`;
    case ScalarType.BOOL:
      return true;
    case ScalarType.DOUBLE:
      return 0.1 + 0.2;
    case ScalarType.INT64:
      return 9_007_199_254_740_991n;
    default:
      return 7;
  }
}

function value(field: DescField, inner: (desc: DescMessage) => Message): unknown {
  switch (field.message?.typeName) {
    case undefined:
      return undefined;
    case "google.protobuf.Timestamp":
      return create(TimestampSchema, TIME);
    case "google.protobuf.Value":
      return create(ValueSchema, { kind: { case: "stringValue", value: "text" } });
    default:
      return field.message && inner(field.message);
  }
}
