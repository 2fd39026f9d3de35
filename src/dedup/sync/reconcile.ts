/**
 * Removes documents that are gone from their archives, and at a purge all of them, in bounded
 * transactions.
 */
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Tx } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import { documents } from "../tables.ts";
import { commit, isArchiveFailure } from "./run.ts";
import type { ArchiveRun, SyncRun } from "./run.ts";

/** Documents removed in one transaction, each taken out of its groups. */
const AT_ONCE = 16;
const PURGED_AT_ONCE = 64;
/** More documents than this, and more than half, are not removed without force. */
const MASS_FROM = 20;

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
  const { gone, spared } = await findGone(run, byName);
  for (const [part, count] of spared) {
    run.tally.remark(
      `${part.archive.name}: ${count} documents are no longer listed but kept, because part of the archive could not be read; fix that part or run sync with force`,
    );
  }
  const removable: number[] = [];
  for (const [part, found] of Map.groupBy(gone, ({ part }) => part))
    for (const docNo of part === undefined
      ? found.map((one) => one.docNo)
      : await confirmed(run, part, found))
      removable.push(docNo);
  for (let at = 0; at < removable.length; at += AT_ONCE) {
    await removeGone(run, removable.slice(at, at + AT_ONCE));
    step(
      Math.min(1, (at + AT_ONCE) / removable.length),
      `${Math.min(removable.length, at + AT_ONCE)} of ${removable.length} deleted documents removed`,
    );
  }
}

/** A known document that its archive did not list; without a part its archive is gone, too. */
interface Gone {
  readonly docNo: number;
  readonly ref: string;
  readonly part: ArchiveRun | undefined;
}

/** What was not listed, and how many stay because unreadable lines may hide them. */
async function findGone(
  run: SyncRun,
  byName: ReadonlyMap<string, ArchiveRun>,
): Promise<{ readonly gone: Gone[]; readonly spared: Map<ArchiveRun, number> }> {
  const { force } = run.job.input;
  const gone: Gone[] = [];
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
        else gone.push({ docNo, ref: row.archiveRef, part });
      }
    },
    { sliceMs: 5, signal: run.job.signal },
  );
  return { gone, spared };
}

/**
 * Those of them that the archive confirms to be gone. A user who loses rights, a folder that is not
 * mounted, and a file that is half written look like a mass deletion: that fails the archive, and
 * nothing is removed.
 */
async function confirmed(run: SyncRun, part: ArchiveRun, gone: readonly Gone[]): Promise<number[]> {
  const { archive } = part;
  const { signal, input } = run.job;
  try {
    if (!input.force && gone.length > MASS_FROM && gone.length * 2 > part.known)
      throw massDeletion(archive, gone.length, part.known);
    if (archive.stillThere === undefined) return gone.map(({ docNo }) => docNo);
    const there = await archive.stillThere(
      gone.map(({ ref }) => ref),
      signal,
    );
    return gone.filter(({ ref }) => !there.has(ref)).map(({ docNo }) => docNo);
  } catch (error) {
    if (signal.aborted || !isArchiveFailure(error)) throw error;
    part.error = error;
    run.tally.remark(toStewardError(error).message);
    return [];
  }
}

function massDeletion({ name, kind }: Archive, gone: number, known: number): StewardError {
  const deleted = kind === "folder" ? "deleted or moved" : "deleted";
  return new StewardError(
    "upstream",
    `archive ${name} no longer lists ${gone} of ${known} known documents; they are kept. Run sync with force if they really were ${deleted}`,
    { rule: "VANISHED", remedy: `${CHECKS[kind](name)}, or run sync with force` },
  );
}

const CHECKS: Readonly<Record<Archive["kind"], (name: string) => string>> = {
  paperless: (name) => `check that the user of archive "${name}" may still view all documents`,
  folder: (name) => `check that all folders of archive "${name}" are mounted`,
  jsonl: (name) => `check that the file of archive "${name}" is whole`,
  file: (name) => `check that the file of archive "${name}" is whole`,
};

function remarkStrangers(run: SyncRun, strangers: readonly string[]): void {
  for (const name of strangers) {
    run.tally.remark(
      `${name} is no longer among the archives; its ${run.store.index.sizeOf(name)} documents are kept until a sync with force`,
    );
  }
}

async function removeGone(run: SyncRun, docNos: readonly number[]): Promise<void> {
  const nowMs = run.clock.now();
  const store = { env: run.env, commit: (change: (tx: Tx) => void) => commit(run, change) };
  await run.groups.leaveGroups(store, docNos, nowMs);
  run.tally.reconciled += docNos.length;
  await commit(run, (tx) => {
    run.groups.forgetMembers(tx, docNos, nowMs);
    for (const docNo of docNos) run.store.remove(tx, docNo);
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
