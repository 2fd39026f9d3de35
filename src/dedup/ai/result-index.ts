/**
 * All results in memory, with what lists filter and group by: filled by a scan when the store opens
 * and changed after each durable write.
 */
import type { AiResultStatus } from "../../gen/steward/dedup/v1/ai_pb.ts";
import type { AiResultRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { assert } from "../../kernel/base/errors.ts";
import { createOrder } from "../documents/order.ts";

/** What is kept of a result. */
export interface ResultEntry {
  readonly docNo: number;
  readonly id: string;
  /** A later result has a higher one, whatever the clock says. */
  readonly serial: number;
  /** Serial of the last run's result, also where that failed and this one stayed. */
  readonly processedSerial: number;
  readonly status: AiResultStatus;
  readonly createdAtMs: number;
  /** In lower case. */
  readonly title: string;
  readonly provider: string;
  readonly model: string;
  readonly correspondent: string | undefined;
  readonly documentType: string | undefined;
  readonly failureType: string | undefined;
  /** Mean of correspondent, document type and tags. */
  readonly confidence: number | undefined;
  /** Whether something suggested differs from what the document had. */
  readonly isChange: boolean;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** Absent fields keep every result. */
export interface ResultFilter {
  readonly statuses?: ReadonlySet<AiResultStatus>;
  readonly search?: string;
  readonly minConfidence?: number | undefined;
  readonly maxConfidence?: number | undefined;
  readonly provider?: string;
  readonly model?: string;
  readonly changedOnly?: boolean;
}

export interface ResultIndex {
  put(row: AiResultRow): void;
  remove(docNo: number): void;
  has(docNo: number): boolean;
  find(docNo: number): ResultEntry | undefined;
  /** Newest first; looks at all results of this moment and gives the event loop its turns. */
  select(filter: ResultFilter, signal?: AbortSignal): Promise<ResultEntry[]>;
  /** The newest ones from `offset` on, without looking at the others. */
  newest(page: { readonly offset: number; readonly limit: number }): ResultEntry[];
  /** The highest serial of either kind that a listed result has or had; 0 without any. */
  readonly newestSerial: number;
  /** Results in a state. */
  count(status: AiResultStatus): number;
  readonly size: number;
}

export function createResultIndex(): ResultIndex {
  const slots = new Map<number, number>();
  const entries: (ResultEntry | undefined)[] = [];
  const counts = new Map<AiResultStatus, number>();
  let newestSerial = 0;
  const at = (slot: number): ResultEntry => {
    const entry = entries[slot];
    assert(entry !== undefined, "a slot in order holds an entry");
    return entry;
  };
  const order = createOrder((left, right) => compareNewest(at(left), at(right)));
  const add = (status: AiResultStatus, delta: number): void =>
    void counts.set(status, (counts.get(status) ?? 0) + delta);
  const remove = (docNo: number): void => {
    const slot = slots.get(docNo);
    if (slot === undefined) return;
    add(at(slot).status, -1);
    slots.delete(docNo);
    order.drop(slot);
  };

  return {
    put(row) {
      const entry = entryOf(row);
      const slot = slots.get(entry.docNo);
      const present = slot === undefined ? undefined : at(slot);
      if (slot !== undefined && present?.createdAtMs === entry.createdAtMs) {
        add(present.status, -1);
        entries[slot] = entry;
      } else {
        remove(entry.docNo);
        const fresh = order.take();
        entries[fresh] = entry;
        slots.set(entry.docNo, fresh);
        order.add(fresh);
      }
      add(entry.status, 1);
      newestSerial = Math.max(newestSerial, entry.processedSerial);
    },
    remove,
    has: (docNo) => slots.has(docNo),
    find(docNo) {
      const slot = slots.get(docNo);
      return slot === undefined ? undefined : at(slot);
    },
    async select(filter, signal) {
      const turns = new Turns();
      const isWanted = predicate(filter);
      const found: ResultEntry[] = [];
      // Slots may get other entries while this gives way.
      for (const entry of Array.from(order.slots(), at)) {
        if (turns.over) await turns.give(signal);
        if (isWanted(entry)) found.push(entry);
      }
      return found;
    },
    newest: ({ offset, limit }) => Array.from(order.slots().subarray(offset, offset + limit), at),
    count: (status) => counts.get(status) ?? 0,
    get newestSerial() {
      return newestSerial;
    },
    get size() {
      return slots.size;
    },
  };
}

function compareNewest(left: ResultEntry, right: ResultEntry): number {
  return right.createdAtMs - left.createdAtMs || right.docNo - left.docNo;
}

function entryOf(row: AiResultRow): ResultEntry {
  const { docNo, id, serial, keptSerial, createdAtMs, provider, model, confidence } = row;
  return {
    docNo,
    id,
    serial,
    processedSerial: Math.max(serial, keptSerial),
    status: row.status as AiResultStatus,
    createdAtMs,
    title: row.documentTitle.toLowerCase(),
    provider,
    model,
    correspondent: row.suggestedCorrespondent,
    documentType: row.suggestedDocumentType,
    failureType: row.failureType,
    confidence:
      confidence === undefined
        ? undefined
        : (confidence.correspondent + confidence.documentType + confidence.tags) / 3,
    isChange: isChange(row),
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
  };
}

function isChange(row: AiResultRow): boolean {
  const { suggestedCorrespondent, suggestedDocumentType, suggestedTags, currentTags } = row;
  return (
    (suggestedCorrespondent !== undefined && suggestedCorrespondent !== row.currentCorrespondent) ||
    (suggestedDocumentType !== undefined && suggestedDocumentType !== row.currentDocumentType) ||
    suggestedTags.some((tag) => !currentTags.includes(tag)) ||
    (row.suggestedTitle !== undefined && row.suggestedTitle !== row.documentTitle)
  );
}

function predicate(filter: ResultFilter): (entry: ResultEntry) => boolean {
  const { statuses, minConfidence, maxConfidence, provider, model, changedOnly } = filter;
  const search = filter.search?.toLowerCase();
  return (entry) =>
    (statuses === undefined || statuses.has(entry.status)) &&
    (search === undefined || entry.title.includes(search)) &&
    (minConfidence === undefined || (entry.confidence ?? -1) >= minConfidence) &&
    (maxConfidence === undefined || (entry.confidence ?? 2) <= maxConfidence) &&
    (provider === undefined || entry.provider === provider) &&
    (model === undefined || entry.model === model) &&
    (changedOnly !== true || entry.isChange);
}
