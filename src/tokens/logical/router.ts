/** Routes requests to declared paths. */
import { type FieldKinds, kindsOf } from "./fields.ts";
import { byRank, compilePattern, type Pattern } from "./pattern.ts";
import type { Operation, Path } from "./types.ts";

export interface Route {
  readonly path: Path;
  readonly kinds: FieldKinds;
  readonly variables: ReadonlyMap<string, string>;
}

/** Paths of one backend. */
export interface Router {
  /** The path that supports the operation; else one that matches but does not support it. */
  route(path: string, operation: Operation): Route | undefined;
  /** The matching path for any operation. */
  find(path: string): Route | undefined;
}

interface Entry {
  readonly path: Path;
  readonly kinds: FieldKinds;
  readonly pattern: Pattern;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Literal paths use a map; others are tried from most to least specific. */
export function createRouter(paths: readonly Path[]): Router {
  const entries = paths.flatMap((path): Entry[] => {
    const kinds = kindsOf(path.fields, path.coerce);
    return [path.pattern, ...(path.also ?? [])].map((text) => ({
      path,
      kinds,
      pattern: compilePattern(text),
    }));
  });
  const literal = new Map(
    entries
      .filter(({ pattern }) => pattern.variables.length === 0)
      .map((entry) => [entry.pattern.text, entry]),
  );
  const open = entries
    .filter(({ pattern }) => pattern.variables.length > 0)
    .toSorted((a, b) => byRank(a.pattern, b.pattern));

  function first(path: string, wanted: (path: Path) => boolean): Route | undefined {
    const exact = literal.get(path);
    if (exact !== undefined && wanted(exact.path))
      return { path: exact.path, kinds: exact.kinds, variables: NONE };
    for (const { path: declared, kinds, pattern } of open) {
      const variables = wanted(declared) ? pattern.match(path) : undefined;
      if (variables !== undefined) return { path: declared, kinds, variables };
    }
    return undefined;
  }

  // A trailing slash belongs to lists. For other operations it would give the same resource a
  // second name that policies do not cover.
  function firstListed(path: string, wanted: (path: Path) => boolean): Route | undefined {
    return (
      first(path, wanted) ?? (path.endsWith("/") ? first(path.slice(0, -1), wanted) : undefined)
    );
  }

  return {
    route: (path, operation) =>
      operation === "list"
        ? (firstListed(path, lists) ?? firstListed(path, any))
        : first(path, any),
    find: (path) => firstListed(path, any),
  };
}

function any(): boolean {
  return true;
}

function lists(path: Path): boolean {
  return path.operations.list !== undefined;
}
