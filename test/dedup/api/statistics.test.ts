import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createMatching } from "../../../src/dedup/documents/matching.ts";
import { statisticsHandlers } from "../../../src/dedup/api/statistics.ts";
import { StatisticsService } from "../../../src/gen/steward/dedup/v1/statistics_pb.ts";
import { createCall, type UnaryHandler } from "../../../src/kernel/service.ts";
import { openBench, prose } from "../groups/bench.ts";

it("a graph of a large group is cut and says so, and a vanished document is no node", async () => {
  const bench = await openBench();
  const copies = 50;
  for (let document = 1; document <= copies; document += 1) await bench.put(document, prose(1));
  await bench.put(copies + 1, prose(2));
  await bench.put(copies + 2, prose(2));
  await bench.analyse();
  const service = statisticsHandlers({
    env: bench.env,
    documents: bench.documents.index,
    index: bench.index,
    matching: createMatching(bench.documents.index),
    skipped: () => 0,
    analysisStale: () => Promise.resolve(false),
  });
  const { getGraph } = StatisticsService.method;
  const handler = service.handler(getGraph) as UnaryHandler<any, any>;
  const { data }: any = await handler(
    create(getGraph.input, {}),
    createCall({ signal: new AbortController().signal, requestId: "test" }),
  );
  expect(data).toMatchObject({ totalGroupsMatched: 2, groupsIncluded: 2, truncated: true });
  expect(data.nodes).toHaveLength(copies + 2);
  // 1,225 pairs of the copies, of which 1,000 are drawn, and one of the others.
  expect(data.edges).toHaveLength(1_001);
});
