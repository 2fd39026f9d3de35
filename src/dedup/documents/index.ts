/**
 * The list of documents in memory: one column per filter, filled by a scan when the store opens and
 * changed after each durable write. A query walks the kept order once, so every filter, total and
 * page costs one pass.
 */
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { assert } from "../../kernel/base/errors.ts";
import { createOrder } from "./order.ts";
import {
  countDocuments,
  createLengthCounts,
  monthOf,
  TAG_SEPARATOR,
  type DocumentStatistics,
} from "./statistics.ts";
import { createVocabulary } from "./vocabulary.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Which documents to list. An absent filter keeps everything. */
export interface DocumentFilter {
  /** Equal to the name. */
  readonly correspondent?: string;
  /** Equal to the name. */
  readonly documentType?: string;
  /** Part of a tag's name, whatever the case. */
  readonly tag?: string;
  /** Part of the title, whatever the case. */
  readonly search?: string;
  readonly pending?: boolean;
  /** First stored by a sync that started then or later, in milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Keeps those that an analysis leaves out, or compares only in part. */
  readonly skipped?: { readonly minWords: number; readonly reason?: DocumentSkip | undefined };
  readonly archive?: string;
  /** Keeps the documents for which it is true. */
  readonly keep?: (docNo: number) => boolean;
}

/** Why an analysis leaves a document out; `cut` ones are compared by their beginning. */
export type DocumentSkip = "no_text" | "too_short" | "cut";

/** What decides whether a document is left out. */
export interface SkipFacts {
  readonly hasText: boolean;
  readonly wordCount: number;
  readonly truncated: boolean;
}

/** The reason that counts; undefined for a document that is compared as a whole. */
export function skipOf(
  { hasText, wordCount, truncated }: SkipFacts,
  minWords: number,
): DocumentSkip | undefined {
  if (!hasText || wordCount === 0) return "no_text";
  if (wordCount < minWords) return "too_short";
  return truncated ? "cut" : undefined;
}

/** One page of document numbers and how many match in all. */
interface DocumentPage {
  readonly docNos: readonly number[];
  readonly total: number;
}

export interface DocumentIndex {
  /** Adds a document or takes over its changed columns. */
  put(row: DocumentRow): void;
  remove(docNo: number): void;
  /** In the order of archives, then paperlessId descending, then id. */
  select(
    filter: DocumentFilter,
    page: { readonly offset: number; readonly limit: number },
  ): DocumentPage;
  /** What an analysis needs of each document, in the order in which they were added. */
  texts(): Generator<IndexedText>;
  /** When the document was last stored, in milliseconds since 1970. */
  syncedAtMs(docNo: number): number | undefined;
  /** Whether a document was stored or removed after `revision` had this value. */
  changedSince(docNo: number, revision: number): boolean;
  readonly size: number;
  /** Documents that wait for the next analysis. */
  readonly pending: number;
  /** Documents of one archive. */
  sizeOf(archive: string): number;
  /** Names of all archives that have documents. */
  archives(): string[];
  correspondent(docNo: number): string | undefined;
  /** Counts over all documents; made once a revision, in one pass over the names in use. */
  statistics(): DocumentStatistics;
  /** Grows with each change. */
  readonly revision: number;
  /** Grows with each document that comes, goes or has another text. */
  readonly textRevision: number;
}

/** The text of a document. */
interface IndexedText {
  readonly docNo: number;
  /** SHA-256 of the normalised text, a copy; empty without content. */
  readonly contentHash: Uint8Array;
  readonly wordCount: number;
  readonly pending: boolean;
}

interface Columns {
  readonly wordCount: number[];
  readonly syncedAtMs: number[];
  /** The revision that the last change of the document made. */
  readonly revision: number[];
  readonly firstSeenAtMs: number[];
  readonly truncated: boolean[];
  readonly hasText: boolean[];
  readonly docNo: number[];
  readonly id: string[];
  readonly rank: number[];
  readonly archive: number[];
  readonly paperlessId: number[];
  readonly correspondent: number[];
  readonly documentType: number[];
  readonly tags: number[];
  readonly addedMonth: number[];
  readonly pending: number[];
  readonly title: string[];
}

const NONE = 0;

/**
 * A list that sorts archives as configured; documents of archives it does not know come last, by
 * archive name.
 */
export function createDocumentIndex(archiveOrder: readonly string[]): DocumentIndex {
  const ranks = new Map(archiveOrder.map((name, rank) => [name, rank]));
  const names = {
    archive: createVocabulary(),
    correspondent: createVocabulary(),
    documentType: createVocabulary(),
    tags: createVocabulary(),
    addedMonth: createVocabulary(),
  };
  const hashes = createHashColumn();
  const columns: Columns = {
    wordCount: [],
    syncedAtMs: [],
    revision: [],
    firstSeenAtMs: [],
    truncated: [],
    hasText: [],
    docNo: [],
    id: [],
    rank: [],
    archive: [],
    paperlessId: [],
    correspondent: [],
    documentType: [],
    tags: [],
    addedMonth: [],
    pending: [],
    title: [],
  };
  const slots = new Map<number, number>();
  const order = createOrder((left, right) => compareSlots(columns, names.archive, left, right));
  const lengths = createLengthCounts();
  let pending = 0;
  let revision = 0;
  let textRevision = 0;
  let counted: { readonly revision: number; readonly statistics: DocumentStatistics } | undefined;

  const setText = (slot: number, wordCount: number, contentHash: Uint8Array): void => {
    if (columns.wordCount[slot] !== wordCount || !hashes.is(slot, contentHash)) textRevision += 1;
    if (hashes.has(slot)) lengths.remove(at(columns.wordCount, slot));
    columns.wordCount[slot] = wordCount;
    hashes.set(slot, contentHash);
    if (hashes.has(slot)) lengths.add(wordCount);
  };

  const fill = (slot: number, row: DocumentRow): void => {
    revision += 1;
    pending += Number(row.pending) - (columns.pending[slot] ?? 0);
    columns.docNo[slot] = row.docNo;
    columns.id[slot] = row.id;
    columns.rank[slot] = ranks.get(row.archive) ?? archiveOrder.length;
    rename(names.archive, columns.archive, slot, row.archive);
    columns.paperlessId[slot] = row.paperlessId ?? -1;
    rename(names.correspondent, columns.correspondent, slot, row.correspondent);
    rename(names.documentType, columns.documentType, slot, row.documentType);
    rename(
      names.tags,
      columns.tags,
      slot,
      row.tags.length === 0 ? undefined : row.tags.join(TAG_SEPARATOR),
    );
    rename(names.addedMonth, columns.addedMonth, slot, monthOf(row.addedDate));
    columns.pending[slot] = Number(row.pending);
    setText(slot, row.wordCount, row.contentHash);
    columns.syncedAtMs[slot] = row.syncedAtMs;
    columns.revision[slot] = revision;
    columns.firstSeenAtMs[slot] = firstSeenAtMs(row);
    columns.truncated[slot] = row.truncated;
    columns.hasText[slot] = row.contentHash.length > 0;
    columns.title[slot] = fold(row.title);
  };

  return {
    put(row) {
      const known = slots.get(row.docNo);
      if (known !== undefined) return fill(known, row);
      const slot = order.take();
      textRevision += 1;
      fill(slot, row);
      slots.set(row.docNo, slot);
      order.add(slot);
    },
    remove(docNo) {
      const slot = slots.get(docNo);
      if (slot === undefined) return;
      revision += 1;
      textRevision += 1;
      pending -= columns.pending[slot] ?? 0;
      columns.pending[slot] = 0;
      setText(slot, 0, NO_HASH);
      for (const [vocabulary, column] of [
        [names.archive, columns.archive],
        [names.correspondent, columns.correspondent],
        [names.documentType, columns.documentType],
        [names.tags, columns.tags],
        [names.addedMonth, columns.addedMonth],
      ] as const) {
        rename(vocabulary, column, slot, undefined);
      }
      slots.delete(docNo);
      order.drop(slot);
    },
    select: (filter, page) => selectPage(columns, names, order.slots(), filter, page),
    *texts() {
      for (const [docNo, slot] of slots)
        yield {
          docNo,
          contentHash: hashes.get(slot),
          wordCount: columns.wordCount[slot] ?? 0,
          pending: columns.pending[slot] === 1,
        };
    },
    syncedAtMs(docNo) {
      const slot = slots.get(docNo);
      return slot === undefined ? undefined : columns.syncedAtMs[slot];
    },
    changedSince(docNo, since) {
      const slot = slots.get(docNo);
      return slot === undefined || at(columns.revision, slot) > since;
    },
    get size() {
      return slots.size;
    },
    get pending() {
      return pending;
    },
    sizeOf: (archive) => names.archive.count(archive),
    archives: () => names.archive.all(),
    correspondent(docNo) {
      const slot = slots.get(docNo);
      const code = slot === undefined ? NONE : at(columns.correspondent, slot);
      return code === NONE ? undefined : names.correspondent.text(code);
    },
    statistics() {
      if (counted?.revision !== revision)
        counted = {
          revision,
          statistics: countDocuments({ names, pending, size: slots.size, lengths }),
        };
      return counted.statistics;
    },
    get revision() {
      return revision;
    },
    get textRevision() {
      return textRevision;
    },
  };
}

/** Rows of earlier releases have only the sync that stored them last. */
export function firstSeenAtMs(row: Pick<DocumentRow, "firstSeenAtMs" | "syncedAtMs">): number {
  return row.firstSeenAtMs === 0 ? row.syncedAtMs : row.firstSeenAtMs;
}

const HASH_BYTES = 32;
const NO_HASH = new Uint8Array(0);

/** A hash or nothing for each slot, 33 bytes. */
function createHashColumn(): {
  set(slot: number, hash: Uint8Array): void;
  get(slot: number): Uint8Array;
  has(slot: number): boolean;
  /** Whether the slot has this hash, or none when it is empty. */
  is(slot: number, hash: Uint8Array): boolean;
} {
  let bytes = new Uint8Array(0);
  let known = new Uint8Array(0);
  return {
    set(slot, hash) {
      if (slot >= known.length) {
        const capacity = Math.max(1_024, slot + 1, known.length * 2);
        const [oldBytes, oldKnown] = [bytes, known];
        bytes = new Uint8Array(capacity * HASH_BYTES);
        known = new Uint8Array(capacity);
        bytes.set(oldBytes);
        known.set(oldKnown);
      }
      known[slot] = hash.length === HASH_BYTES ? 1 : 0;
      if (known[slot] === 1) bytes.set(hash, slot * HASH_BYTES);
    },
    get: (slot) =>
      known[slot] === 1 ? bytes.slice(slot * HASH_BYTES, (slot + 1) * HASH_BYTES) : NO_HASH,
    has: (slot) => known[slot] === 1,
    is(slot, hash) {
      if (known[slot] !== 1) return hash.length !== HASH_BYTES;
      return Buffer.compare(bytes.subarray(slot * HASH_BYTES, (slot + 1) * HASH_BYTES), hash) === 0;
    },
  };
}

/** The row of a slot has another name now, or none. */
function rename(
  vocabulary: Vocabulary,
  column: number[],
  slot: number,
  name: string | undefined,
): void {
  const before = column[slot] ?? NONE;
  column[slot] = name === undefined ? NONE : vocabulary.take(name);
  vocabulary.release(before);
}

function compareSlots(columns: Columns, archives: Vocabulary, left: number, right: number): number {
  const byRank = at(columns.rank, left) - at(columns.rank, right);
  if (byRank !== 0) return byRank;
  const leftArchive = at(columns.archive, left);
  const rightArchive = at(columns.archive, right);
  if (leftArchive !== rightArchive)
    return archives.text(leftArchive) < archives.text(rightArchive) ? -1 : 1;
  const byNumber = at(columns.paperlessId, right) - at(columns.paperlessId, left);
  if (byNumber !== 0) return byNumber;
  const leftId = columns.id[left] ?? "";
  const rightId = columns.id[right] ?? "";
  return leftId < rightId ? -1 : leftId > rightId ? 1 : 0;
}

type Names = {
  readonly archive: Vocabulary;
  readonly correspondent: Vocabulary;
  readonly documentType: Vocabulary;
  readonly tags: Vocabulary;
};

function selectPage(
  columns: Columns,
  names: Names,
  order: Uint32Array,
  filter: DocumentFilter,
  page: { offset: number; limit: number },
): DocumentPage {
  const keeps = predicates(columns, names, filter);
  const docNos: number[] = [];
  let total = 0;
  const end = page.offset + page.limit;
  for (const slot of order) {
    if (!keeps.every((keep) => keep(slot))) continue;
    if (total >= page.offset && total < end) docNos.push(at(columns.docNo, slot));
    total += 1;
  }
  return { docNos, total };
}

// Names are looked up once a query; a row then costs one comparison of numbers.
function predicates(
  columns: Columns,
  names: Names,
  filter: DocumentFilter,
): ((slot: number) => boolean)[] {
  const keeps: ((slot: number) => boolean)[] = [];
  const equal = (column: number[], code: number | undefined): void => {
    keeps.push((slot) => code !== undefined && column[slot] === code);
  };
  if (filter.pending !== undefined) equal(columns.pending, Number(filter.pending));
  if (filter.correspondent !== undefined)
    equal(columns.correspondent, names.correspondent.find(filter.correspondent));
  if (filter.documentType !== undefined)
    equal(columns.documentType, names.documentType.find(filter.documentType));
  if (filter.tag !== undefined) {
    const part = fold(filter.tag);
    const codes = new Set(
      names.tags.codes((tags) =>
        fold(tags)
          .split(TAG_SEPARATOR)
          .some((tag) => tag.includes(part)),
      ),
    );
    keeps.push((slot) => codes.has(at(columns.tags, slot)));
  }
  const { keep, sinceMs, skipped } = filter;
  if (filter.archive !== undefined) equal(columns.archive, names.archive.find(filter.archive));
  if (sinceMs !== undefined) keeps.push((slot) => at(columns.firstSeenAtMs, slot) >= sinceMs);
  if (skipped !== undefined)
    keeps.push((slot) => {
      const facts = {
        hasText: columns.hasText[slot] === true,
        wordCount: at(columns.wordCount, slot),
        truncated: columns.truncated[slot] === true,
      };
      const reason = skipOf(facts, skipped.minWords);
      return reason !== undefined && (skipped.reason === undefined || reason === skipped.reason);
    });
  if (keep !== undefined) keeps.push((slot) => keep(at(columns.docNo, slot)));
  if (filter.search !== undefined) {
    const part = fold(filter.search);
    keeps.push((slot) => (columns.title[slot] ?? "").includes(part));
  }
  return keeps;
}

function fold(text: string): string {
  return text.toLowerCase();
}

function at(column: readonly number[], slot: number): number {
  const value = column[slot];
  assert(value !== undefined, "an ordered slot has its columns");
  return value;
}
