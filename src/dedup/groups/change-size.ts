/**
 * How much of a transaction groups take, and batches of them that keep it short: the main thread runs
 * nothing else meanwhile. A group is never split, so one that is larger has a transaction of its own.
 */
import type { GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { boundedBatches } from "../../kernel/base/batches.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { GroupIndex } from "./index.ts";

/** Of a transaction, in rows and index entries touched; about 5 µs each. */
const COST_LIMIT = 300;
/** A transaction stays under 1 MiB. */
const BYTES_LIMIT = 512 * 1024;
/** Groups whose decisions are changed in one transaction. */
const DECIDED_AT_ONCE = 20;

/** The most documents of a group; `GROUP_CHANGE_BYTES` in `tables.ts` has room for them. */
const MAX_MEMBERS = 150_000;

export interface ChangeSize {
  readonly cost: number;
  readonly bytes: number;
}

/** Of a group's row with its index entries. */
export function sizeOfRow({
  members,
  pairMembers,
}: Pick<GroupRow, "members" | "pairMembers">): ChangeSize {
  return {
    cost: 4 + 2 * members.length,
    bytes: 1_024 + 85 * members.length + 20 * pairMembers.length,
  };
}

export function sum(a: ChangeSize, b: ChangeSize): ChangeSize {
  return { cost: a.cost + b.cost, bytes: a.bytes + b.bytes };
}

/** Batches that each fit into one transaction, or have one item. */
export function changeBatches<T>(
  items: Iterable<T>,
  sizeOf: (item: T) => ChangeSize,
): Generator<T[]> {
  return boundedBatches(items, [COST_LIMIT, BYTES_LIMIT], (item) => {
    const { cost, bytes } = sizeOf(item);
    return [cost, bytes];
  });
}

/** Ids in batches whose groups can be decided about in one transaction; ids may be unknown. */
export function decidedBatches(
  index: Pick<GroupIndex, "find">,
  ids: readonly string[],
): Generator<string[]> {
  return changeBatches(ids, (id) => {
    const members = index.find(id)?.members.length ?? 0;
    return {
      cost: Math.max(COST_LIMIT / DECIDED_AT_ONCE, 4 + 2 * members),
      // Two lists of members with the hashes of their texts, and the row in each live view.
      bytes: 2_048 + 200 * members,
    };
  });
}

/** Throws `too_large` for a group that no transaction can write. */
export function checkMembers({ members }: Pick<GroupRow, "members">): void {
  if (members.length <= MAX_MEMBERS) return;
  throw new StewardError(
    "too_large",
    `${members.length} documents are one group, whose limit is ${MAX_MEMBERS}`,
    {
      rule: "members of a group",
      remedy:
        "leave their kind out of the archive (exclude), or raise dedup.analysis.min_words if their texts are short",
    },
  );
}
