/**
 * A reader of the text formats by their grammar, so that what was written can be compared with what
 * was meant.
 */

/** A sample as read back. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of a bucket in OpenMetrics; absent without one. */
  readonly exemplar?: {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
    readonly seconds: number;
  };
}

/** A document as read back. Throws at anything the grammar does not know. */
export interface Document {
  readonly samples: readonly Sample[];
  /** TYPE by family, in order. */
  readonly types: ReadonlyMap<string, string>;
  readonly helps: ReadonlyMap<string, string>;
}

/** Reads a document. */
export function parseExposition(text: string): Document {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  const helps = new Map<string, string>();
  if (!text.endsWith("\n")) throw new Error("the last line has no line feed");
  for (const line of text.slice(0, -1).split("\n")) {
    if (line === "# EOF") continue;
    const head = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/s.exec(line);
    if (head) {
      const [, what, name = "", rest = ""] = head;
      const map = what === "TYPE" ? types : helps;
      if (map.has(name)) throw new Error(`${what} of ${name} twice`);
      map.set(name, what === "TYPE" ? rest : unescape(rest));
    } else samples.push(parseSample(line));
  }
  return { samples, types, helps };
}

function parseSample(line: string): Sample {
  const match =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})? (\S+)(?: # \{([^}]*)\} (\S+) (\S+))?$/s.exec(
      line,
    );
  if (!match) throw new Error(`no sample: ${line}`);
  const [, name = "", inner = "", value = "", exemplar, ...numbers] = match;
  const [exemplarValue, seconds] = numbers.map(Number);
  const sample = {
    name,
    labels: parseLabels(inner),
    value:
      value === "+Inf"
        ? Number.POSITIVE_INFINITY
        : value === "-Inf"
          ? Number.NEGATIVE_INFINITY
          : Number(value),
  };
  return exemplar === undefined
    ? sample
    : {
        ...sample,
        exemplar: {
          labels: parseLabels(exemplar),
          value: exemplarValue ?? Number.NaN,
          seconds: seconds ?? Number.NaN,
        },
      };
}

function parseLabels(inner: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = inner;
  while (rest !== "") {
    const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(,|$)/.exec(rest);
    if (!label) throw new Error(`no labels: ${rest}`);
    if (Object.hasOwn(labels, label[1] ?? "")) throw new Error(`label ${label[1]} twice`);
    Object.defineProperty(labels, label[1] ?? "", {
      value: unescape(label[2] ?? ""),
      enumerable: true,
    });
    rest = rest.slice(label[0].length);
  }
  return labels;
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}
