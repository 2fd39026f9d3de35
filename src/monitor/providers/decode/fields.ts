/**
 * Small readers for what a control plane says. None throws: a field of a wrong type is a field that
 * was not told, so that it costs itself and never the list it stands in. Texts are names until said
 * otherwise, and bounded as such (`boundName`).
 */
import { boundName } from "../../../kernel/base/bounded-name.ts";

/** Members of an object from outside. */
export type Fields = Readonly<Record<string, unknown>>;

/** A number as digits, as some servers write 64-bit numbers. */
const DIGITS = /^-?\d{1,30}(?:\.\d{1,30})?$/;

/** The object, or undefined for anything else; a list is none. */
export function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}

/** The object's members, none for anything else. */
export function inner(value: unknown): Fields {
  return fields(value) ?? {};
}

/**
 * The text as a name of bounded length; ids that come as numbers are texts too. Empty for anything
 * else.
 */
export function text(value: unknown): string {
  if (typeof value === "string") return boundName(value);
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}

/** The text, however long. Empty for anything else. */
export function wholeText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The object's members with names of bounded length; none for anything else. */
export function members(value: unknown): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(inner(value)).map(([name, member]) => [boundName(name), member]);
}

/** True or false; undefined for anything else. */
export function flag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** The number, also when it is written as a text; undefined for anything else. */
export function count(value: unknown): number | undefined {
  if (typeof value === "string" && DIGITS.test(value)) return Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The list's elements; none for anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The texts of a list; other elements and empty ones are left out. */
export function texts(value: unknown): readonly string[] {
  return list(value)
    .map(text)
    .filter((item) => item !== "");
}
