/** Parses one sample line (Prometheus text 0.0.4, OpenMetrics 1.0.0). */

export interface SampleLine {
  readonly name: string;
  /** In the order of the line, values still escaped. Names may repeat. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
  /**
   * Characters in the label names and values of its exemplar; undefined without an exemplar, which
   * only OpenMetrics has.
   */
  readonly exemplarCharacters: number | undefined;
}

// Unrolled, so that a long value does not exhaust the regular expression's stack.
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="([^"\\]*(?:\\[\\n"][^"\\]*)*)"([,}])/y;
const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const VALUE =
  / (?:([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|([+-]?Inf)|(NaN))(?: -?\d+(?:\.\d+)?)?(?: # \{|$)/y;

/** Parses a line without its line break; undefined when it is not a sample. */
export function readSampleLine(line: string): SampleLine | undefined {
  NAME.lastIndex = 0;
  const name = NAME.exec(line)?.[0];
  if (name === undefined) return undefined;
  const labels: (readonly [string, string])[] = [];
  let at = name.length;
  if (line[at] === "{") {
    const end = readLabels(line, at + 1, labels);
    if (end === undefined) return undefined;
    at = end;
  }
  VALUE.lastIndex = at;
  const value = VALUE.exec(line);
  if (value === null) return undefined;
  const sample = { name, labels, value: readValue(value), exemplarCharacters: undefined };
  if (!isFollowed(value)) return sample;
  const exemplarCharacters = readExemplar(line, VALUE.lastIndex);
  return exemplarCharacters === undefined ? undefined : { ...sample, exemplarCharacters };
}

/**
 * Parses from after the opening brace of an exemplar's labels to the end of the line; undefined
 * when invalid.
 */
function readExemplar(line: string, from: number): number | undefined {
  const labels: (readonly [string, string])[] = [];
  const end = readLabels(line, from, labels);
  if (end === undefined) return undefined;
  VALUE.lastIndex = end;
  const value = VALUE.exec(line);
  if (value === null || isFollowed(value)) return undefined;
  return labels.reduce((sum, [name, value]) => sum + Array.from(name + value).length, 0);
}

function readLabels(
  line: string,
  from: number,
  labels: (readonly [string, string])[],
): number | undefined {
  let at = from;
  while (line[at] !== "}") {
    LABEL.lastIndex = at;
    const label = LABEL.exec(line);
    if (label === null) return undefined;
    const [whole, name = "", value = "", next] = label;
    labels.push([name, value]);
    at += whole.length;
    if (next === "}") return at;
  }
  return at + 1;
}

/** Whether an exemplar follows the value; otherwise the line ends there. */
function isFollowed([matched]: RegExpExecArray): boolean {
  return matched.endsWith("{");
}

function readValue([, digits, infinite, nothing]: RegExpExecArray): number {
  if (nothing !== undefined) return Number.NaN;
  if (infinite !== undefined)
    return infinite.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(digits);
}
