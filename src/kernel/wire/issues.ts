/** Everything that is wrong with one request, collected in one pass and turned into one error. */
import { StewardError, type Detail } from "../base/errors.ts";

/** Where a value stands: names and list positions from the outside in. */
export type JsonPath = readonly (string | number)[];

/**
 * The largest number of findings that are kept; a long list of wrong elements says no more with all
 * of them.
 */
export const MAX_ISSUES = 100;

/**
 * Only the first findings come with a suggestion: finding the nearest name takes longer than
 * anything else.
 */
const MAX_SUGGESTIONS = 10;

/** Characters of a name in a finding. */
const MAX_NAME_LENGTH = 64;

const SHOWN_IN_MESSAGE = 3;

/** Collects findings. */
export interface Issues {
  readonly found: readonly Detail[];
  /** `text` goes on after the name of the place: `must be a whole number`. */
  add(path: JsonPath, text: string, code: string, rule?: string): void;
  /** No more are kept: whoever would have to work for a text need not. */
  readonly full: boolean;
  /** Whether the next finding may come with a suggestion. */
  readonly wantSuggestion: boolean;
}

/** An empty collection. */
export function createIssues(): Issues {
  const found: Detail[] = [];
  return {
    found,
    get full() {
      return found.length >= MAX_ISSUES;
    },
    get wantSuggestion() {
      return found.length < MAX_SUGGESTIONS;
    },
    add(given, text, code, rule) {
      if (found.length >= MAX_ISSUES) return;
      const path = given.map(shortened);
      const message = path.length === 0 ? text : `${pathText(path)} ${text}`;
      found.push({ path, message, code, ...(rule === undefined ? {} : { rule }) });
    },
  };
}

function shortened(part: string | number): string | number {
  return typeof part === "string" && part.length > MAX_NAME_LENGTH
    ? `${part.slice(0, MAX_NAME_LENGTH)}…`
    : part;
}

/** A path as a person writes it: `groups[2].status`. */
function pathText(path: JsonPath): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : `${text}${text === "" ? "" : "."}${part}`,
    "",
  );
}

/**
 * One `invalid` error out of at least one finding. `rule` says more about the whole, e.g.
 * `bad_request`.
 */
export function invalidRequest(found: readonly Detail[], rule?: string): StewardError {
  const [first] = found;
  const more = found.length - SHOWN_IN_MESSAGE;
  const message =
    found
      .slice(0, SHOWN_IN_MESSAGE)
      .map((detail) => detail.message)
      .join("; ") + (more > 0 ? `; and ${more} more` : "");
  const summary = rule ?? first?.rule;
  return new StewardError("invalid", message, {
    details: found,
    ...(first === undefined ? {} : { field: pathText(first.path) }),
    ...(summary === undefined ? {} : { rule: summary }),
  });
}

/**
 * The rule of an error that answers `BAD_REQUEST` instead of `VALIDATION_FAILED` on dedup's
 * surface.
 */
export const BAD_REQUEST = "bad_request";
