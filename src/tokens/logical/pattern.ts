/** Patterns of paths: how they are written, what they match, which of two that match is meant. */
import { assert } from "../../kernel/base/errors.ts";

/** A compiled pattern. */
export interface Pattern {
  readonly text: string;
  /** In the order of the segments. */
  readonly variables: readonly string[];
  /** Lower ranks are meant first; compared segment by segment. */
  readonly ranks: readonly number[];
  /** The variables of a path that matches. */
  match(path: string): ReadonlyMap<string, string> | undefined;
}

/** Starts and ends with a letter, digit or underscore; `-` and `.` may stand between. */
const NAME = String.raw`(\w(?:[\w.-]*\w)?)`;

/**
 * What follows begins with no slash, which would make it a second name of the same thing, one that
 * rules about the first would not hold for.
 */
const REST_TEXT = "((?!/)[^]*)";

const LITERAL = 0;
const VARIABLE = 1;
const REST = 2;

/** Compiles `a/:name/b` or `a/:rest*`. Throws an assertion for anything that is no pattern. */
export function compilePattern(text: string): Pattern {
  const segments = text.split("/");
  const variables: string[] = [];
  const ranks: number[] = [];
  const sources = segments.map((segment, index) => {
    const found = /^:([a-z][a-z0-9_]*)(\*?)$/.exec(segment);
    if (found === null) {
      assert(/^[\w.-]*$/.test(segment), `the segment "${segment}" of ${text} is a literal`);
      ranks.push(LITERAL);
      return segment.replaceAll(".", String.raw`\.`);
    }
    const rest = found[2] === "*";
    assert(
      !rest || index === segments.length - 1,
      `only the last segment of ${text} takes the rest`,
    );
    variables.push(found[1] ?? "");
    ranks.push(rest ? REST : VARIABLE);
    return rest ? REST_TEXT : NAME;
  });
  assert(new Set(variables).size === variables.length, `${text} names each variable once`);
  const expression = new RegExp(`^${sources.join("/")}$`);
  return { text, variables, ranks, match: (path) => matchOf(expression, variables, path) };
}

function matchOf(
  expression: RegExp,
  variables: readonly string[],
  path: string,
): ReadonlyMap<string, string> | undefined {
  const found = expression.exec(path);
  return found === null
    ? undefined
    : new Map(variables.map((name, index) => [name, found[index + 1] ?? ""]));
}

/**
 * For sorting: literals before variables before rests, from the left; a longer pattern before a
 * shorter one.
 */
export function byRank(a: Pattern, b: Pattern): number {
  for (let at = 0; at < Math.min(a.ranks.length, b.ranks.length); at++) {
    const difference = (a.ranks[at] ?? 0) - (b.ranks[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return b.ranks.length - a.ranks.length;
}
