/** A document as Paperless-ngx has it at this moment, and changes of it. */
import { readFull, readId, type FullDocument, type Wrong } from "./decode.ts";

/** A note on a document. */
export interface LiveNote {
  readonly id: number;
  readonly note: string;
}

export interface LiveDocument extends FullDocument {
  readonly notes: readonly LiveNote[];
}

/** Fields to set; those that are absent stay. Null takes a reference away. */
export interface DocumentChange {
  readonly title?: string;
  readonly correspondent?: number | null;
  readonly documentType?: number | null;
  /** The whole list. The server adds the ancestors of nested tags. */
  readonly tags?: readonly number[];
  /** `YYYY-MM-DD`. */
  readonly created?: string;
}

/** The members that `readLive` reads. */
export const LIVE_FIELDS =
  "id,modified,tags,correspondent,document_type,versions,title,content,created,added,original_file_name,notes";

export function readLive(value: unknown): LiveDocument | Wrong {
  const full = readFull(value);
  if ("wrong" in full) return full;
  const { notes } = value as { readonly notes?: unknown };
  return { ...full, notes: readNotes(notes) };
}

/** Notes of a document; what is no note is left out. */
export function readNotes(value: unknown): LiveNote[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    const id = readId(one);
    const { note } = (one ?? {}) as { readonly note?: unknown };
    return id === undefined || typeof note !== "string" ? [] : [{ id, note }];
  });
}

/** What of a change the document does not show yet, as the body of a PATCH; undefined for nothing. */
export function missingChange(
  live: LiveDocument,
  change: DocumentChange,
): Readonly<Record<string, unknown>> | undefined {
  const body: Record<string, unknown> = {};
  const { title, correspondent, documentType, tags, created } = change;
  if (title !== undefined && title !== live.title) body["title"] = title;
  if (correspondent !== undefined && correspondent !== (live.correspondent ?? null))
    body["correspondent"] = correspondent;
  if (documentType !== undefined && documentType !== (live.documentType ?? null))
    body["document_type"] = documentType;
  if (tags !== undefined && !areSame(tags, live.tags)) body["tags"] = tags;
  if (created !== undefined && created !== live.created?.slice(0, 10)) body["created"] = created;
  return Object.keys(body).length === 0 ? undefined : body;
}

function areSame(a: readonly number[], b: readonly number[]): boolean {
  const [one, other] = [new Set(a), new Set(b)];
  return one.size === other.size && a.every((id) => other.has(id));
}
