/** One sample of the text formats, read by their grammar (Prometheus text 0.0.4, OpenMetrics 1.0.0). */

/** A sample. */
export interface SampleLine {
  readonly name: string;
  /** In the order of the line, values as they are between their quotes. A name may come twice. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
}

// Unrolled, so that a long value costs no stack.
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="([^"\\]*(?:\\[\\n"][^"\\]*)*)"([,}])/y;
const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const VALUE = / (?:([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|([+-]?Inf)|(NaN))(?: -?\d+(?:\.\d+)?)?$/y;

/** The sample of a line without its line break; undefined when it is none. */
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
  return value === null ? undefined : { name, labels, value: readValue(value) };
}

/** Where the labels end. */
function readLabels(line: string, from: number, labels: (readonly [string, string])[]): number | undefined {
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

function readValue([, digits, infinite, nothing]: RegExpExecArray): number {
  if (nothing !== undefined) return Number.NaN;
  if (infinite !== undefined) return infinite.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(digits);
}
