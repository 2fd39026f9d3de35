/** Starting a sync and telling how the last one went. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { SyncService } from "../../gen/steward/dedup/v1/sync_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { JobType, Jobs } from "../../kernel/jobs/types.ts";
import { bindService } from "../../kernel/service.ts";
import type { BoundService } from "../../kernel/service.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import type { DocumentStore } from "../documents/store.ts";
import { metaNumber } from "../meta.ts";
import type { SyncInput, SyncResult } from "../sync/result.ts";

export interface SyncApiDeps {
  readonly env: Env;
  readonly store: DocumentStore;
  readonly jobs: Jobs;
  readonly job: JobType<SyncInput, SyncResult>;
  readonly archives: () => readonly Archive[];
}

/** StartSync and GetSyncStatus. */
export function syncHandlers({ env, store, jobs, job, archives }: SyncApiDeps): BoundService {
  return bindService(SyncService, {
    async startSync({ force, purge }) {
      if (archives().length === 0) {
        throw new StewardError("conflict", "there is no archive to sync", {
          rule: "at least one archive",
          remedy: "add one to dedup.archives and restart",
        });
      }
      const started = await jobs.start(job, { force, purge });
      return { data: { jobId: started.id } };
    },
    getSyncStatus() {
      const active = jobs.active(job.exclusive);
      const { atMs, count } = env.read((snapshot) => ({
        atMs: metaNumber(snapshot, "lastSyncAtMs"),
        count: metaNumber(snapshot, "lastSyncCount"),
      }));
      return {
        data: {
          ...(atMs === undefined ? {} : { lastSyncAt: timestampFromMs(atMs) }),
          ...(count === undefined ? {} : { lastSyncDocumentCount: count }),
          totalDocuments: store.index.size,
          isSyncing: active !== undefined,
          ...(active === undefined ? {} : { currentJobId: active.id }),
        },
      };
    },
  });
}
