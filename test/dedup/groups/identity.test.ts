import {
  array,
  assert as check,
  boolean,
  integer,
  property,
  record,
  uniqueArray,
} from "fast-check";
import { describe, expect, it } from "vitest";
import type { Identities, KnownGroup } from "../../../src/dedup/groups/identity.ts";
import { identitySteps, newGroupId } from "../../../src/dedup/groups/identity.ts";
import { runAtOnce } from "./run-at-once.ts";

function known(
  id: string,
  members: readonly number[],
  state: Partial<KnownGroup> = {},
): KnownGroup {
  return { id, members, decided: false, rejected: false, ...state };
}

function match(groups: readonly KnownGroup[], found: readonly (readonly number[])[]): Identities {
  return runAtOnce(identitySteps(groups, found));
}

function ids({ continues }: Identities): (string | undefined)[] {
  return continues.map((group) => group?.id);
}

describe("the identity of groups", () => {
  it("is kept by the same members, whatever else overlaps", () => {
    expect(
      ids(
        match(
          [known("a", [1, 2]), known("b", [1, 2, 3, 4])],
          [
            [4, 3, 2, 1],
            [2, 1],
          ],
        ),
      ),
    ).toEqual(["b", "a"]);
  });

  it("passes to the group that shares most, with at least half of the smaller", () => {
    expect(ids(match([known("a", [1, 2, 3])], [[1, 2, 3, 4, 5, 6]]))).toEqual(["a"]);
    expect(ids(match([known("a", [1, 2, 3, 4])], [[1, 7, 8, 9]]))).toEqual([undefined]);
    expect(ids(match([known("a", [1, 2, 3, 4]), known("b", [4, 5])], [[3, 4, 1, 5]]))).toEqual([
      "a",
    ]);
  });

  it("is inherited once, by the best, and the other one is new", () => {
    expect(
      ids(
        match(
          [known("a", [1, 2, 3, 4, 5])],
          [
            [1, 2],
            [3, 4, 5],
          ],
        ),
      ),
    ).toEqual([undefined, "a"]);
  });

  it("is not passed on by a group that has fewer than two members left", () => {
    expect(ids(match([known("a", [1], { decided: true })], [[1, 2]]))).toEqual([undefined]);
  });

  it("is passed on by 'not a duplicate' to a group with all its members only", () => {
    const rejected = known("a", [1, 2], { decided: true, rejected: true });
    expect(ids(match([rejected], [[2, 3]]))).toEqual([undefined]);
    expect(match([rejected], [[2, 3]]).kept).toEqual([rejected]);
    expect(ids(match([rejected], [[1, 2, 3]]))).toEqual(["a"]);
  });

  it("leaves decided groups in place that are not found again, and removes pending ones", () => {
    const groups = [known("a", [1, 2]), known("b", [3, 4], { decided: true })];
    expect(match(groups, [])).toEqual({ continues: [], kept: [groups[1]], removed: [groups[0]] });
  });
});

const someMembers = uniqueArray(integer({ min: 0, max: 12 }), { minLength: 2, maxLength: 6 }).map(
  (members) => members.sort((a, b) => a - b),
);
const generations = array(array(someMembers, { maxLength: 6 }), { minLength: 1, maxLength: 8 });

/** Runs analyses one after the other and returns the groups after each. */
function play(
  script: readonly (readonly (readonly number[])[])[],
  order: (found: readonly (readonly number[])[]) => readonly (readonly number[])[],
): KnownGroup[][] {
  const states: KnownGroup[][] = [];
  for (const [generation, all] of script.entries()) {
    const found = order([...new Map(all.map((members) => [members.join(), members])).values()]);
    const { continues, kept } = match(states.at(-1) ?? [], found);
    states.push([
      ...kept,
      ...found.map((members, index) =>
        known(continues[index]?.id ?? newGroupId(generation, members.map(String)), members, {
          decided: members.length % 2 === 1,
        }),
      ),
    ]);
  }
  return states;
}

describe("any script of analyses", () => {
  it("gives no id to two groups and takes none up again that was gone", () => {
    check(
      property(generations, (script) => {
        const gone = new Set<string>();
        let before: string[] = [];
        for (const state of play(script, (found) => found)) {
          const now = state.map(({ id }) => id);
          expect(new Set(now).size).toBe(now.length);
          for (const id of now) expect(gone.has(id)).toBe(false);
          for (const id of before) if (!now.includes(id)) gone.add(id);
          before = now;
        }
      }),
    );
  });

  it("gives the same ids whatever the order in which groups are found", () => {
    check(
      property(generations, (script) => {
        const sorted = (states: KnownGroup[][]): string[][] =>
          states.map((state) => state.map(({ id, members }) => `${id} ${members.join()}`).sort());
        expect(sorted(play(script, (found) => found.toReversed()))).toEqual(
          sorted(play(script, (found) => found)),
        );
      }),
    );
  });

  it("loses no decided group and keeps every group that is found with the same members", () => {
    check(
      property(
        array(record({ members: someMembers, decided: boolean() }), { maxLength: 6 }),
        array(someMembers, { maxLength: 6 }),
        (groups, found) => {
          const before = [
            ...new Map(groups.map((group) => [group.members.join(), group])).values(),
          ].map(({ members, decided }, index) => known(`g${index}`, members, { decided }));
          const { continues, kept, removed } = match(before, found);
          const after = new Set([...continues.flatMap((group) => group ?? []), ...kept]);
          for (const group of before) expect(after.has(group)).toBe(!removed.includes(group));
          for (const group of removed) expect(group.decided).toBe(false);
          for (const group of before)
            if (found.some((members) => members.join() === group.members.join()))
              expect(after.has(group)).toBe(true);
        },
      ),
    );
  });
});

describe("a new id", () => {
  it("is 21 characters of the nanoid alphabet and depends on generation and members, not on their order", () => {
    expect(newGroupId(3, ["a", "b"])).toMatch(/^[\w-]{21}$/);
    // A dash would be an option of a command, and a formula of a spreadsheet.
    for (let generation = 0; generation < 1_000; generation += 1)
      expect(newGroupId(generation, ["a"])).not.toMatch(/^-/);
    expect(newGroupId(3, ["b", "a"])).toBe(newGroupId(3, ["a", "b"]));
    expect(
      new Set([
        newGroupId(3, ["a", "b"]),
        newGroupId(4, ["a", "b"]),
        newGroupId(3, ["a"]),
        newGroupId(3, ["ab"]),
      ]).size,
    ).toBe(4);
  });
});
