/**
 * Path templates of `google.api.http` and the tree that finds one for a path: `{name}` is one
 * segment, `{name=**}` as the last one is the rest, a literal beats a variable. Wildcards without a
 * name and `:verb` endings are refused.
 */
import { assert } from "../src/kernel/base/errors.ts";

/** One segment of a template. */
interface Segment {
  readonly kind: "literal" | "variable" | "rest";
  /** The literal's text or the variable's name. */
  readonly text: string;
}

/** A template taken apart. */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly Segment[];
  /** Names of the variables in order. */
  readonly variables: readonly string[];
}

const VARIABLE = /^\{([A-Za-z_][A-Za-z0-9_]*)(=\*\*)?\}$/;

/** Throws an assertion when the text is no template of the supported kind. */
export function parseTemplate(text: string): PathTemplate {
  assert(text.startsWith("/"), `path template ${text} must begin with a slash`);
  const segments = text
    .slice(1)
    .split("/")
    .map((part): Segment => {
      const [, name, rest] = VARIABLE.exec(part) ?? [];
      if (name !== undefined) return { kind: rest === undefined ? "variable" : "rest", text: name };
      assert(
        !/[{}*:?#%]/.test(part),
        `path template ${text}: ${part} is neither a literal nor {name} nor {name=**}`,
      );
      return { kind: "literal", text: part };
    });
  const variables = segments
    .filter((segment) => segment.kind !== "literal")
    .map((segment) => segment.text);
  assert(
    new Set(variables).size === variables.length,
    `path template ${text} names a variable twice`,
  );
  assert(
    segments.every((segment, index) => segment.kind !== "rest" || index === segments.length - 1),
    `path template ${text}: {name=**} must be last`,
  );
  return { text, segments, variables };
}

/** The leaf of a path with what its variables stand for, in order. */
interface Found<T> {
  readonly leaf: T;
  readonly values: readonly string[];
}

/** Leaves by path. Built at start, then only read. */
export interface PathTree<T> {
  /**
   * The leaf of this shape of path, made when there is none: variables' names make no difference.
   */
  leaf(template: PathTemplate, make: () => T): T;
  find(segments: readonly string[]): Found<T> | undefined;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  variable: Node<T> | undefined;
  leaf: T | undefined;
  rest: T | undefined;
}

/** An empty tree. */
export function createPathTree<T>(): PathTree<T> {
  const root = emptyNode<T>();
  return {
    leaf(template, make) {
      let node = root;
      for (const segment of template.segments) {
        if (segment.kind === "rest") return (node.rest ??= make());
        node = step(node, segment);
      }
      return (node.leaf ??= make());
    },
    find: (segments) => findFrom(root, segments, 0, []),
  };
}

/**
 * Decoded segments of a path; undefined when it begins with no slash, or a percent sign introduces
 * no UTF-8.
 */
export function splitPath(path: string): readonly string[] | undefined {
  if (!path.startsWith("/")) return undefined;
  try {
    return path.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function emptyNode<T>(): Node<T> {
  return { literals: new Map(), variable: undefined, leaf: undefined, rest: undefined };
}

function step<T>(node: Node<T>, segment: Segment): Node<T> {
  if (segment.kind === "variable") return (node.variable ??= emptyNode());
  const next = node.literals.get(segment.text) ?? emptyNode<T>();
  node.literals.set(segment.text, next);
  return next;
}

/** Depth is bounded by the longest template: no node leads further. */
function findFrom<T>(
  node: Node<T>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): Found<T> | undefined {
  const segment = segments[at];
  if (segment === undefined)
    return node.leaf === undefined ? undefined : { leaf: node.leaf, values };
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : findFrom(literal, segments, at + 1, values);
  if (found !== undefined) return found;
  const variable =
    node.variable === undefined || segment === ""
      ? undefined
      : findFrom(node.variable, segments, at + 1, [...values, segment]);
  if (variable !== undefined) return variable;
  return node.rest === undefined
    ? undefined
    : { leaf: node.rest, values: [...values, segments.slice(at).join("/")] };
}
