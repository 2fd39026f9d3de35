import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { addCharge } from "../../../src/dedup/ai/costs.ts";
import type { AiApiDeps } from "../../../src/dedup/api/ai-deps.ts";
import { costMethods } from "../../../src/dedup/api/ai-costs.ts";
import { GetAiCostsRequestSchema } from "../../../src/gen/steward/dedup/v1/ai_pb.ts";
import { DAY_MS, NOON_MS, openAiBench } from "../ai/bench.ts";

it("the last days of the costs begin so many days ago, today included; the sums have all", async () => {
  const { env } = await openAiBench(0);
  const used = { provider: "openai", model: "gpt-5.4", requests: 1, hasResult: true };
  await env.write((tx) => {
    for (const daysAgo of [0, 1, 2, 3])
      addCharge(tx, {
        ...used,
        atMs: NOON_MS - daysAgo * DAY_MS,
        promptTokens: 10,
        completionTokens: 1,
        costUsd: 2,
      });
  });
  const deps = {
    env,
    clock: { now: () => NOON_MS },
    settings: () => ({ maxCostPerRunUsd: 0, maxCostPerMonthUsd: 0 }),
  } as unknown as AiApiDeps;
  const methods = costMethods(deps);
  const costs = (days?: number) =>
    methods.getAiCosts(create(GetAiCostsRequestSchema, days === undefined ? {} : { days })).data;
  const dates = (days?: number): unknown => costs(days).costOverTime.map(({ date }) => date);
  expect(dates()).toEqual(["2025-12-29", "2025-12-30", "2025-12-31", "2026-01-01"]);
  expect(dates(1)).toEqual(["2026-01-01"]);
  expect(dates(3)).toEqual(["2025-12-30", "2025-12-31", "2026-01-01"]);
  expect(costs(1)).toMatchObject({
    totalCostUsd: 8,
    costByModel: [{ model: "gpt-5.4", costUsd: 8, promptTokens: 40, completionTokens: 4 }],
    limits: { spentThisMonthUsd: 2 },
  });
});
