/**
 * Parses a policy: JSON with comments and trailing commas. Section and field names match
 * case-insensitively, as in the control planes: older policies have `ACLs`, `Users` and `Ports`.
 */
import { parse } from "jsonc-parser";
import type { ParseError } from "jsonc-parser";

/**
 * Longest policy parsed, in characters. Parsing is synchronous; a text of this size takes about a
 * fifth of a second.
 */
export const MAX_POLICY_LENGTH = 8 * 1024 * 1024;

export type PolicyObject = Readonly<Record<string, unknown>>;

/** Undefined when the text is no policy or is too long. */
export function parsePolicy(text: string): PolicyObject | undefined {
  if (text.length > MAX_POLICY_LENGTH) return undefined;
  const errors: ParseError[] = [];
  try {
    const value: unknown = parse(text, errors, { allowTrailingComma: true });
    return errors.length === 0 && isPolicyObject(value) ? value : undefined;
  } catch (error) {
    // The parser is recursive: deep nesting overflows the stack.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export function isPolicyObject(value: unknown): value is PolicyObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field by name, falling back to a case-insensitive match. */
export function field(object: PolicyObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const lower = name.toLowerCase();
  const other = Object.keys(object).find((key) => key.toLowerCase() === lower);
  return other === undefined ? undefined : object[other];
}

/** Number of entries of an array or object; undefined otherwise. */
export function sizeOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  return isPolicyObject(value) ? Object.keys(value).length : undefined;
}
