/**
 * What the document service answers while its stores cannot be used: it lives, is not ready, and
 * refuses everything else.
 */
import { AiService } from "../gen/steward/dedup/v1/ai_pb.ts";
import { AnalysisService } from "../gen/steward/dedup/v1/analysis_pb.ts";
import { ArchiveService } from "../gen/steward/dedup/v1/archive_pb.ts";
import { BatchService } from "../gen/steward/dedup/v1/batch_pb.ts";
import { ConfigService } from "../gen/steward/dedup/v1/config_pb.ts";
import { DeletePlanService } from "../gen/steward/dedup/v1/delete_plan_pb.ts";
import { DocumentService } from "../gen/steward/dedup/v1/documents_pb.ts";
import { DuplicateService } from "../gen/steward/dedup/v1/duplicates_pb.ts";
import { JobService } from "../gen/steward/dedup/v1/jobs_pb.ts";
import { MergeService } from "../gen/steward/dedup/v1/merge_pb.ts";
import { PairService } from "../gen/steward/dedup/v1/pairs_pb.ts";
import { StatisticsService } from "../gen/steward/dedup/v1/statistics_pb.ts";
import { SyncService } from "../gen/steward/dedup/v1/sync_pb.ts";
import type { Clock } from "../kernel/base/clock.ts";
import { errorWithRemedy, type StewardError } from "../kernel/base/errors.ts";
import { refuseService } from "../kernel/refusing-service.ts";
import type { Service } from "../kernel/service.ts";
import { PREVIEW_ROUTE, THUMBNAIL_ROUTE } from "./api/archive.ts";
import { DELETE_PLAN_ROUTE } from "./api/delete-plan-file.ts";
import { CONFIG_EXPORT_ROUTE } from "./api/config-export.ts";
import { DUPLICATES_CSV_ROUTE } from "./api/duplicates-csv.ts";
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
      descriptors: [
        SyncService,
        AnalysisService,
        JobService,
        DocumentService,
        DuplicateService,
        PairService,
        ConfigService,
        StatisticsService,
        DeletePlanService,
        BatchService,
        MergeService,
        ArchiveService,
        AiService,
      ],
      routes: [
        JOB_PROGRESS_ROUTE,
        DELETE_PLAN_ROUTE,
        PREVIEW_ROUTE,
        THUMBNAIL_ROUTE,
        DUPLICATES_CSV_ROUTE,
        CONFIG_EXPORT_ROUTE,
      ],
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
