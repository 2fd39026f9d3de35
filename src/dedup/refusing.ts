/**
 * What the document service answers while its stores cannot be used: it lives, is not ready, and
 * refuses everything else.
 */
import { AnalysisService } from "../gen/steward/dedup/v1/analysis_pb.ts";
import { DocumentService } from "../gen/steward/dedup/v1/documents_pb.ts";
import { DuplicateService } from "../gen/steward/dedup/v1/duplicates_pb.ts";
import { JobService } from "../gen/steward/dedup/v1/jobs_pb.ts";
import { SyncService } from "../gen/steward/dedup/v1/sync_pb.ts";
import type { Clock } from "../kernel/base/clock.ts";
import { errorWithRemedy, type StewardError } from "../kernel/base/errors.ts";
import { refuseService } from "../kernel/refusing-service.ts";
import type { Service } from "../kernel/service.ts";
import { JOB_PROGRESS_ROUTE } from "./api/jobs.ts";
import { createReachability } from "./api/reachability.ts";
import { systemHandlers } from "./api/system.ts";
import type { Archive } from "./archives/archive.ts";

/** What its health and readiness are answered from. */
export interface RefusingDedupDeps {
  readonly clock: Clock;
  readonly archives: readonly Archive[];
  readonly demo: boolean;
}

/** `/api/v1/ready` names the reason among its checks. */
export function refuseDedup(
  { clock, archives, demo }: RefusingDedupDeps,
  refusal: StewardError,
): Service {
  const refused = refuseService(
    "dedup",
    {
      descriptors: [SyncService, AnalysisService, JobService, DocumentService, DuplicateService],
      routes: [JOB_PROGRESS_ROUTE],
    },
    refusal,
  );
  return {
    ...refused,
    rpc: [
      systemHandlers({
        clock,
        envs: [],
        archives: () => archives,
        reachability: createReachability(clock),
        demo,
        refusal: errorWithRemedy(refusal),
      }),
      ...refused.rpc,
    ],
  };
}
