/** The shape of a model's answer, and its normalisation. */

interface Confidence {
  readonly correspondent: number;
  readonly documentType: number;
  readonly tags: number;
  readonly title: number | undefined;
}

/** What a model suggests. Absent: it is unknown. */
export interface Suggestion {
  readonly title: string | undefined;
  readonly correspondent: string | undefined;
  readonly documentType: string | undefined;
  readonly tags: readonly string[];
  readonly confidence: Confidence;
  readonly evidence: string;
}

const MAX_TAGS = 5;
/** Of a name in Paperless-ngx. */
const NAME_CHARACTERS = 128;
const EVIDENCE_CHARACTERS = 500;
/** A name is one line. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** The JSON Schema that is sent; every key is required, as strict structured output wants it. */
export function suggestionSchema(withTitle: boolean): Readonly<Record<string, unknown>> {
  const name = { type: ["string", "null"] };
  const share = { type: "number" };
  const fields = ["correspondent", "documentType", "tags", ...(withTitle ? ["title"] : [])];
  return {
    type: "object",
    additionalProperties: false,
    required: [...fields, "confidence", "evidence"],
    properties: {
      ...(withTitle ? { title: name } : {}),
      correspondent: name,
      documentType: name,
      tags: { type: "array", items: { type: "string" } },
      confidence: {
        type: "object",
        additionalProperties: false,
        required: fields,
        properties: Object.fromEntries(fields.map((field) => [field, share])),
      },
      evidence: { type: "string" },
    },
  };
}

/**
 * Reads an answer; undefined when it does not match the schema. Compatible servers without
 * structured output may wrap the object in a code fence.
 */
export function readSuggestion(text: string, withTitle: boolean): Suggestion | undefined {
  const value = parseObject(text);
  const confidence = value && readConfidence(value["confidence"], withTitle);
  if (value === undefined || confidence === undefined) return undefined;
  const { correspondent, documentType, title, tags, evidence } = value;
  if (![correspondent, documentType].every(isName) || (withTitle && !isName(title)))
    return undefined;
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === "string")) return undefined;
  return {
    title: withTitle ? cleanName(title) : undefined,
    correspondent: cleanName(correspondent),
    documentType: cleanName(documentType),
    tags: cleanTags(tags),
    confidence,
    evidence: typeof evidence === "string" ? cut(evidence, EVIDENCE_CHARACTERS) : "",
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const bare = /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(text)?.[1] ?? text;
  try {
    const value: unknown = JSON.parse(bare);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    // The caller reports the mismatch.
    return undefined;
  }
}

function readConfidence(value: unknown, withTitle: boolean): Confidence | undefined {
  const { correspondent, documentType, tags, title } = (value ?? {}) as Readonly<
    Record<string, unknown>
  >;
  if (!isShare(correspondent) || !isShare(documentType) || !isShare(tags)) return undefined;
  if (withTitle && !isShare(title)) return undefined;
  return { correspondent, documentType, tags, title: isShare(title) ? title : undefined };
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function isName(value: unknown): boolean {
  return value === null || typeof value === "string";
}

/** Undefined for nothing, and for `unknown`. */
function cleanName(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const name = cut(value.toWellFormed().replaceAll(CONTROL, " ").trim(), NAME_CHARACTERS).trim();
  return name === "" || /^(unknown|none|null|n\/a)$/i.test(name) ? undefined : name;
}

function cleanTags(values: readonly unknown[]): string[] {
  const tags = new Map<string, string>();
  for (const tag of values.map(cleanName))
    if (tag !== undefined && !tags.has(tag.toLowerCase())) tags.set(tag.toLowerCase(), tag);
  return [...tags.values()].slice(0, MAX_TAGS);
}

/** By characters, so that none is cut in two. */
function cut(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : Array.from(text.slice(0, limit * 2))
        .slice(0, limit)
        .join("");
}
