/**
 * Reads one JSON value as a field value, strictly: numbers are JSON numbers, text is text, an enum
 * is one of its texts. Problems are noted and the value is dropped; nothing here throws.
 */
import {
  fromJson,
  ScalarType,
  type DescEnum,
  type DescField,
  type JsonValue,
} from "@bufbuild/protobuf";
import { ListValueSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { assert } from "../base/errors.ts";
import type { Issues } from "./issues.ts";
import { nearest } from "../base/text/nearest.ts";
import { enumTexts, styleOf } from "./style.ts";
import { parseTime } from "./time.ts";

/** State of one reading: path, findings, handling of unknown names. */
export interface Reading {
  readonly path: (string | number)[];
  readonly issues: Issues;
  readonly ignoreUnknown: boolean;
}

/**
 * Returns the field value, or notes an issue and returns undefined. Null is passed only for a
 * `Value`.
 */
export type Take = (value: unknown, reading: Reading) => unknown;

/** Reads a scalar. Bytes are base64, on the one surface that has them. */
export function takeScalar(field: DescField, scalar: ScalarType): Take {
  switch (scalar) {
    case ScalarType.STRING:
      return takeText;
    case ScalarType.BOOL:
      return (value, reading) =>
        typeof value === "boolean" ? value : refuse(reading, "must be true or false", value);
    case ScalarType.BYTES:
      assert(
        styleOf(field.parent.file).dialect === "vault",
        `${field.parent.typeName}.${field.name}: bytes have no place in this JSON`,
      );
      return takeBytes;
    case ScalarType.DOUBLE:
      return takeNumber(Number.MAX_VALUE);
    case ScalarType.FLOAT:
      return takeNumber(3.4028234663852886e38);
    default:
      return takeInteger(integerRange(scalar), is64Bit(scalar));
  }
}

export function takeEnum(desc: DescEnum): Take {
  const { numbers } = enumTexts(desc);
  const all = [...numbers.keys()];
  return (value, reading) => {
    if (typeof value === "string") {
      const number = numbers.get(value);
      if (number !== undefined) return number;
    }
    if (reading.issues.full) return undefined;
    const meant =
      typeof value === "string" && reading.issues.wantSuggestion ? nearest(value, all) : undefined;
    reading.issues.add(
      reading.path,
      `must be one of ${all.join(", ")}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
      "invalid_value",
      "enum",
    );
    return undefined;
  };
}

/** Reads a message with a native JSON form. */
export function takeWellKnown(typeName: string): Take {
  switch (typeName) {
    case "google.protobuf.Timestamp":
      return (value, reading) => {
        const time = typeof value === "string" ? parseTime(value) : undefined;
        return (
          time ?? refuse(reading, "must be a time such as 2026-01-31T12:00:00Z", value, "time")
        );
      };
    case "google.protobuf.Value":
      return (value) => fromJson(ValueSchema, value as JsonValue);
    case "google.protobuf.ListValue":
      return (value, reading) =>
        Array.isArray(value)
          ? fromJson(ListValueSchema, value as JsonValue)
          : refuse(reading, "must be a list", value);
    default:
      return (value, reading) =>
        isObject(value) ? value : refuse(reading, "must be an object", value);
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Notes that a value has the wrong form. */
export function refuse(reading: Reading, text: string, value: unknown, rule?: string): undefined {
  reading.issues.add(reading.path, `${text}, not ${kindOf(value)}`, "invalid_type", rule);
  return undefined;
}

const takeText: Take = (value, reading) => {
  if (typeof value !== "string") return refuse(reading, "must be text", value);
  if (value.isWellFormed()) return value;
  reading.issues.add(reading.path, "must be valid Unicode text", "invalid_value", "unicode");
  return undefined;
};

const takeBytes: Take = (value, reading) => {
  if (typeof value === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0)
    return new Uint8Array(Buffer.from(value, "base64"));
  return refuse(reading, "must be base64 text", value, "base64");
};

function takeNumber(largest: number): Take {
  return (value, reading) => {
    if (typeof value !== "number") return refuse(reading, "must be a number", value);
    if (Math.abs(value) <= largest) return value;
    reading.issues.add(reading.path, "is too large a number", "invalid_value", "range");
    return undefined;
  };
}

interface Range {
  readonly low: number;
  readonly high: number;
}

function takeInteger(range: Range, asBigInt: boolean): Take {
  return (value, reading) => {
    if (typeof value !== "number") return refuse(reading, "must be a whole number", value);
    if (!Number.isInteger(value)) {
      reading.issues.add(reading.path, "must be a whole number", "invalid_type", "integer");
      return undefined;
    }
    if (value < range.low || value > range.high) {
      reading.issues.add(
        reading.path,
        `must be between ${range.low} and ${range.high}`,
        "invalid_value",
        "range",
      );
      return undefined;
    }
    return asBigInt ? BigInt(value) : value;
  };
}

function is64Bit(scalar: ScalarType): boolean {
  return [
    ScalarType.INT64,
    ScalarType.UINT64,
    ScalarType.FIXED64,
    ScalarType.SFIXED64,
    ScalarType.SINT64,
  ].includes(scalar);
}

/** 64-bit fields are limited to the integers that JSON numbers represent exactly. */
function integerRange(scalar: ScalarType): Range {
  const unsigned = [
    ScalarType.UINT32,
    ScalarType.FIXED32,
    ScalarType.UINT64,
    ScalarType.FIXED64,
  ].includes(scalar);
  const high = is64Bit(scalar) ? Number.MAX_SAFE_INTEGER : unsigned ? 2 ** 32 - 1 : 2 ** 31 - 1;
  return { low: unsigned ? 0 : is64Bit(scalar) ? -high : -(2 ** 31), high };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return (
    { string: "text", number: "a number", boolean: "true or false", object: "an object" }[
      typeof value as string
    ] ?? "this"
  );
}
