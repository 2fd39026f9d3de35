/**
 * The list of documents in memory: one column per filter, filled by a scan when the store opens and
 * changed after each durable write. A query walks the kept order once, so every filter, total and
 * page costs one pass.
 */
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { assert } from "../../kernel/base/errors.ts";
import { createOrder } from "./order.ts";
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
  readonly size: number;
  /** Documents that wait for the next analysis. */
  readonly pending: number;
  /** Documents of one archive. */
  sizeOf(archive: string): number;
  /** Names of all archives that have documents. */
  archives(): string[];
}

interface Columns {
  readonly docNo: number[];
  readonly id: string[];
  readonly rank: number[];
  readonly archive: number[];
  readonly paperlessId: number[];
  readonly correspondent: number[];
  readonly documentType: number[];
  readonly tags: number[];
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
  };
  const columns: Columns = {
    docNo: [],
    id: [],
    rank: [],
    archive: [],
    paperlessId: [],
    correspondent: [],
    documentType: [],
    tags: [],
    pending: [],
    title: [],
  };
  const slots = new Map<number, number>();
  const order = createOrder((left, right) => compareSlots(columns, names.archive, left, right));
  let pending = 0;

  const fill = (slot: number, row: DocumentRow): void => {
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
      row.tags.length === 0 ? undefined : row.tags.map(fold).join("\0"),
    );
    columns.pending[slot] = Number(row.pending);
    columns.title[slot] = fold(row.title);
  };

  return {
    put(row) {
      const known = slots.get(row.docNo);
      if (known !== undefined) return fill(known, row);
      const slot = order.take();
      fill(slot, row);
      slots.set(row.docNo, slot);
      order.add(slot);
    },
    remove(docNo) {
      const slot = slots.get(docNo);
      if (slot === undefined) return;
      pending -= columns.pending[slot] ?? 0;
      columns.pending[slot] = 0;
      for (const [vocabulary, column] of [
        [names.archive, columns.archive],
        [names.correspondent, columns.correspondent],
        [names.documentType, columns.documentType],
        [names.tags, columns.tags],
      ] as const) {
        rename(vocabulary, column, slot, undefined);
      }
      slots.delete(docNo);
      order.drop(slot);
    },
    select: (filter, page) => selectPage(columns, names, order.slots(), filter, page),
    get size() {
      return slots.size;
    },
    get pending() {
      return pending;
    },
    sizeOf: (archive) => names.archive.count(archive),
    archives: () => names.archive.all(),
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
      names.tags.codes((tags) => tags.split("\0").some((tag) => tag.includes(part))),
    );
    keeps.push((slot) => codes.has(at(columns.tags, slot)));
  }
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
