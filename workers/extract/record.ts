/** The value of one JSON line to the fields of a document, or what is wrong with it. */
import { refFits } from "./refs.ts";
import { cleanTitle } from "./titles.ts";

/** Document fields of a line. */
export interface LineRecord {
  readonly id: string;
  readonly content: string;
  /** Where the content was found. */
  readonly field: string;
  readonly title?: string;
  readonly correspondent?: string;
  readonly documentType?: string;
  readonly tags: readonly string[];
  readonly createdDate?: string;
  readonly addedDate?: string;
  readonly modifiedDate?: string;
}

/** The fields of a line that are not the usual ones; undefined means the usual ones. */
export interface LineFields {
  readonly id?: string | undefined;
  readonly text?: string | undefined;
}

/** The names that the text may have, first found wins. */
export function textFieldsOf({ text }: LineFields): readonly string[] {
  return text === undefined ? ["content", "text"] : [text];
}

/** Field of the record and the names it may have in a line, first found wins. */
const texts = [
  ["title", ["title"]],
  ["correspondent", ["correspondent"]],
  ["documentType", ["documentType", "document_type"]],
  ["createdDate", ["createdDate", "created_date", "created"]],
  ["addedDate", ["addedDate", "added_date", "added"]],
  ["modifiedDate", ["modifiedDate", "modified_date", "modified"]],
] as const;

/** The longest name of a tag, correspondent or type that is kept. */
export const NAME_UNITS = 300;
/** The most tags of a document. */
export const TAGS = 200;

/**
 * The record of the value of line `number`, or the end of a sentence about the problem. Unknown
 * fields are ignored; null means absent. A line without an id has its number for one, unless the
 * name of the field was given.
 */
export function readRecord(
  value: unknown,
  number: number,
  names: LineFields,
): LineRecord | { readonly wrong: string } {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { wrong: `is not a JSON object but ${kindOf(value)}` };
  const fields = value as Readonly<Record<string, unknown>>;
  const id = isAbsent(fields[names.id ?? "id"])
    ? names.id === undefined
      ? String(number)
      : { wrong: `has no ${names.id}` }
    : readId(fields[names.id ?? "id"]);
  if (typeof id !== "string") return id;
  const textFields = textFieldsOf(names);
  const textField = textFields.find((name) => !isAbsent(fields[name]));
  if (textField === undefined) return { wrong: `has no ${textFields.join(" and no ")}` };
  const content = fields[textField];
  if (typeof content !== "string")
    return { wrong: `has ${textField} that is not text but ${kindOf(content)}` };
  const tags = readTags(fields["tags"]);
  if ("wrong" in tags) return tags;
  const record: Record<string, string> = {};
  for (const [name, spellings] of texts) {
    const spelling = spellings.find((each) => fields[each] !== undefined && fields[each] !== null);
    if (spelling === undefined) continue;
    const text = fields[spelling];
    if (typeof text !== "string")
      return { wrong: `has ${spelling} that is not text but ${kindOf(text)}` };
    if (text !== "")
      record[name] =
        name === "title"
          ? cleanTitle(text.toWellFormed())
          : text.toWellFormed().slice(0, NAME_UNITS);
  }
  return { ...record, id, content: content.toWellFormed(), field: textField, tags: tags.tags };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function readId(id: unknown): string | { readonly wrong: string } {
  if (typeof id === "number")
    return Number.isInteger(id) && !Number.isSafeInteger(id)
      ? { wrong: "has an id too large for a number; write it as text" }
      : String(id);
  if (typeof id !== "string")
    return { wrong: `has an id that is neither text nor number but ${kindOf(id)}` };
  if (id === "") return { wrong: "has an empty id" };
  return refFits(id) && id.isWellFormed()
    ? id
    : { wrong: "has an id that cannot be stored: too long, or with invalid characters" };
}

function readTags(tags: unknown): { readonly tags: string[] } | { readonly wrong: string } {
  if (tags === undefined || tags === null) return { tags: [] };
  if (!Array.isArray(tags)) return { wrong: `has tags that are not a list but ${kindOf(tags)}` };
  if (tags.length > TAGS) return { wrong: `has more than ${TAGS} tags` };
  const other: unknown = tags.find((tag) => typeof tag !== "string");
  if (other !== undefined) return { wrong: `has a tag that is not text but ${kindOf(other)}` };
  return { tags: (tags as string[]).map((tag) => tag.toWellFormed().slice(0, NAME_UNITS)) };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value)
    ? "a list"
    : typeof value === "object"
      ? "an object"
      : `a ${typeof value}`;
}
