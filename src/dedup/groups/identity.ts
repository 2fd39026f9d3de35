/**
 * Which of the groups an analysis found is which of those known before, and what becomes of the
 * known ones that were not found again. Pure; the same input gives the same answer, and an id is
 * passed on at most once.
 */
import { createHash } from "node:crypto";
import { asArgument } from "../../kernel/base/ids.ts";
import type { Steps } from "./steps.ts";
import { compareText } from "./vertices.ts";

/** A group of the generation before. */
export interface KnownGroup {
  readonly id: string;
  /** Documents that still exist. */
  readonly members: readonly number[];
  /** A person's verdict stands, perhaps resting behind new members. */
  readonly decided: boolean;
  /** The verdict is "not a duplicate": only a group with all its members inherits it. */
  readonly rejected: boolean;
}

/** What becomes of all groups. */
export interface Identities {
  /** For each found group the known one it continues. */
  readonly continues: readonly (KnownGroup | undefined)[];
  /** Decided groups that were not found again and stay as they are. */
  readonly kept: readonly KnownGroup[];
  /** Pending groups that were not found again. */
  readonly removed: readonly KnownGroup[];
}

/**
 * Matches found groups with known ones: the same members, else most shared members and at least
 * half of the smaller.
 */
export function* identitySteps(
  known: readonly KnownGroup[],
  found: readonly (readonly number[])[],
): Steps<Identities> {
  const continues: (KnownGroup | undefined)[] = found.map(() => undefined);
  const taken = new Set<KnownGroup>();
  const take = (index: number, group: KnownGroup): void => {
    if (continues[index] !== undefined || taken.has(group)) return;
    continues[index] = group;
    taken.add(group);
  };
  const byMembers = new Map<string, KnownGroup>();
  for (const [index, group] of known.toSorted((a, b) => compareText(a.id, b.id)).entries()) {
    const key = keyOf(group.members);
    if (group.members.length > 1 && !byMembers.has(key)) byMembers.set(key, group);
    if (index % 256 === 255) yield;
  }
  for (const [index, members] of found.entries()) {
    const same = byMembers.get(keyOf(members));
    if (same) take(index, same);
    if (index % 256 === 255) yield;
  }
  const rest = found.flatMap((members, index) => (continues[index] ? [] : [{ index, members }]));
  for (const { index, group } of yield* overlapSteps(
    known.filter((group) => !taken.has(group)),
    rest,
  ))
    take(index, group);
  const lost = known.filter((group) => !taken.has(group));
  return {
    continues,
    kept: lost.filter((group) => group.decided),
    removed: lost.filter((group) => !group.decided),
  };
}

interface Found {
  readonly index: number;
  readonly members: readonly number[];
}

interface Overlap {
  readonly index: number;
  readonly group: KnownGroup;
  readonly shared: number;
  readonly first: string;
}

/** All pairs that may continue one another, the best first. */
function* overlapSteps(known: readonly KnownGroup[], found: readonly Found[]): Steps<Overlap[]> {
  const groupsOf = new Map<number, KnownGroup[]>();
  for (const group of known) {
    if (group.members.length < 2) continue;
    for (const member of group.members) {
      const groups = groupsOf.get(member);
      if (groups) groups.push(group);
      else groupsOf.set(member, [group]);
    }
  }
  yield;
  const overlaps: Overlap[] = [];
  for (const { index, members } of found) {
    const shared = new Map<KnownGroup, number>();
    for (const member of members)
      for (const group of groupsOf.get(member) ?? [])
        shared.set(group, (shared.get(group) ?? 0) + 1);
    for (const [group, count] of shared) {
      const enough = group.rejected
        ? count === group.members.length
        : 2 * count >= Math.min(group.members.length, members.length);
      if (enough) overlaps.push({ index, group, shared: count, first: keyOf(members) });
    }
    yield;
  }
  return overlaps.sort(
    (a, b) =>
      b.shared - a.shared || compareText(a.group.id, b.group.id) || compareText(a.first, b.first),
  );
}

function keyOf(members: readonly number[]): string {
  return members.toSorted((a, b) => a - b).join();
}

/**
 * The id of a group that is new in a generation: 21 characters of the nanoid alphabet made from the
 * generation and the ids of the members, so that an analysis that starts again after a crash gives
 * the same ids, and no later one gives them again.
 */
export function newGroupId(generation: number, documentIds: readonly string[]): string {
  const hash = createHash("sha256").update(`${generation}`);
  for (const id of documentIds.toSorted(compareText)) hash.update("\0").update(id);
  return asArgument(hash.digest("base64url").slice(0, 21));
}
