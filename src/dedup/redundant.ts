/**
 * Which documents of a pile are redundant: removing them all leaves for each one a document that it
 * is a verified duplicate of. Groups overlap, so not every member beside a primary is.
 */
import type { FoundGroup } from "./groups/graph.ts";

/** A group and the document that stays of it. */
export interface GroupToReduce {
  readonly found: FoundGroup;
  /** The number of its primary. */
  readonly primary: number;
}

/** Two documents by number. */
export type DocumentPair = readonly [a: number, b: number];

/** What the rule needs to know. */
export interface ReduceInput {
  readonly groups: readonly GroupToReduce[];
  /** Documents that stay whatever the groups say. */
  readonly stays?: ReadonlySet<number>;
  /** Whether only the beginning of its text was compared. */
  readonly isTruncated: (document: number) => boolean;
  /** Whether each pair reaches the threshold; asked once, for pairs that no group has verified. */
  readonly verify: (pairs: readonly DocumentPair[]) => Promise<readonly boolean[]>;
}

/**
 * The redundant documents. The rule: the primaries of all groups stay. Any other member goes if it
 * has a verified pair with a primary of its groups. What is left is looked at in the order of the
 * numbers and goes if it has a verified pair with a document that stays by then; else it stays too.
 * A text of which only the beginning was compared makes a verified pair only with its exact copy.
 */
export async function findRedundant(input: ReduceInput): Promise<ReadonlySet<number>> {
  const stays = new Set([...(input.stays ?? []), ...input.groups.map(({ primary }) => primary)]);
  const redundant = new Set<number>();
  const pairs = createKnownPairs(input);
  for (const { found, primary } of input.groups)
    for (const member of found.members)
      if (!stays.has(member) && pairs.has(member, primary)) redundant.add(member);
  const open = (document: number): boolean => !stays.has(document) && !redundant.has(document);

  const unknown = unverifiedPairs(input, open);
  const passed = await input.verify(unknown);
  for (const [at, [member]] of unknown.entries()) if (passed[at] === true) redundant.add(member);

  const rest = new Set(input.groups.flatMap(({ found }) => found.members.filter(open)));
  for (const document of [...rest].sort((a, b) => a - b)) {
    if (pairs.hasAny(document, stays)) redundant.add(document);
    else stays.add(document);
  }
  return redundant;
}

interface KnownPairs {
  has(a: number, b: number): boolean;
  /** Whether a document forms one with any of others. */
  hasAny(document: number, others: ReadonlySet<number>): boolean;
}

/** The verified pairs of all groups: equal texts, and those of a centre with other texts. */
function createKnownPairs({ groups, isTruncated }: ReduceInput): KnownPairs {
  const groupsOf = new Map<number, FoundGroup[]>();
  for (const { found } of groups)
    for (const member of found.members) {
      const known = groupsOf.get(member);
      if (known) known.push(found);
      else groupsOf.set(member, [found]);
    }
  const partners = new Map<FoundGroup, ReadonlyMap<number, ReadonlySet<number>>>();
  const partnersIn = (group: FoundGroup): ReadonlyMap<number, ReadonlySet<number>> => {
    const known = partners.get(group) ?? textPartners(group);
    partners.set(group, known);
    return known;
  };
  const inGroup = (group: FoundGroup, a: number, b: number): boolean => {
    const [textA, textB] = [textOf(group, a), textOf(group, b)];
    if (textA === textB) return true;
    if (isTruncated(a) || isTruncated(b)) return false;
    return partnersIn(group).get(textA)?.has(textB) === true;
  };
  return {
    has: (a, b) =>
      (groupsOf.get(a) ?? []).some((group) => indexOf(group, b) >= 0 && inGroup(group, a, b)),
    hasAny: (document, others) =>
      (groupsOf.get(document) ?? []).some((group) =>
        group.members.some((other) => others.has(other) && inGroup(group, document, other)),
      ),
  };
}

/** By the representative of a text those of the texts it has a verified pair with. */
function textPartners({ pairs }: FoundGroup): ReadonlyMap<number, ReadonlySet<number>> {
  const partners = new Map<number, Set<number>>();
  const add = (a: number, b: number): void => {
    const known = partners.get(a);
    if (known) known.add(b);
    else partners.set(a, new Set([b]));
  };
  for (const { a, b } of pairs) {
    add(a, b);
    add(b, a);
  }
  return partners;
}

/** The place of a document among the members, which ascend; -1 when it is none. */
function indexOf({ members }: FoundGroup, document: number): number {
  let [low, high] = [0, members.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((members[middle] ?? 0) < document) low = middle + 1;
    else high = middle;
  }
  return members[low] === document ? low : -1;
}

function textOf(group: FoundGroup, document: number): number {
  return group.texts[indexOf(group, document)] ?? -1;
}

/** The pairs of members that are still open with the primaries of their groups. */
function unverifiedPairs(
  { groups, isTruncated }: ReduceInput,
  open: (document: number) => boolean,
): DocumentPair[] {
  return groups.flatMap(({ found, primary }) =>
    isTruncated(primary)
      ? []
      : found.members
          .filter((member) => open(member) && !isTruncated(member))
          .map((member): DocumentPair => [member, primary]),
  );
}
