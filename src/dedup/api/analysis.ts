/** Starting an analysis and asking how far the last one is. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AnalysisService } from "../../gen/steward/dedup/v1/analysis_pb.ts";
import type { Jobs, JobType } from "../../kernel/jobs/types.ts";
import type { BoundService } from "../../kernel/service.ts";
import { bindService } from "../../kernel/service.ts";
import type { Env } from "../../kernel/state/types.ts";
import { bandWarnings } from "../analysis/band-plan.ts";
import type { AnalysisInput, AnalysisResult } from "../analysis/job.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import type { GroupIndex } from "../groups/index.ts";
import { metaNumber } from "../meta.ts";

export interface AnalysisApiDeps {
  readonly env: Env;
  readonly jobs: Pick<Jobs, "start" | "active">;
  readonly job: JobType<AnalysisInput, AnalysisResult>;
  readonly index: GroupIndex;
  /** The parameters as they are set now. */
  readonly parameters: () => AnalysisParameters;
  /** Whether an analysis with them may give other groups than the stored ones. */
  readonly analysisStale: () => Promise<boolean>;
}

/** StartAnalysis and GetAnalysisStatus. */
export function analysisHandlers(deps: AnalysisApiDeps): BoundService {
  const { env, jobs, job, index } = deps;
  return bindService(AnalysisService, {
    async startAnalysis({ force }) {
      return { data: { jobId: (await jobs.start(job, { force })).id } };
    },
    async getAnalysisStatus() {
      const active = jobs.active(job.exclusive);
      const lastAtMs = env.read((snapshot) => metaNumber(snapshot, "lastAnalysisAtMs"));
      return {
        data: {
          ...(lastAtMs === undefined ? {} : { lastAnalysisAt: timestampFromMs(lastAtMs) }),
          totalDuplicateGroups: index.size,
          isAnalyzing: active !== undefined,
          ...(active === undefined ? {} : { currentJobId: active.id }),
          analysisStale: await deps.analysisStale(),
          warnings: bandWarnings(deps.parameters()),
        },
      };
    },
  });
}
