/**
 * The text of a policy as data: JSON with comments and trailing commas. Names of sections and
 * fields are found in any case, as the control planes read them: older policies say `ACLs`, `Users`
 * and `Ports`.
 */
import { parse } from "jsonc-parser";
import type { ParseError } from "jsonc-parser";

/**
 * Longest text that is parsed, in characters. Parsing is one step that nothing interrupts; a text
 * this long takes about a fifth of a second.
 */
export const LONGEST_POLICY = 8 * 1024 * 1024;

/** An object of a policy. */
export type PolicyObject = Readonly<Record<string, unknown>>;

/** The policy; undefined when the text is no policy, or too long to be looked at. */
export function parsePolicy(text: string): PolicyObject | undefined {
  if (text.length > LONGEST_POLICY) return undefined;
  const errors: ParseError[] = [];
  try {
    const value: unknown = parse(text, errors, { allowTrailingComma: true });
    return errors.length === 0 && isPolicyObject(value) ? value : undefined;
  } catch (error) {
    // The parser calls itself for each level: a text nested too deeply ends its stack.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Whether it is an object with fields. */
export function isPolicyObject(value: unknown): value is PolicyObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field by its name, or by its name in another case; undefined when there is none. */
export function field(object: PolicyObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const lower = name.toLowerCase();
  const other = Object.keys(object).find((key) => key.toLowerCase() === lower);
  return other === undefined ? undefined : object[other];
}

/** Entries of a list or an object; undefined for everything else. */
export function sizeOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  return isPolicyObject(value) ? Object.keys(value).length : undefined;
}
