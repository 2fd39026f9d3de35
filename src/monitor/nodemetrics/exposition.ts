/**
 * Lenient parser of the Prometheus text format 0.0.4 (and the subset it shares with OpenMetrics):
 * an invalid line is skipped and counted. Agents write TYPE before HELP, and families without
 * samples. Label values are bounded (`boundName`); lines with a longer metric or label name are
 * skipped.
 */
import { boundName, MAX_NAME_BYTES } from "../../kernel/base/text/bounded-name.ts";

export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  /** Cumulative since the agent's start: a counter, or a part of a histogram or summary. */
  readonly cumulative: boolean;
}

type FamilyType = "counter" | "gauge" | "histogram" | "summary" | "untyped";

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL = /\s*(?:,\s*)?([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"/y;
const LABELS_END = /\s*(?:,\s*)?\}/y;
const VALUE = /\s*([^\s#]+)/y;
const TYPE =
  /^#\s*TYPE\s+([a-zA-Z_:][a-zA-Z0-9_:]*)\s+(counter|gauge|histogram|summary|untyped|unknown|info|stateset|gaugehistogram)\s*$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|0[xX][0-9a-fA-F]+)$/;

export class ExpositionReader {
  readonly #types = new Map<string, FamilyType>();
  /** Lines that were neither sample, comment nor empty. */
  skipped = 0;

  /** Undefined for comments, empty lines and invalid lines. */
  read(line: string): Sample | undefined {
    const text = line.trim();
    if (text === "") return undefined;
    if (text.startsWith("#")) return this.#comment(text);
    const sample = this.#sample(text);
    if (sample === undefined) this.skipped += 1;
    return sample;
  }

  #comment(text: string): undefined {
    const found = TYPE.exec(text);
    if (found?.[1] === undefined || found[2] === undefined) return;
    const known =
      found[2] === "counter" ||
      found[2] === "gauge" ||
      found[2] === "histogram" ||
      found[2] === "summary";
    this.#types.set(found[1], known ? (found[2] as FamilyType) : "untyped");
  }

  #sample(text: string): Sample | undefined {
    const name = match(NAME, text, 0);
    if (name === undefined || name.text.length > MAX_NAME_BYTES) return undefined;
    const labels =
      text[name.end] === "{"
        ? readLabels(text, name.end + 1)
        : { labels: new Map<string, string>(), end: name.end };
    const written = labels === undefined ? undefined : match(VALUE, text, labels.end);
    const value = written === undefined ? undefined : parseNumber(written.groups[1] ?? "");
    if (labels === undefined || value === undefined) return undefined;
    return {
      name: name.text,
      labels: labels.labels,
      value,
      cumulative: this.#isCumulative(name.text),
    };
  }

  #isCumulative(name: string): boolean {
    if (
      this.#types.get(name) === "counter" ||
      (name.endsWith("_total") && this.#types.get(name.slice(0, -"_total".length)) === "counter")
    )
      return true;
    const part = /^(.*)_(?:bucket|sum|count)$/.exec(name);
    const family = part?.[1] === undefined ? undefined : this.#types.get(part[1]);
    return family === "histogram" || family === "summary";
  }
}

/** Iterates over lines without splitting the whole text. */
export function* linesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    yield text.slice(from, end === -1 ? text.length : end);
    if (end === -1) return;
    from = end + 1;
  }
}

function readLabels(
  text: string,
  from: number,
): { readonly labels: Map<string, string>; readonly end: number } | undefined {
  const labels = new Map<string, string>();
  let at = from;
  for (;;) {
    const end = match(LABELS_END, text, at);
    if (end !== undefined) return { labels, end: end.end };
    const label = match(LABEL, text, at);
    if (label === undefined || (label.groups[1] ?? "").length > MAX_NAME_BYTES) return undefined;
    labels.set(label.groups[1] ?? "", boundName(unescape(label.groups[2] ?? "")));
    at = label.end;
  }
}

function unescape(text: string): string {
  return text.includes("\\")
    ? text.replaceAll(/\\(.)/g, (_, next: string) => (next === "n" ? "\n" : next))
    : text;
}

function parseNumber(text: string): number | undefined {
  switch (text.toLowerCase()) {
    case "nan":
      return Number.NaN;
    case "inf":
    case "+inf":
    case "infinity":
    case "+infinity":
      return Number.POSITIVE_INFINITY;
    case "-inf":
    case "-infinity":
      return Number.NEGATIVE_INFINITY;
    default:
      return NUMBER.test(text) ? Number(text) : undefined;
  }
}

function match(
  pattern: RegExp,
  text: string,
  from: number,
): { readonly text: string; readonly groups: RegExpExecArray; readonly end: number } | undefined {
  pattern.lastIndex = from;
  const groups = pattern.exec(text);
  return groups === null ? undefined : { text: groups[0], groups, end: pattern.lastIndex };
}
