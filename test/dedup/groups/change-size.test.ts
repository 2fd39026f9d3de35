import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { decidedBatches } from "../../../src/dedup/groups/change-size.ts";
import { newDecision } from "../../../src/dedup/groups/decision.ts";
import { createGroupIndex } from "../../../src/dedup/groups/index.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { GroupRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";

it.each([GroupStatus.PENDING, GroupStatus.DELETED])(
  "groups of status %i are decided about in batches by their members",
  (status) => {
    const index = createGroupIndex();
    const members = Array.from({ length: 2_000 }, (_, docNo) => docNo);
    const ids = Array.from({ length: 20 }, (_, at) => `g${at}`);
    for (const id of ids)
      index.put(0, create(GroupRowSchema, { id, members }), { ...newDecision(1), status });
    expect(index.find("g0")?.status).toBe(status);
    expect([...decidedBatches(index, ids)]).toEqual(ids.map((id) => [id]));
  },
);
