/**
 * The list of groups in memory: one kept order for each way of sorting, filled when the store opens
 * and changed after each durable write. Holds the generation that readers see and the one that is
 * being written.
 */
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Order } from "../documents/order.ts";
import { createOrder } from "../documents/order.ts";
import { statusOf } from "./decision.ts";
import { compareText } from "./vertices.ts";

/** What a list is sorted by; equal values are in order of the id. */
export type GroupOrder = "confidence" | "createdAt" | "memberCount";

/** Which groups to list. Bounds are inclusive. */
export interface GroupFilter {
  readonly minConfidence?: number | undefined;
  readonly maxConfidence?: number | undefined;
  readonly statuses: ReadonlySet<GroupStatus>;
}

/** One page of group ids. */
interface GroupPage {
  readonly ids: readonly string[];
  readonly total: number;
  /** Members of all matching groups together, those of deleted ones not counted. */
  readonly totalMemberCount: number;
}

export interface GroupIndex {
  /** Adds a group or takes over its changed columns. */
  put(generation: number, row: GroupRow, decision: DecisionRow): void;
  remove(generation: number, id: string): void;
  /** Lets readers see a generation; forgets the ones before. */
  show(generation: number): void;
  /** Forgets a generation, e.g. one that was left half written. */
  forget(generation: number): void;
  select(
    filter: GroupFilter,
    sort: { readonly by: GroupOrder; readonly descending: boolean },
    page: { readonly offset: number; readonly limit: number },
  ): GroupPage;
  /** Groups of any status that readers see. */
  readonly size: number;
}

/** An empty list. */
export function createGroupIndex(): GroupIndex {
  const views = new Map<number, View>();
  let shown = 0;
  const viewOf = (generation: number): View => {
    const view = views.get(generation) ?? createView();
    views.set(generation, view);
    return view;
  };
  return {
    put: (generation, row, decision) => {
      const status = statusOf(row, decision);
      viewOf(generation).put({
        id: row.id,
        status,
        confidence: row.confidence,
        createdAt: decision.createdAtMs,
        memberCount: status === GroupStatus.DELETED ? 0 : row.members.length,
      });
    },
    remove: (generation, id) => viewOf(generation).remove(id),
    show(generation) {
      shown = generation;
      for (const old of views.keys()) if (old < generation) views.delete(old);
    },
    forget: (generation) => void views.delete(generation),
    select: (filter, sort, page) => viewOf(shown).select(filter, sort, page),
    get size() {
      return viewOf(shown).size;
    },
  };
}

interface Entry {
  readonly id: string;
  readonly status: GroupStatus;
  readonly confidence: number;
  readonly createdAt: number;
  readonly memberCount: number;
}

interface View {
  put(entry: Entry): void;
  remove(id: string): void;
  select: GroupIndex["select"];
  readonly size: number;
}

/**
 * The groups of one generation. A changed group takes a new slot, since an order must not change
 * below its slots.
 */
function createView(): View {
  const slots = new Map<string, Record<GroupOrder, number>>();
  const columns: Record<GroupOrder, Entry[]> = { confidence: [], createdAt: [], memberCount: [] };
  const orderBy = (by: GroupOrder): Order =>
    createOrder((left, right) =>
      compareEntries(by, columns[by][left] as Entry, columns[by][right] as Entry),
    );
  const orders: Record<GroupOrder, Order> = {
    confidence: orderBy("confidence"),
    createdAt: orderBy("createdAt"),
    memberCount: orderBy("memberCount"),
  };
  const add = (by: GroupOrder, entry: Entry): number => {
    const slot = orders[by].take();
    columns[by][slot] = entry;
    orders[by].add(slot);
    return slot;
  };
  const remove = (id: string): void => {
    const old = slots.get(id);
    if (!old) return;
    orders.confidence.drop(old.confidence);
    orders.createdAt.drop(old.createdAt);
    orders.memberCount.drop(old.memberCount);
    slots.delete(id);
  };
  return {
    put(entry) {
      remove(entry.id);
      slots.set(entry.id, {
        confidence: add("confidence", entry),
        createdAt: add("createdAt", entry),
        memberCount: add("memberCount", entry),
      });
    },
    remove,
    select: (filter, sort, page) =>
      selectPage(inOrder(orders[sort.by].slots(), columns[sort.by], sort), filter, page),
    get size() {
      return slots.size;
    },
  };
}

function compareEntries(by: GroupOrder, a: Entry, b: Entry): number {
  return a[by] - b[by] || compareText(a.id, b.id);
}

/**
 * The entries as sorted. Descending, equal values still stand in order of the id: runs of them are
 * walked forwards.
 */
function* inOrder(
  slots: Uint32Array,
  column: readonly Entry[],
  sort: { readonly by: GroupOrder; readonly descending: boolean },
): Generator<Entry> {
  if (!sort.descending) {
    for (const slot of slots) yield column[slot] as Entry;
    return;
  }
  for (let end = slots.length; end > 0;) {
    const value = column[slots[end - 1] as number]?.[sort.by];
    let start = end - 1;
    while (start > 0 && column[slots[start - 1] as number]?.[sort.by] === value) start--;
    for (let at = start; at < end; at++) yield column[slots[at] as number] as Entry;
    end = start;
  }
}

function selectPage(
  entries: Iterable<Entry>,
  filter: GroupFilter,
  page: { readonly offset: number; readonly limit: number },
): GroupPage {
  const { minConfidence = -Infinity, maxConfidence = Infinity, statuses } = filter;
  const ids: string[] = [];
  let total = 0;
  let totalMemberCount = 0;
  for (const { id, status, confidence, memberCount } of entries) {
    if (confidence < minConfidence || confidence > maxConfidence || !statuses.has(status)) continue;
    if (total >= page.offset && ids.length < page.limit) ids.push(id);
    total += 1;
    totalMemberCount += memberCount;
  }
  return { ids, total, totalMemberCount };
}
