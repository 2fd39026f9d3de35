/**
 * Path templates of `google.api.http` and the tree that matches them: `{name}` is one segment,
 * `{name=**}` at the end is the rest, a literal takes precedence over a variable. Unnamed wildcards
 * and `:verb` suffixes are refused.
 */
import { assert } from "../src/kernel/base/errors.ts";

/** One segment of a template. */
interface Segment {
  readonly kind: "literal" | "variable" | "rest";
  /** The literal's text or the variable's name. */
  readonly text: string;
}

/** A parsed template. */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly Segment[];
  /** Names of the variables in order. */
  readonly variables: readonly string[];
}

const VARIABLE = /^\{([A-Za-z_][A-Za-z0-9_]*)(=\*\*)?\}$/;

/** Fails an assertion for an unsupported template. */
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

/** The leaf of a path with its variable values in order. */
interface Found<T> {
  readonly leaf: T;
  readonly values: readonly string[];
}

/** Leaves by path. Built at start, then only read. */
export interface PathTree<T> {
  /** The leaf for this template, created if missing: names of variables do not matter. */
  leaf(template: PathTemplate, make: () => T): T;
  find(segments: readonly string[]): Found<T> | undefined;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  variable: Node<T> | undefined;
  leaf: T | undefined;
  rest: T | undefined;
}

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
 * Decoded segments of a path; undefined when it has no leading slash or invalid percent-encoded
 * UTF-8.
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

/** Depth is bounded by the longest template. */
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
