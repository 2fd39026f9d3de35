/** Parses a YAML file into raw values with line numbers, without interpreting keys. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from "yaml";
import type { Finding } from "../findings.ts";
import type { Raw } from "../values/raw.ts";
import { locateYamlError } from "./yaml-error.ts";

/** Limits of a file; the second keeps aliases from multiplying. */
const MAX_CHARACTERS = 1024 * 1024;
const MAX_NODES = 50_000;
const MAX_DEPTH = 20;

/**
 * The file as raw values, with every syntax error found. Without errors the root is a map (an empty
 * file: an empty map).
 */
export interface ReadYaml {
  readonly root: Raw & { readonly kind: "map" };
  readonly findings: readonly Finding[];
}

/**
 * Parses YAML 1.2. `name` is the file name in findings; `words` are the key names, the only text an
 * excerpt shows.
 */
export function readYaml(
  text: string,
  name: string,
  words: ReadonlySet<string> = new Set(),
): ReadYaml {
  const empty = { kind: "map", entries: new Map<string, Raw>(), location: { line: 1 } } as const;
  const fail = (rule: string, line = 1): Finding => ({ severity: "error", path: name, rule, line });
  if (text.length > MAX_CHARACTERS)
    return {
      root: empty,
      findings: [fail(`must be at most ${MAX_CHARACTERS} characters long, has ${text.length}`)],
    };
  const counter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    version: "1.2",
  });
  if (document.errors.length > 0) {
    const located = document.errors.map((error) =>
      locateYamlError(error, { text, document, counter, words }),
    );
    return {
      root: empty,
      findings: located.map(({ message, line }) => fail(`is not valid YAML: ${message}`, line)),
    };
  }
  const findings: Finding[] = [];
  const reader = createReader(
    document,
    counter,
    (rule, line) => void findings.push(fail(rule, line)),
  );
  const root = document.contents === null ? empty : reader(document.contents, 0, 1);
  if (root.kind === "nothing") return { root: empty, findings };
  if (root.kind !== "map")
    return {
      root: empty,
      findings: [...findings, fail("must hold keys such as `gateway:`, holds something else")],
    };
  return { root, findings };
}

function createReader(
  document: Document,
  counter: LineCounter,
  complain: (rule: string, line: number) => void,
): (node: unknown, depth: number, line: number) => Raw {
  let nodes = 0;
  const nothing = (line: number): Raw => ({ kind: "nothing", location: { line } });
  const lineOf = (
    node: { range?: readonly number[] | null | undefined },
    otherwise: number,
  ): number => (node.range?.[0] === undefined ? otherwise : counter.linePos(node.range[0]).line);

  return function read(node: unknown, depth: number, above: number): Raw {
    nodes += 1;
    if (nodes === MAX_NODES)
      complain(`must hold at most ${MAX_NODES} values, aliases counted`, above);
    if (nodes >= MAX_NODES) return nothing(above);
    if (depth > MAX_DEPTH) {
      complain(`must not be nested deeper than ${MAX_DEPTH} levels`, above);
      return nothing(above);
    }
    if (isAlias(node)) return read(node.resolve(document), depth + 1, above);
    if (isScalar(node)) {
      const location = { line: lineOf(node, above) };
      return node.value === null
        ? { kind: "nothing", location }
        : { kind: "text", text: textOf(node.value, node.source), location };
    }
    if (isSeq(node)) {
      const line = lineOf(node, above);
      return {
        kind: "list",
        items: node.items.map((item) => read(item, depth + 1, line)),
        location: { line },
      };
    }
    if (!isMap(node)) return nothing(above);
    const entries = new Map<string, Raw>();
    const line = lineOf(node, above);
    for (const { key, value } of node.items) {
      const keyLine = isScalar(key) ? lineOf(key, line) : line;
      if (isScalar(key) && key.value !== null)
        entries.set(
          textOf(key.value, key.source),
          withLine(read(value, depth + 1, keyLine), keyLine),
        );
      else complain("must have plain text as keys", keyLine);
    }
    return { kind: "map", entries, location: { line } };
  };
}

// A key and its value may be on different lines; findings name the key's.
function withLine(raw: Raw, line: number): Raw {
  return { ...raw, location: { line } };
}

function textOf(value: unknown, source: string | undefined): string {
  return typeof value === "string" ? value : (source ?? String(value));
}
