/** What the methods of AiService work on. */
import type { AiApplyInput, AiProcessInput } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { JobType, Jobs } from "../../kernel/jobs/types.ts";
import type { Settings } from "../../kernel/settings/types.ts";
import type { ApplyDeps } from "../ai/apply.ts";
import type { ApplyJobResult } from "../ai/apply-job.ts";
import type { ProviderName } from "../ai/keys.ts";
import type { ProcessResult } from "../ai/process-job.ts";
import type { AiProvider } from "../ai/providers/types.ts";
import type { DocumentStore } from "../documents/store.ts";

/** Documents that are chosen for one job: their list is stored in one row. */
export const MAX_CHOSEN = 100_000;

export interface AiApiDeps extends ApplyDeps {
  readonly documents: Pick<DocumentStore, "index" | "row" | "put" | "byId">;
  readonly config: Pick<Config, "get">;
  readonly settingStore: Pick<Settings, "change">;
  readonly jobs: Pick<Jobs, "start" | "active">;
  readonly processJob: JobType<AiProcessInput, ProcessResult>;
  readonly applyJob: JobType<AiApplyInput, ApplyJobResult>;
  readonly openProvider: (name: ProviderName) => Promise<AiProvider>;
}
