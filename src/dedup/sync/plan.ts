/** What becomes of one document: a new row, a changed one, or nothing. Pure. */
import { create, equals } from "@bufbuild/protobuf";
import { DocumentRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DigestedDocument, DocumentLabels } from "../archives/archive.ts";
import { fingerprintOf } from "./fingerprint.ts";

/** A row to write. */
export interface Plan {
  /** Its `syncedAtMs` is set in the transaction that writes it. */
  readonly row: DocumentRow;
  /** The row that stands now, undefined for a new document. */
  readonly before: DocumentRow | undefined;
  /** The normalised text differs from the stored one: the next analysis compares it again. */
  readonly newText: boolean;
  /**
   * The text as it is read may differ from the stored one, in its case or white space alone, too: it
   * is stored.
   */
  readonly storesText: boolean;
}

/** What a new row needs beside the document. */
export interface Circumstances {
  readonly archive: string;
  readonly serial: number;
  /** Start of the sync. */
  readonly startedAtMs: number;
  /** Number and id for a document that is not known. */
  readonly name: () => { readonly docNo: number; readonly id: string };
}

/**
 * The row for a document; undefined when it equals the current one. New text waits for the next
 * analysis.
 */
export function planRow(
  before: DocumentRow | undefined,
  item: DigestedDocument,
  circumstances: Circumstances,
): Plan | undefined {
  const { document, digest } = item;
  const contentHash = digest.wordCount > 0 ? digest.hash : new Uint8Array(0);
  const newText = before === undefined || Buffer.compare(before.contentHash, contentHash) !== 0;
  const { docNo, id } = before ?? circumstances.name();
  const row = create(DocumentRowSchema, {
    docNo,
    id,
    archive: circumstances.archive,
    archiveRef: document.ref,
    title: document.title,
    tags: [...document.tags],
    fingerprint: fingerprintOf(document.version),
    contentHash,
    wordCount: digest.wordCount,
    pending: newText || before.pending,
    seenIn: circumstances.serial,
    truncated: document.truncated === true,
    firstSeenAtMs: before === undefined ? circumstances.startedAtMs : before.firstSeenAtMs,
    ...present("pageCount", document.pageCount),
    ...present("paperlessId", document.paperlessId),
    ...present("correspondent", document.correspondent),
    ...present("documentType", document.documentType),
    ...present("createdDate", document.createdDate),
    ...present("addedDate", document.addedDate),
    ...present("modifiedDate", document.modifiedDate),
  });
  if (before !== undefined && saysTheSame(before, row)) return undefined;
  // A version that differs came with a text that may differ.
  const storesText =
    before === undefined || newText || Buffer.compare(before.fingerprint, row.fingerprint) !== 0;
  return { row, before, newText, storesText };
}

/** The row with the labels that its archive shows now; undefined when it has them already. */
export function planLabels(
  before: DocumentRow,
  labels: DocumentLabels,
  serial: number,
): Plan | undefined {
  const isSame =
    before.correspondent === labels.correspondent &&
    before.documentType === labels.documentType &&
    before.tags.length === labels.tags.length &&
    before.tags.every((tag, at) => tag === labels.tags[at]);
  if (isSame) return undefined;
  const { correspondent: _correspondent, documentType: _documentType, ...rest } = before;
  const row = create(DocumentRowSchema, {
    ...rest,
    tags: [...labels.tags],
    seenIn: serial,
    ...present("correspondent", labels.correspondent),
    ...present("documentType", labels.documentType),
  });
  return { row, before, newText: false, storesText: false };
}

function present<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

// When it was synced is no reason to write it again.
function saysTheSame(before: DocumentRow, after: DocumentRow): boolean {
  return equals(
    DocumentRowSchema,
    create(DocumentRowSchema, { ...before, syncedAtMs: after.syncedAtMs, seenIn: after.seenIn }),
    after,
  );
}
