/** Collects all problems of one request into one error. */
import { StewardError, type Detail } from "../base/errors.ts";

/** Location of a value: names and list indexes from the outside in. */
export type JsonPath = readonly (string | number)[];

/** Maximum number of findings kept. */
export const MAX_ISSUES = 100;

/**
 * Only the first findings get a suggestion: finding the nearest name is the most expensive part.
 */
const MAX_SUGGESTIONS = 10;

/** Maximum length of a name in a finding. */
const MAX_NAME_LENGTH = 64;

const SHOWN_IN_MESSAGE = 3;

export interface Issues {
  readonly found: readonly Detail[];
  /** `text` continues after the path: `must be a whole number`. */
  add(path: JsonPath, text: string, code: string, rule?: string): void;
  /** No more are kept: building further texts is pointless. */
  readonly full: boolean;
  /** Whether the next finding may have a suggestion. */
  readonly wantSuggestion: boolean;
}

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

/** In human notation: `groups[2].status`. */
function pathText(path: JsonPath): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : `${text}${text === "" ? "" : "."}${part}`,
    "",
  );
}

/** One `invalid` error for at least one finding. `rule` qualifies the whole, e.g. `bad_request`. */
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
 * The rule of an error that becomes `BAD_REQUEST` instead of `VALIDATION_FAILED` on dedup's
 * surface.
 */
export const BAD_REQUEST = "bad_request";
