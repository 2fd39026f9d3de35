/**
 * The list of groups in memory: one kept order for each way of sorting, filled when the store opens
 * and changed after each durable write. Holds what readers see, and how the generation that is being
 * written differs from that.
 */
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Order } from "../documents/order.ts";
import { createOrder } from "../documents/order.ts";
import { isAccepted } from "./acceptance.ts";
import { contentOfRow } from "./content.ts";
import { isDecided, statusOf } from "./decision.ts";
import { compareText } from "./vertices.ts";

/** What a list is sorted by; equal values are in order of the id. */
export type GroupOrder = "confidence" | "createdAt" | "memberCount";

/** Which groups to list. Bounds are inclusive. */
export interface GroupFilter {
  readonly minConfidence?: number | undefined;
  readonly maxConfidence?: number | undefined;
  readonly statuses: ReadonlySet<GroupStatus>;
  /** Only groups in the delete plan, or only those outside it. */
  readonly accepted?: boolean | undefined;
  /** Only groups with at least one of these documents, by document number. */
  readonly members?: ReadonlySet<number> | undefined;
  /** Only groups found since a time in milliseconds, or with at least one of these documents. */
  readonly arrived?:
    | { readonly sinceMs: number; readonly documents: ReadonlySet<number> }
    | undefined;
}

/** One page of group ids. */
interface GroupPage {
  readonly ids: readonly string[];
  readonly total: number;
  /** Members of all matching groups together, those of deleted ones not counted. */
  readonly totalMemberCount: number;
}

export interface GroupIndex {
  /**
   * Adds a group or takes over its changed columns. Of another generation than the one shown, it is
   * kept as a change until that is shown.
   */
  put(generation: number, row: GroupRow, decision: DecisionRow): void;
  remove(generation: number, id: string): void;
  /** Lets readers see a generation: what was shown before, with its changes. */
  show(generation: number): void;
  /** Forgets the changes of a generation, e.g. of one that was left half written. */
  forget(generation: number): void;
  select(
    filter: GroupFilter,
    sort: { readonly by: GroupOrder; readonly descending: boolean },
    page: { readonly offset: number; readonly limit: number },
  ): GroupPage;
  /** The groups of any status that readers see, as they are now. */
  listed(): readonly ListedGroup[];
  /** One of them. */
  find(id: string): ListedGroup | undefined;
  /** Groups of any status that readers see. */
  readonly size: number;
  /** Grows with each change that readers see. */
  readonly revision: number;
}

/** What the list knows about a group. */
export interface ListedGroup {
  readonly id: string;
  readonly status: GroupStatus;
  readonly confidence: number;
  /** When it was first found, in milliseconds since 1970. */
  readonly createdAt: number;
  readonly memberCount: number;
  /** Document numbers, while the group is deleted too. */
  readonly members: readonly number[];
  /** In the delete plan. */
  readonly accepted: boolean;
  /** Decided to be no duplicates, also while new members suspend that. */
  readonly rejected: boolean;
  /** A person gave a verdict, also while new members suspend that. */
  readonly decided: boolean;
  /** Members are new since the verdict. */
  readonly gained: boolean;
  /** As of `contentOfRow`; empty when a member is gone since the group was described. */
  readonly content: string;
  /** When it was described, in milliseconds since 1970. */
  readonly updatedAtMs: number;
}

/** An empty list. */
export function createGroupIndex(): GroupIndex {
  let view = createView();
  let shown = 0;
  let revision = 0;
  const nexts = new Map<number, NextView>();
  const change = (generation: number, id: string, entry: ListedGroup | undefined): void => {
    if (generation === shown) {
      revision += 1;
      return apply(view, id, entry);
    }
    const next = nexts.get(generation) ?? createNextView(view);
    nexts.set(generation, next);
    next.change(id, entry);
  };
  return {
    put: (generation, row, decision) => change(generation, row.id, entryOf(row, decision)),
    remove: (generation, id) => change(generation, id, undefined),
    show(generation) {
      shown = generation;
      revision += 1;
      view = nexts.get(generation)?.finish() ?? view;
      nexts.clear();
    },
    forget: (generation) => void nexts.delete(generation),
    select: (filter, sort, page) => view.select(filter, sort, page),
    listed: () => view.listed(),
    find: (id) => view.find(id),
    get size() {
      return view.size;
    },
    get revision() {
      return revision;
    },
  };
}

function apply(view: View, id: string, entry: ListedGroup | undefined): void {
  if (entry) view.put(entry);
  else view.remove(id);
}

/** What a generation adds, replaces or removes. */
interface NextView {
  change(id: string, entry: ListedGroup | undefined): void;
  /** The view with the changes. */
  finish(): View;
}

/** Over an empty view a new one is filled at once, so that many groups are shown in no time. */
function createNextView(view: View): NextView {
  if (view.size === 0) {
    const next = createView();
    return { change: (id, entry) => apply(next, id, entry), finish: () => next };
  }
  const changes = new Map<string, ListedGroup | undefined>();
  return {
    change: (id, entry) => void changes.set(id, entry),
    finish() {
      for (const [id, entry] of changes) apply(view, id, entry);
      return view;
    },
  };
}

function entryOf(row: GroupRow, decision: DecisionRow): ListedGroup {
  const status = statusOf(row, decision);
  return {
    id: row.id,
    status,
    confidence: row.confidence,
    createdAt: decision.createdAtMs,
    memberCount: status === GroupStatus.DELETED ? 0 : row.members.length,
    members: row.members,
    accepted: isAccepted(row, decision),
    rejected: decision.status === GroupStatus.FALSE_POSITIVE,
    decided: isDecided(decision),
    gained: row.gained,
    content: row.outdated ? "" : contentOfRow(row),
    updatedAtMs: row.updatedAtMs,
  };
}

interface View {
  put(entry: ListedGroup): void;
  remove(id: string): void;
  select: GroupIndex["select"];
  listed: GroupIndex["listed"];
  find: GroupIndex["find"];
  readonly size: number;
}

/**
 * The groups that readers see. A changed group takes a new slot, since an order must not change
 * below its slots.
 */
function createView(): View {
  const slots = new Map<string, Record<GroupOrder, number>>();
  const columns: Record<GroupOrder, ListedGroup[]> = {
    confidence: [],
    createdAt: [],
    memberCount: [],
  };
  const orderBy = (by: GroupOrder): Order =>
    createOrder((left, right) =>
      compareEntries(by, columns[by][left] as ListedGroup, columns[by][right] as ListedGroup),
    );
  const orders: Record<GroupOrder, Order> = {
    confidence: orderBy("confidence"),
    createdAt: orderBy("createdAt"),
    memberCount: orderBy("memberCount"),
  };
  const add = (by: GroupOrder, entry: ListedGroup): number => {
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
    listed: () =>
      Array.from(orders.createdAt.slots(), (slot) => columns.createdAt[slot] as ListedGroup),
    find(id) {
      const own = slots.get(id);
      return own && columns.createdAt[own.createdAt];
    },
    get size() {
      return slots.size;
    },
  };
}

function compareEntries(by: GroupOrder, a: ListedGroup, b: ListedGroup): number {
  return a[by] - b[by] || compareText(a.id, b.id);
}

/**
 * The entries as sorted. Descending, equal values still stand in order of the id: runs of them are
 * walked forwards.
 */
function* inOrder(
  slots: Uint32Array,
  column: readonly ListedGroup[],
  sort: { readonly by: GroupOrder; readonly descending: boolean },
): Generator<ListedGroup> {
  if (!sort.descending) {
    for (const slot of slots) yield column[slot] as ListedGroup;
    return;
  }
  for (let end = slots.length; end > 0;) {
    const value = column[slots[end - 1] as number]?.[sort.by];
    let start = end - 1;
    while (start > 0 && column[slots[start - 1] as number]?.[sort.by] === value) start--;
    for (let at = start; at < end; at++) yield column[slots[at] as number] as ListedGroup;
    end = start;
  }
}

function selectPage(
  entries: Iterable<ListedGroup>,
  filter: GroupFilter,
  page: { readonly offset: number; readonly limit: number },
): GroupPage {
  const { minConfidence = -Infinity, maxConfidence = Infinity, statuses } = filter;
  const { arrived } = filter;
  const keeps = ({ status, confidence, accepted, members, createdAt }: ListedGroup): boolean =>
    confidence >= minConfidence &&
    confidence <= maxConfidence &&
    statuses.has(status) &&
    (filter.accepted === undefined || filter.accepted === accepted) &&
    (filter.members === undefined || hasAny(members, filter.members)) &&
    (arrived === undefined || createdAt >= arrived.sinceMs || hasAny(members, arrived.documents));
  const ids: string[] = [];
  let total = 0;
  let totalMemberCount = 0;
  for (const entry of entries) {
    if (!keeps(entry)) continue;
    if (total >= page.offset && ids.length < page.limit) ids.push(entry.id);
    total += 1;
    totalMemberCount += entry.memberCount;
  }
  return { ids, total, totalMemberCount };
}

function hasAny(members: readonly number[], wanted: ReadonlySet<number>): boolean {
  return members.some((docNo) => wanted.has(docNo));
}
