/** Syncs without the job machinery, on stores of their own. */
import type { Archive } from "../../../src/dedup/archives/archive.ts";
import { createSyncJob } from "../../../src/dedup/sync/job.ts";
import type { SyncDeps } from "../../../src/dedup/sync/job.ts";
import type { SyncInput, SyncResult } from "../../../src/dedup/sync/result.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { JobContext } from "../../../src/kernel/jobs/types.ts";
import { createInlinePool } from "../inline-pool.ts";
import { countingIds, createHandClock, openBench } from "../store-bench.ts";
import type { StoreBench } from "../store-bench.ts";

const pool = createInlinePool();

/** One Steward's document side, whose syncs run without the job machinery. */
export interface Side extends StoreBench {
  readonly clock: ReturnType<typeof createHandClock>;
  readonly changes: number[];
  readonly forgotten: number[];
  archives: Archive[];
  cursor: Uint8Array | undefined;
  notes: string[];
  messages: string[];
  /** Runs a sync; dies in the place of its commit number `dieAt`. */
  sync(
    input?: Partial<SyncInput>,
    options?: {
      readonly dieAt?: number;
      readonly resumed?: boolean;
      readonly signal?: AbortSignal;
    },
  ): Promise<SyncResult>;
}

export async function openSide(archives: Archive[]): Promise<Side> {
  const bench = await openBench(archives.map(({ name }) => name));
  const clock = createHandClock();
  const ids = countingIds();
  const side: Side = {
    ...bench,
    clock,
    changes: [],
    forgotten: [],
    archives,
    cursor: undefined,
    notes: [],
    messages: [],
    sync,
  };
  const deps: SyncDeps = {
    ...bench,
    archives: () => side.archives,
    pool,
    clock,
    ids,
    groups: {
      forgetMembers: (_, docNos) => void side.forgotten.push(...docNos),
      leaveGroups: () => Promise.resolve(),
      forgetAll: (commit) => commit(() => undefined),
    },
    afterSync: (changed) => void side.changes.push(changed),
  };
  async function sync(
    input: Partial<SyncInput> = {},
    options: { dieAt?: number; resumed?: boolean; signal?: AbortSignal } = {},
  ): Promise<SyncResult> {
    clock.advance(60_000);
    if (options.resumed !== true) side.cursor = undefined;
    side.notes = [];
    let commits = 0;
    const writes: Promise<void>[] = [];
    const job: JobContext<SyncInput> = {
      id: "job",
      input: { force: false, purge: false, ...input },
      signal: options.signal ?? new AbortController().signal,
      phase: (name) => ({
        step: (done, message) => void side.messages.push(`${name} ${done} ${message ?? ""}`),
      }),
      async commit(change, cursor) {
        commits += 1;
        if (options.dieAt !== undefined && commits >= options.dieAt)
          throw new StewardError("cancelled", "died");
        const write = bench.env.write((tx) => {
          change(tx);
          tx.after(() => {
            side.cursor = cursor ?? side.cursor;
          });
        });
        writes.push(write);
        await write;
      },
      resume: () => side.cursor,
      keepWhenCancelled: () => undefined,
      note: (kind, item) => void side.notes.push(`${kind}: ${item}`),
      notes: () => ({}),
    };
    try {
      return await createSyncJob(deps).run(job);
    } finally {
      await Promise.allSettled(writes);
    }
  }
  return side;
}
