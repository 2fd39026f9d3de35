/**
 * Removes documents that are gone from their archives, and at a purge all of them, in bounded
 * transactions.
 */
import { documents } from "../tables.ts";
import { commit } from "./run.ts";
import type { ArchiveRun, SyncRun } from "./run.ts";

/** Documents removed in one transaction, each taken out of its groups. */
const AT_ONCE = 16;
const PURGED_AT_ONCE = 64;

/** Removes what the archives that were read to their end no longer list. */
export async function reconcile(
  run: SyncRun,
  parts: readonly ArchiveRun[],
  step: (done: number, message: string) => void,
): Promise<void> {
  const byName = new Map(parts.map((part) => [part.archive.name, part]));
  const strangers = run.store.index.archives().filter((name) => !byName.has(name));
  const complete = parts.every(
    (part) => part.seen.size >= run.store.index.sizeOf(part.archive.name),
  );
  const { force } = run.job.input;
  if (!force) remarkStrangers(run, strangers);
  if (complete && (strangers.length === 0 || !force)) return;
  const gone: number[] = [];
  const spared = new Map<ArchiveRun, number>();
  await run.env.scan(
    documents,
    (batch) => {
      for (const [docNo, row] of batch) {
        const part = byName.get(row.archive);
        if (
          part === undefined
            ? !force
            : part.error !== undefined || part.seen.has(docNo) || part.seen.hidden(row.archiveRef)
        )
          continue;
        if (part !== undefined && part.seen.anywhere > 0 && !force)
          spared.set(part, (spared.get(part) ?? 0) + 1);
        else gone.push(docNo);
      }
    },
    { sliceMs: 5, signal: run.job.signal },
  );
  for (const [part, count] of spared) {
    run.tally.remark(
      `${part.archive.name}: ${count} documents are no longer listed but kept, because ${part.seen.anywhere} lines could not be read; fix those lines or run sync with force`,
    );
  }
  for (let at = 0; at < gone.length; at += AT_ONCE) {
    await removeGone(run, gone.slice(at, at + AT_ONCE));
    step(
      Math.min(1, (at + AT_ONCE) / gone.length),
      `${Math.min(gone.length, at + AT_ONCE)} of ${gone.length} deleted documents removed`,
    );
  }
}

function remarkStrangers(run: SyncRun, strangers: readonly string[]): void {
  for (const name of strangers) {
    run.tally.remark(
      `${name} is no longer among the archives; its ${run.store.index.sizeOf(name)} documents are kept until a sync with force`,
    );
  }
}

async function removeGone(run: SyncRun, docNos: readonly number[]): Promise<void> {
  run.tally.reconciled += docNos.length;
  const nowMs = run.clock.now();
  await commit(run, (tx) => {
    for (const docNo of docNos) {
      run.groups.forgetMember(tx, docNo, nowMs);
      run.store.remove(tx, docNo);
    }
  });
  await run.store.dropTexts(docNos);
}

/** Forgets every document, text, group and decision. Numbers are not given again. */
export async function purge(
  run: SyncRun,
  step: (done: number, message: string) => void,
): Promise<void> {
  await run.groups.forgetAll((change) => commit(run, change), run.job.signal);
  const total = run.store.index.size;
  for (let done = 0; ;) {
    run.job.signal.throwIfAborted();
    const docNos = run.env.read((snapshot) =>
      [...snapshot.range(documents, { limit: PURGED_AT_ONCE })].map(([docNo]) => docNo),
    );
    if (docNos.length === 0) break;
    await commit(run, (tx) => {
      for (const docNo of docNos) run.store.remove(tx, docNo);
    });
    await run.store.dropTexts(docNos);
    done += docNos.length;
    step(Math.min(1, done / Math.max(total, done)), `${done} of ${total} documents removed`);
  }
  run.purged = true;
  await commit(run, () => undefined);
}
