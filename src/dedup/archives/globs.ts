/** Which files of a folder an archive takes, by the patterns of its configuration. */
import { posix } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";
import { isLeftOut } from "./kinds.ts";

/** Decides by refs: paths below the folder, with `/`. */
export interface Globs {
  /** Whether a folder is left out with all that is in it. */
  prunes(ref: string): boolean;
  takes(ref: string): boolean;
  /** Whether a pattern speaks of a hidden name or of `node_modules`, which are else left out. */
  names(name: string): boolean;
}

/**
 * Patterns as in `path.matchesGlob`. One without a slash matches the name at any depth; one that
 * matches a folder leaves it out whole. Throws `invalid` naming a pattern that is none.
 */
export function createGlobs(include: readonly string[], exclude: readonly string[]): Globs {
  for (const pattern of [...include, ...exclude]) checkPattern(pattern);
  const bare = (patterns: readonly string[]): string[] =>
    patterns.map((pattern) => pattern.replace(/\/+$/, ""));
  const [included, excluded] = [bare(include), bare(exclude)];
  const matches = (patterns: readonly string[], ref: string): boolean =>
    patterns.some((pattern) => matchesRef(pattern, ref));
  const named = included
    .flatMap((pattern) => pattern.split("/"))
    .filter((segment) => isLeftOut(segment));
  return {
    names: (name) => named.some((segment) => posix.matchesGlob(name, segment)),
    prunes: (ref) => matches(excluded, ref),
    takes: (ref) => (included.length === 0 || matches(included, ref)) && !matches(excluded, ref),
  };
}

function matchesRef(pattern: string, ref: string): boolean {
  return posix.matchesGlob(pattern.includes("/") ? ref : posix.basename(ref), pattern);
}

function checkPattern(pattern: string): void {
  try {
    posix.matchesGlob("name", pattern);
  } catch (cause) {
    throw new StewardError(
      "invalid",
      `${JSON.stringify(pattern.slice(0, 80))} is not a file pattern`,
      { remedy: "write one such as **/*.md", cause },
    );
  }
}
