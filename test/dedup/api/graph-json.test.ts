import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createGraphJson, type GraphJsonDeps } from "../../../src/dedup/api/graph-json.ts";
import { GetGraphRequestSchema } from "../../../src/gen/steward/dedup/v1/statistics_pb.ts";

it("a graph is of the 100 best groups unless more or fewer are asked for", async () => {
  const limits: number[] = [];
  const deps = {
    index: {
      revision: 1,
      select: (_filter: unknown, _order: unknown, { limit }: { limit: number }) => {
        limits.push(limit);
        return { ids: [], total: 0 };
      },
    },
    documents: { revision: 1 },
  } as unknown as GraphJsonDeps;
  const graph = createGraphJson(deps);
  const { signal } = new AbortController();
  await graph(create(GetGraphRequestSchema, {}), signal);
  await graph(create(GetGraphRequestSchema, { maxGroups: 7 }), signal);
  expect(limits).toEqual([100, 7]);
});
