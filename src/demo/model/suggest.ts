/** What the demo's model suggests for a document, from the form of its title. */

interface Suggested {
  readonly title?: string | null;
  readonly correspondent: string | null;
  readonly documentType: string | null;
  readonly tags: readonly string[];
  readonly confidence: Readonly<Record<string, number>>;
  readonly evidence: string;
}

interface Reading {
  readonly correspondent: string | null;
  readonly documentType: string;
  readonly tags: readonly string[];
  /** Of the correspondent; the rest follows from it. */
  readonly confidence: number;
}

/** The forms that the demo's titles have; the first that fits counts. */
const FORMS: readonly (readonly [RegExp, (parts: readonly string[]) => Reading])[] = [
  [
    /^(.+): invoice \S+$/,
    ([who = ""]) => ({
      correspondent: who,
      documentType: "Invoice",
      tags: ["household", who.split(" ").at(-1)?.toLowerCase() ?? ""],
      confidence: 0.96,
    }),
  ],
  [
    /^(.+): minutes of (.+)$/,
    ([who = ""]) => ({
      correspondent: who,
      documentType: "Minutes",
      tags: ["meetings"],
      confidence: 0.93,
    }),
  ],
  [
    /^Lease of (?:an? )?(.+), (.+)$/,
    ([what = "", who = ""]) => ({
      correspondent: who,
      documentType: "Contract",
      tags: ["rent", what.replaceAll(" ", "-")],
      confidence: 0.88,
    }),
  ],
  [
    /^(\S+) .+: instructions for use$/,
    ([brand = ""]) => ({
      correspondent: brand,
      documentType: "Manual",
      tags: ["devices"],
      confidence: 0.62,
    }),
  ],
  [
    /^(.+): letter to (.+)$/,
    ([subject = ""]) => ({
      correspondent: null,
      documentType: "Letter",
      tags: [subject.toLowerCase().replaceAll(" ", "-")],
      confidence: 0.45,
    }),
  ],
];

/** Every so many documents, by their text, the model refuses to answer. */
const REFUSED_OF = 23;

/** The answer to a prompt `Title: …\n\nText:\n…`; undefined: it refuses. */
export function suggest(prompt: string, withTitle: boolean): Suggested | undefined {
  const [, title = "", text = ""] = /^Title: (.*)\n\nText:\n([^]*)$/.exec(prompt) ?? [];
  if (sumOf(text) % REFUSED_OF === 0) return undefined;
  const { correspondent, documentType, tags, confidence } = readingOf(title);
  return {
    correspondent,
    documentType,
    tags,
    ...(withTitle ? { title } : {}),
    confidence: {
      correspondent: correspondent === null ? 0 : confidence,
      documentType: Math.min(0.99, confidence + 0.03),
      tags: confidence - 0.1,
      ...(withTitle ? { title: 0.9 } : {}),
    },
    evidence: text.trim().split("\n", 1)[0]?.slice(0, 160) ?? "",
  };
}

function readingOf(title: string): Reading {
  for (const [form, read] of FORMS) {
    const found = form.exec(title);
    if (found !== null) return read(found.slice(1));
  }
  return { correspondent: null, documentType: "Document", tags: [], confidence: 0.3 };
}

function sumOf(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) >>> 0;
  return sum;
}
