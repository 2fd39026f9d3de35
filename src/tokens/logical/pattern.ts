/** Path patterns: syntax, matching and precedence. */
import { assert } from "../../kernel/base/errors.ts";

export interface Pattern {
  readonly text: string;
  /** In segment order. */
  readonly variables: readonly string[];
  /** Precedence by segment; lower wins. */
  readonly ranks: readonly number[];
  /** Variables of a matching path; undefined otherwise. */
  match(path: string): ReadonlyMap<string, string> | undefined;
}

/** Starts and ends with a letter, digit or underscore; `-` and `.` may stand between. */
const NAME = String.raw`(\w(?:[\w.-]*\w)?)`;

/** No leading slash: it would give the same resource a second name that policies do not cover. */
const REST_TEXT = "((?!/)[^]*)";

const LITERAL = 0;
const VARIABLE = 1;
const REST = 2;

/** Compiles `a/:name/b` or `a/:rest*`. Throws an assertion for an invalid pattern. */
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

/** Sort order: literals before variables before rests, from the left; longer patterns first. */
export function byRank(a: Pattern, b: Pattern): number {
  for (let at = 0; at < Math.min(a.ranks.length, b.ranks.length); at++) {
    const difference = (a.ranks[at] ?? 0) - (b.ranks[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return b.ranks.length - a.ranks.length;
}
