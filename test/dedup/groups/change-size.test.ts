import { expect, it } from "vitest";
import { decidedBatches } from "../../../src/dedup/groups/change-size.ts";
import type { ListedGroup } from "../../../src/dedup/groups/index.ts";

it("groups are decided about in batches by their members, also those that were set to deleted", () => {
  const members = Array.from({ length: 2_000 }, (_, docNo) => docNo);
  const ids = Array.from({ length: 20 }, (_, at) => `g${at}`);
  for (const memberCount of [members.length, 0]) {
    const find = (id: string) => ({ id, members, memberCount }) as unknown as ListedGroup;
    expect([...decidedBatches({ find }, ids)]).toEqual(ids.map((id) => [id]));
  }
});
