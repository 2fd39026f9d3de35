/** What the start of an AI run takes, over an index with more results than one job. */
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createResultIndex } from "../../../src/dedup/ai/result-index.ts";
import type { AiApiDeps } from "../../../src/dedup/api/ai-deps.ts";
import { runMethods } from "../../../src/dedup/api/ai-run.ts";
import {
  AiResultStatus,
  StartAiProcessingRequestSchema,
} from "../../../src/gen/steward/dedup/v1/ai_pb.ts";
import { AiResultRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { createCall } from "../../../src/kernel/service.ts";

const call = createCall({ signal: new AbortController().signal, requestId: "test" });

function createDeps(failed: number): AiApiDeps {
  const index = createResultIndex();
  for (let docNo = 1; docNo <= failed; docNo += 1)
    index.put(create(AiResultRowSchema, { docNo, id: `${docNo}`, status: AiResultStatus.FAILED }));
  const settings = { provider: "compatible", maxCostPerRunUsd: 0, maxCostPerMonthUsd: 0 };
  return {
    results: { index },
    settings: () => settings,
    config: { get: () => "http://127.0.0.1:1/v1" },
    env: { read: () => 0 },
    jobs: { start: async () => await Promise.resolve({ id: "job" }) },
    clock: { now: () => 0 },
  } as unknown as AiApiDeps;
}

it.each(["failed_only", "current_filter"])(
  "%s takes 100,000 documents, and names that limit when there are more",
  async (type) => {
    const request = create(StartAiProcessingRequestSchema, { scope: { type } });
    const start = async (failed: number): Promise<unknown> =>
      await runMethods(createDeps(failed)).startAiProcessing(request, call);
    expect(await start(100_000)).toEqual({ data: { jobId: "job" } });
    await expect(start(100_001)).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("at most 100000") as string,
    });
  },
);
