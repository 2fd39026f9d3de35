/** Limits of an external JSON text, and the two errors: malformed, or too large. */
import { StewardError } from "../base/errors.ts";

/** Enforced while the text is read. */
export interface JsonBudget {
  /** Bytes of the whole text. */
  readonly bytes: number;
  /** Nesting depth, the outermost container included. */
  readonly depth: number;
  /** Bytes between the quotes of one string or name, as written. */
  readonly stringBytes: number;
  /** Elements of one array, members of one object, or concatenated values. */
  readonly elements: number;
}

/**
 * Names of object members from the outermost object to an array; empty for an array that is the
 * whole text.
 */
export type JsonPath = readonly string[];

/** A malformed text. `facts.offset` counts bytes from 0. Code `invalid`. */
export function brokenJson(offset: number, what: string): StewardError {
  return new StewardError("invalid", `broken JSON at byte ${offset}: ${what}`, {
    rule: "json",
    facts: { offset },
  });
}

/** A text beyond a limit. `rule` is the limit's name. Code `too_large`. */
export function oversizedJson(
  offset: number,
  limit: keyof JsonBudget,
  allowed: number,
): StewardError {
  const what = {
    bytes: "bytes",
    depth: "levels of nesting",
    stringBytes: "bytes in one string",
    elements: "elements in one list",
  }[limit];
  return new StewardError(
    "too_large",
    `JSON with more than ${allowed} ${what} (at byte ${offset})`,
    { rule: limit, facts: { offset } },
  );
}
