import type { DescMessage } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { analysisHandlers } from "../../../src/dedup/api/analysis.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import { AnalysisService } from "../../../src/gen/steward/dedup/v1/analysis_pb.ts";
import type { Job } from "../../../src/kernel/jobs/types.ts";
import { createCall, type Call, type UnaryHandler } from "../../../src/kernel/service.ts";
import { openBench, prose } from "../groups/bench.ts";

const call: Call = createCall({ signal: new AbortController().signal, requestId: "test" });
const { startAnalysis, getAnalysisStatus } = AnalysisService.method;

describe("the analysis over the API", () => {
  it("is started with what was asked, and tells its state", async () => {
    const bench = await openBench();
    const started: unknown[] = [];
    let active: Job | undefined;
    const jobs = {
      start: (_: unknown, input: unknown) => {
        started.push(input);
        active = { id: "job-1" } as Job;
        return Promise.resolve(active);
      },
      active: () => active,
    };
    const service = analysisHandlers({
      env: bench.env,
      index: bench.index,
      job: bench.job,
      jobs,
      parameters: () => ({ ...defaultParameters, similarityThreshold: 0.3 }),
      analysisStale: () => Promise.resolve(true),
    });
    const settings = {
      analysisStale: true,
      warnings: [expect.stringContaining("without a common phrase")],
    };
    const ask = async (
      method: typeof startAnalysis | typeof getAnalysisStatus,
      request: object,
    ): Promise<any> =>
      await (service.handler(method) as UnaryHandler<any, any>)(
        create(method.input as DescMessage, request as never),
        call,
      );
    expect((await ask(getAnalysisStatus, {})).data).toEqual({
      totalDuplicateGroups: 0,
      isAnalyzing: false,
      ...settings,
    });
    expect(await ask(startAnalysis, { force: true })).toEqual({ data: { jobId: "job-1" } });
    expect(started).toEqual([{ force: true }]);
    await bench.put(1, prose(1));
    await bench.put(2, prose(1));
    await bench.analyse();
    expect((await ask(getAnalysisStatus, {})).data).toEqual({
      lastAnalysisAt: timestampFromMs(bench.clock.now()),
      totalDuplicateGroups: 1,
      isAnalyzing: true,
      currentJobId: "job-1",
      ...settings,
    });
  });

  it("keeps what was asked in the job's row", async () => {
    const { job } = await openBench();
    for (const force of [true, false])
      expect(job.input.read(job.input.write({ force }))).toEqual({ force });
    expect(Object.values(job.phases).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
  });
});
