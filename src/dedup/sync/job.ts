/**
 * The sync: every archive read, its texts digested on the pool, what changed stored, what is gone
 * removed.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { JobContext, JobType } from "../../kernel/jobs/types.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Archive } from "../archives/archive.ts";
import { digestRequest } from "../archives/digests.ts";
import { oneAhead } from "../archives/ordered.ts";
import type { DocumentStore } from "../documents/store.ts";
import type { Membership } from "../groups/membership.ts";
import {
  metaDocNos,
  metaNumber,
  setMetaDocNos,
  setMetaNumber,
  setSkippedItems,
  skippedItems,
} from "../meta.ts";
import type { DedupReport, SyncCounts } from "../telemetry/report.ts";
import { applyBatch } from "./apply.ts";
import { readDigested } from "./digest.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { purge, reconcile } from "./reconcile.ts";
import { createTally, LISTED, progressCodec, syncInput } from "./result.ts";
import type { SyncInput, SyncResult } from "./result.ts";
import { commit, isArchiveFailure } from "./run.ts";
import type { ArchiveRun, SyncRun } from "./run.ts";
import { createSeen } from "./seen.ts";

export interface SyncDeps {
  /** Holds documents, groups, decisions and jobs. */
  readonly env: Env;
  readonly store: DocumentStore;
  /** In their order in lists; read anew for each sync. */
  readonly archives: () => readonly Archive[];
  readonly groups: Membership;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly ids: Ids;
  /**
   * Called near the end of each sync that was not interrupted, also when archives could not be read,
   * with the number of documents inserted, given another text, and removed.
   */
  readonly afterSync?: (changed: number) => void | Promise<void>;
  readonly report?: Pick<DedupReport, "sync">;
}

const PARTS = 1_000;

/**
 * The job type. The run throws when an archive could not be read to its end, after the others were
 * synced; what was stored stays. A sync interrupted by a crash starts reading again and finds what
 * it stored before.
 */
export function createSyncJob(deps: SyncDeps): JobType<SyncInput, SyncResult> {
  return {
    type: "sync",
    input: syncInput,
    onCrash: "resume",
    phases: { purge: 0.02, read: 0.93, reconcile: 0.04, finish: 0.01 },
    exclusive: "sync",
    run: (job) => runSync(deps, job),
  };
}

async function runSync(deps: SyncDeps, job: JobContext<SyncInput>): Promise<SyncResult> {
  const run = await begin(deps, job);
  if (job.input.purge && !run.purged) await purge(run, stepper(job, "purge"));
  const archives = deps.archives();
  const parts: ArchiveRun[] = [];
  const read = stepper(job, "read");
  const count = deps.report?.sync(countsOf(run));
  for (const [at, archive] of archives.entries()) {
    using removed = run.store.watchRemovals(archive.name);
    const known = run.store.index.sizeOf(archive.name);
    const part = { archive, seen: createSeen(), known, removed };
    parts.push(
      await readArchive(deps, run, part, (fraction, message) => {
        count?.(countsOf(run));
        read((at + fraction) / archives.length, message);
      }),
    );
  }
  count?.(countsOf(run));
  await reconcile(run, parts, stepper(job, "reconcile"));
  return await finish(deps, run, parts);
}

function countsOf({ tally }: SyncRun): SyncCounts {
  const { inserted, updated, unchanged: skipped, failed } = tally;
  return { inserted, updated, skipped, failed };
}

function stepper(
  job: JobContext<SyncInput>,
  phase: string,
): (fraction: number, message: string) => void {
  const entered = job.phase(phase, PARTS);
  return (fraction, message) => entered.step(Math.floor(fraction * PARTS), message);
}

async function begin(
  { env, store, groups, clock, ids }: SyncDeps,
  job: JobContext<SyncInput>,
): Promise<SyncRun> {
  const cursor = job.resume();
  const before = cursor && progressCodec.read(cursor);
  const stored = env.read((snapshot) => ({
    serial: metaNumber(snapshot, "syncSerial") ?? 0,
    first: metaNumber(snapshot, "lastSyncAtMs") === undefined,
    nextDocNo: metaNumber(snapshot, "nextDocNo") ?? 1,
    rewriting: metaDocNos(snapshot, "rewriting"),
  }));
  const { force, purge } = job.input;
  const run: SyncRun = {
    job,
    env,
    store,
    groups,
    clock,
    ids,
    tally: createTally(before ?? { inserted: 0, updated: 0, reconciled: 0, reworded: 0 }),
    serial: before?.serial ?? stored.serial + 1,
    startedAtMs: before?.startedAtMs ?? clock.now(),
    syncType: before?.syncType ?? (force || purge || stored.first ? "full" : "incremental"),
    purged: before?.purged ?? false,
    nextDocNo: stored.nextDocNo,
    rewriting: new Set(stored.rewriting),
  };
  if (before === undefined) await commit(run, (tx) => setMetaNumber(tx, "syncSerial", run.serial));
  return run;
}

async function readArchive(
  deps: SyncDeps,
  run: SyncRun,
  part: ArchiveRun,
  step: (fraction: number, message: string) => void,
): Promise<ArchiveRun> {
  const { signal, input } = run.job;
  const { archive } = part;
  const matched = new Map<string, DocumentRow>();
  const fetchedBefore = run.tally.fetched;
  const known = (ref: string, version: string): boolean => {
    const row = run.store.byRef(archive.name, ref);
    if (
      row === undefined ||
      run.rewriting.has(row.docNo) ||
      Buffer.compare(row.fingerprint, fingerprintOf(version)) !== 0
    )
      return false;
    matched.set(ref, row);
    return true;
  };
  try {
    // Reading begins with requests that are repeated; a probe fails at the first passing error.
    if (archive.kind !== "paperless") await archive.check(signal);
    step(0, `reading ${archive.name}`);
    // Where nothing is known, asking first would read everything twice.
    const force = input.force || part.known === 0;
    const options = { known, force, digest: digestRequest(), signal };
    for await (const batch of oneAhead(readDigested(archive, deps.pool, options))) {
      await applyBatch(run, part, batch, matched);
      step(batch.fraction, progressMessage(run, archive.name));
    }
    const listed = run.tally.fetched - fetchedBefore;
    if (listed === 0 && part.known > 0 && !part.seen.hidesSomething && !input.force)
      throw emptyArchive(archive, part.known);
  } catch (error) {
    // A broken store or a cancelled job ends the sync; only the archive's own failure lets the
    // others go on.
    if (signal.aborted || !isArchiveFailure(error)) throw error;
    part.error = error;
    run.tally.remark(toStewardError(error).message);
  }
  return part;
}

function emptyArchive({ name, kind }: Archive, known: number): StewardError {
  return new StewardError(
    "upstream",
    `archive ${name} is empty, but ${known} documents of it are known; run sync with force if it really is empty`,
    {
      rule: "EMPTY",
      remedy:
        kind === "paperless"
          ? `check that the user of archive "${name}" may still view documents, or run sync with force`
          : "check that the archive is mounted, or run sync with force",
    },
  );
}

function progressMessage({ tally }: SyncRun, name: string): string {
  return `${name}: ${tally.fetched} documents read, ${tally.inserted} new, ${tally.updated} changed`;
}

async function finish(
  deps: SyncDeps,
  run: SyncRun,
  parts: readonly ArchiveRun[],
): Promise<SyncResult> {
  const { tally } = run;
  // New metadata alone give an analysis nothing to compare.
  const changed = tally.inserted + tally.reworded + tally.reconciled;
  const broken = parts.filter((part) => part.error !== undefined);
  stepper(run.job, "finish")(
    0,
    `${tally.inserted} new, ${tally.updated} changed, ${tally.unchanged} unchanged, ${tally.reconciled} removed`,
  );
  const unread = new Set(broken.map(({ archive }) => archive.name));
  const before = run.env.read(skippedItems).filter(({ archive }) => unread.has(archive));
  const listed = tally.skipped.filter(({ archive }) => !unread.has(archive));
  await commit(run, (tx) => setSkippedItems(tx, [...before, ...listed].slice(0, LISTED)));
  if (broken.length === 0) {
    const left = [...run.rewriting].filter((docNo) => run.store.row(docNo) !== undefined);
    await commit(run, (tx) => {
      setMetaDocNos(tx, "rewriting", left);
      setMetaNumber(tx, "lastSyncAtMs", run.startedAtMs);
      setMetaNumber(tx, "lastSyncCount", tally.inserted + tally.updated);
    });
  }
  await deps.afterSync?.(changed);
  const [first] = broken;
  if (first !== undefined)
    throw failure(first, broken.length, parts.length, tally.inserted, tally.updated);
  return tally.result(Math.max(0, run.clock.now() - run.startedAtMs), run.syncType);
}

function failure(
  first: ArchiveRun,
  broken: number,
  all: number,
  inserted: number,
  updated: number,
): StewardError {
  const error = toStewardError(first.error);
  if (all === 1) return error;
  const rest = `; ${all - broken} of ${all} archives were synced: ${inserted} new, ${updated} changed`;
  return new StewardError(error.code, error.message + rest, {
    cause: error,
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
  });
}
