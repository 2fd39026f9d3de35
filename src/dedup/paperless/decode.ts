/**
 * Objects of the Paperless-ngx API as values of known types. Unknown members are ignored: releases
 * add some.
 */
import { instantOf } from "./instants.ts";

/** Ids that label a document. */
export interface ReferenceIds {
  readonly tags: readonly number[];
  readonly correspondent: number | undefined;
  readonly documentType: number | undefined;
}

/** A document as the list of all documents shows it, without its text. */
export interface ListedDocument extends ReferenceIds {
  readonly id: number;
  /** Changes with every change of text, title, dates or file. */
  readonly version: string;
}

/** A document with its text. */
export interface FullDocument extends ListedDocument {
  readonly title: string;
  readonly content: string;
  readonly created: string | undefined;
  readonly added: string | undefined;
  readonly modified: string | undefined;
  readonly originalFileName: string | undefined;
  /** Absent before 2.12, null for files without pages. */
  readonly pageCount: number | undefined;
}

/** A tag, correspondent or document type. */
export interface NamedObject {
  readonly id: number;
  readonly name: string;
}

/** What is wrong with an object: the end of a sentence. */
export interface Wrong {
  readonly wrong: string;
}

/** The members that `readListed` reads; servers without file versions ignore the last. */
export const LISTED_FIELDS = "id,modified,tags,correspondent,document_type,versions";
/** The members that `readFull` reads. */
export const FULL_FIELDS = `${LISTED_FIELDS},title,content,created,added,original_file_name,page_count`;

/** Ids are 32-bit there, and in the store. */
const MAX_ID = 2 ** 31 - 1;
const MAX_TAGS = 10_000;

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Members)
    : undefined;
}

function isId(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_ID;
}

/** The id of any object; undefined when it has none. */
export function readId(value: unknown): number | undefined {
  const id = membersOf(value)?.["id"];
  return isId(id) ? id : undefined;
}

export function readListed(value: unknown): ListedDocument | Wrong {
  const members = membersOf(value);
  if (members === undefined) return { wrong: "is no object" };
  const { id, modified, tags, correspondent, document_type: documentType, versions } = members;
  if (!isId(id)) return { wrong: "has an id that is no positive whole number" };
  const modifiedUs = typeof modified === "string" ? instantOf(modified) : undefined;
  if (modifiedUs === undefined) return { wrong: "has a modified that is no time with an offset" };
  if (!Array.isArray(tags) || tags.length > MAX_TAGS || !tags.every(isId))
    return { wrong: "has tags that are no list of ids" };
  if (!isReference(correspondent)) return { wrong: "has a correspondent that is no id" };
  if (!isReference(documentType)) return { wrong: "has a document_type that is no id" };
  return {
    id,
    version: `${modifiedUs}/${newestVersion(versions)}`,
    tags,
    correspondent: correspondent ?? undefined,
    documentType: documentType ?? undefined,
  };
}

export function readFull(value: unknown): FullDocument | Wrong {
  const listed = readListed(value);
  if ("wrong" in listed) return listed;
  const { title, content, created, added, modified, ...others } = value as Members;
  const { original_file_name: file, page_count: pageCount } = others;
  if (typeof content !== "string") return { wrong: "has content that is no text" };
  if (typeof title !== "string") return { wrong: "has a title that is no text" };
  return {
    ...listed,
    title,
    content,
    created: textOf(created),
    added: textOf(added),
    modified: textOf(modified),
    originalFileName: textOf(file),
    pageCount: isId(pageCount) ? pageCount : undefined,
  };
}

export function readNamed(value: unknown): NamedObject | Wrong {
  const members = membersOf(value);
  const { id, name } = members ?? {};
  return isId(id) && typeof name === "string" ? { id, name } : { wrong: "has no id or no name" };
}

function isReference(value: unknown): value is number | null | undefined {
  return value === null || value === undefined || isId(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Uploading a newer file may change the text without changing `modified`. */
function newestVersion(versions: unknown): number {
  if (!Array.isArray(versions)) return 0;
  return versions.reduce<number>((newest, one) => Math.max(newest, readId(one) ?? 0), 0);
}
