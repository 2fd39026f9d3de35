/** What the steps of one sync share. */
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { JobContext } from "../../kernel/jobs/types.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import type { DocumentStore, RemovedRefs } from "../documents/store.ts";
import type { Membership } from "../groups/membership.ts";
import { progressCodec } from "./result.ts";
import type { Progress, SyncInput, Tally } from "./result.ts";
import type { Seen } from "./seen.ts";

/** The state of a sync while it runs. */
export interface SyncRun {
  readonly job: JobContext<SyncInput>;
  readonly env: Env;
  readonly store: DocumentStore;
  readonly groups: Membership;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tally: Tally;
  readonly serial: number;
  readonly startedAtMs: number;
  readonly syncType: "full" | "incremental";
  purged: boolean;
  nextDocNo: number;
  /**
   * Documents whose text may be newer than their row since a sync that was interrupted; they are
   * read again.
   */
  readonly rewriting: Set<number>;
}

/** One archive within a sync. */
export interface ArchiveRun {
  readonly archive: Archive;
  readonly seen: Seen;
  /** Documents of this archive known before this sync wrote any. */
  readonly known: number;
  /** Refs that a deletion removed while it was read. */
  readonly removed: Pick<RemovedRefs, "has">;
  /** Why it could not be read to its end. */
  error?: unknown;
}

/** Whether only this archive failed, so that the sync goes on with the others. */
export function isArchiveFailure(error: unknown): boolean {
  return error instanceof StewardError && error.code === "upstream";
}

/** One transaction of the job; the counts as they stand are stored with it. */
export function commit(run: SyncRun, change: (tx: Tx) => void): Promise<void> {
  const { serial, startedAtMs, syncType, purged } = run;
  const { inserted, updated, reworded, reconciled } = run.tally;
  const progress: Progress = {
    serial,
    startedAtMs,
    syncType,
    purged,
    inserted,
    updated,
    reworded,
    reconciled,
  };
  return run.job.commit(change, progressCodec.write(progress));
}
