/**
 * Readers of untrusted JSON. None throws: a field of the wrong type reads as absent, so it never
 * costs the list it is in. Texts are bounded as names (`boundName`) unless stated otherwise.
 */
import { boundName } from "../../../kernel/base/text/bounded-name.ts";

/** Members of an untrusted object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Numbers as text, as some servers write 64-bit integers. */
const DIGITS = /^-?\d{1,30}(?:\.\d{1,30})?$/;

/** Undefined for anything but an object; an array is none. */
export function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}

/** Empty for anything but an object. */
export function inner(value: unknown): Fields {
  return fields(value) ?? {};
}

/** The text, bounded as a name; numeric ids become text. Empty for anything else. */
export function text(value: unknown): string {
  if (typeof value === "string") return boundName(value);
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}

/** The text without a length limit. Empty for anything else. */
export function wholeText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Members with bounded names; empty for anything but an object. */
export function members(value: unknown): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(inner(value)).map(([name, member]) => [boundName(name), member]);
}

/** Undefined for anything but a boolean. */
export function flag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** The number, also if written as text; undefined for anything else. */
export function count(value: unknown): number | undefined {
  if (typeof value === "string" && DIGITS.test(value)) return Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Empty for anything but an array. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The non-empty texts of an array. */
export function texts(value: unknown): readonly string[] {
  return list(value)
    .map(text)
    .filter((item) => item !== "");
}
