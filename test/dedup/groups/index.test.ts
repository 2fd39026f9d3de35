import { create } from "@bufbuild/protobuf";
import {
  array,
  assert as check,
  boolean,
  constantFrom,
  integer,
  property,
  record,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { newDecision } from "../../../src/dedup/groups/decision.ts";
import type { GroupIndex, GroupOrder } from "../../../src/dedup/groups/index.ts";
import { createGroupIndex } from "../../../src/dedup/groups/index.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { GroupRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { allStatuses } from "./bench.ts";

interface Spec {
  readonly id: string;
  readonly status: GroupStatus;
  readonly confidence: number;
  readonly createdAt: number;
  readonly members: number;
}

function put(
  index: GroupIndex,
  generation: number,
  { id, status, confidence, createdAt, members }: Spec,
): void {
  index.put(
    generation,
    create(GroupRowSchema, {
      id,
      confidence,
      members: Array.from({ length: members }, (_, member) => member),
    }),
    { ...newDecision(createdAt), status },
  );
}

const everything = { offset: 0, limit: 1_000 };
const byConfidence = { by: "confidence", descending: true } as const;
const specs = array(
  record({
    id: constantFrom("a", "b", "c", "d", "e", "f"),
    status: constantFrom(...allStatuses),
    confidence: constantFrom(0.75, 0.8, 0.9, 1),
    createdAt: integer({ min: 1, max: 3 }),
    members: integer({ min: 0, max: 4 }),
    gone: boolean(),
  }),
  { maxLength: 20 },
);

describe("the list of groups", () => {
  it("answers any filter, sort and page as the plain way does, after any changes", () => {
    check(
      property(
        specs,
        constantFrom<GroupOrder>("confidence", "createdAt", "memberCount"),
        boolean(),
        integer({ min: 0, max: 3 }),
        integer({ min: 1, max: 4 }),
        constantFrom(0, 0.8, 0.95),
        (changes, by, descending, offset, limit, minConfidence) => {
          const index = createGroupIndex();
          const plain = new Map<string, Spec>();
          for (const { gone, ...spec } of changes) {
            if (gone) {
              index.remove(0, spec.id);
              plain.delete(spec.id);
            } else {
              put(index, 0, spec);
              plain.set(spec.id, {
                ...spec,
                members: spec.status === GroupStatus.DELETED ? 0 : spec.members,
              });
            }
            index.select({ statuses: allStatuses }, byConfidence, everything);
          }
          const statuses = new Set<GroupStatus>([GroupStatus.PENDING, GroupStatus.DELETED]);
          const value = (spec: Spec): number =>
            ({ confidence: spec.confidence, createdAt: spec.createdAt, memberCount: spec.members })[
              by
            ];
          const kept = [...plain.values()]
            .filter((spec) => statuses.has(spec.status) && spec.confidence >= minConfidence)
            .sort(
              (a, b) =>
                (descending ? value(b) - value(a) : value(a) - value(b)) || (a.id < b.id ? -1 : 1),
            );
          expect(
            index.select({ statuses, minConfidence }, { by, descending }, { offset, limit }),
          ).toEqual({
            ids: kept.slice(offset, offset + limit).map(({ id }) => id),
            total: kept.length,
            totalMemberCount: kept.reduce((sum, { members }) => sum + members, 0),
          });
          expect(index.size).toBe(plain.size);
        },
      ),
    );
  });

  it("takes bounds as inclusive and gives nothing when they cross", () => {
    const index = createGroupIndex();
    put(index, 0, {
      id: "a",
      status: GroupStatus.PENDING,
      confidence: 0.8,
      createdAt: 1,
      members: 2,
    });
    const total = (minConfidence: number, maxConfidence: number): number =>
      index.select(
        { statuses: allStatuses, minConfidence, maxConfidence },
        byConfidence,
        everything,
      ).total;
    expect([total(0.8, 0.8), total(0.81, 1), total(0, 0.79), total(0.9, 0.1)]).toEqual([
      1, 0, 0, 0,
    ]);
  });

  it("shows the changes of a generation all at once", () => {
    const index = createGroupIndex();
    const spec = {
      id: "a",
      status: GroupStatus.PENDING,
      confidence: 0.8,
      createdAt: 1,
      members: 2,
    };
    put(index, 0, spec);
    put(index, 1, { ...spec, id: "b" });
    put(index, 1, { ...spec, id: "c" });
    const ids = (): readonly string[] =>
      index.select({ statuses: allStatuses }, byConfidence, everything).ids;
    expect(ids()).toEqual(["a"]);
    index.forget(1);
    put(index, 1, { ...spec, id: "d" });
    put(index, 1, { ...spec, id: "e" });
    index.remove(1, "e");
    expect(ids()).toEqual(["a"]);
    index.show(1);
    expect(ids()).toEqual(["a", "d"]);
    put(index, 2, { ...spec, confidence: 0.9 });
    index.remove(2, "d");
    index.show(2);
    expect(
      index.select({ statuses: allStatuses, minConfidence: 0.9 }, byConfidence, everything),
    ).toEqual({ ids: ["a"], total: 1, totalMemberCount: 2 });
    expect(index.size).toBe(1);
  });

  it("answers for 100,000 groups, also after each change", () => {
    const index = createGroupIndex();
    for (let at = 0; at < 100_000; at++)
      put(index, 0, {
        id: `g${(at * 7_919) % 100_000}`,
        status: GroupStatus.PENDING,
        confidence: 0.75 + (at % 1_000) / 4_000,
        createdAt: at,
        members: 2 + (at % 5),
      });
    index.select({ statuses: allStatuses }, byConfidence, everything);
    for (let round = 0; round < 10; round++) {
      put(index, 0, {
        id: `g${round}`,
        status: GroupStatus.IGNORED,
        confidence: 0.9,
        createdAt: 5,
        members: 2,
      });
      expect(
        index.select(
          { statuses: new Set([GroupStatus.PENDING]), minConfidence: 0.8 },
          byConfidence,
          { offset: 40_000, limit: 100 },
        ).ids,
      ).toHaveLength(100);
    }
  });
});
