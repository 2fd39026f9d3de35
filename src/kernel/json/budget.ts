/**
 * What bounds a JSON text that came from elsewhere, and the two ways to refuse one: it is broken,
 * or it is too much.
 */
import { StewardError } from "../base/errors.ts";

/** Limits of one text, enforced while it is walked. */
export interface JsonBudget {
  /** Bytes of the whole text. */
  readonly bytes: number;
  /** Objects and arrays inside each other, the outermost included. */
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

/** A text that is not what it must be. `facts.offset` counts bytes from 0. Code `invalid`. */
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
