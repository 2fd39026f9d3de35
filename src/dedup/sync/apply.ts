/** Stores what a batch of an archive brought: texts first, then the rows that point to them. */
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { cutText } from "../../../workers/text/decode.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { assert } from "../../kernel/base/errors.ts";
import type { Tx } from "../../kernel/state/types.ts";
import type { DigestedDocument } from "../archives/archive.ts";
import { rowBatches } from "../documents/row-batches.ts";
import type { StoredText } from "../documents/store.ts";
import { documents } from "../tables.ts";
import { metaNumber, setMetaDocNos, setMetaNumber } from "../meta.ts";
import type { DigestedBatch } from "./digest.ts";
import { planLabels, planRow } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { commit } from "./run.ts";
import type { ArchiveRun, SyncRun } from "./run.ts";

/** The most of a remark that the job's row keeps: it is written with every commit. */
const NOTE_UNITS = 200;

/** With the text where it was read. */
interface Planned extends Plan {
  readonly zstd?: Uint8Array;
}

/**
 * Applies a batch. `matched` gives the rows of documents that the archive left unread because they
 * are known.
 */
export async function applyBatch(
  run: SyncRun,
  part: ArchiveRun,
  batch: DigestedBatch,
  matched: Map<string, DocumentRow>,
): Promise<void> {
  const plans: Planned[] = [];
  const rewritten: StoredText[] = [];
  for (const item of batch.items) {
    if (item.kind === "skipped") {
      run.tally.skip(part.archive.name, item);
      part.seen.hide(item);
      if (item.failure)
        run.job.note(
          item.reason,
          cutText(`${part.archive.name}: ${item.ref}: ${item.detail}`, NOTE_UNITS),
        );
      continue;
    }
    run.tally.fetched += 1;
    if (item.kind === "unchanged") {
      const row = matched.get(item.ref);
      matched.delete(item.ref);
      if (item.below === true) part.seen.hideBelow(item.ref);
      if (row === undefined) continue;
      const relabelled = item.labels && planLabels(row, item.labels, run.serial);
      if (relabelled === undefined) keep(run, part, row);
      else plans.push(relabelled);
      continue;
    }
    for (const note of item.document.notes)
      run.job.note(note, cutText(`${part.archive.name}: ${item.document.ref}`, NOTE_UNITS));
    // Listed before a deletion removed it. One that is there again is new to the next sync.
    if (part.removed.has(item.document.ref)) continue;
    const { plan, kept } = planDocument(run, part, item);
    if (plan !== undefined) plans.push({ ...plan, zstd: item.digest.zstd });
    // Read although its version is known: what is stored under it may be damaged or older.
    else if (run.job.input.force) rewritten.push(...textOf(kept, item.digest.zstd));
  }
  if (rewritten.length > 0) await run.store.putTexts(rewritten);
  if (plans.length > 0) await writePlans(run, part, plans);
}

function keep(run: SyncRun, part: ArchiveRun, row: DocumentRow): void {
  part.seen.add(row.docNo);
  // What this very sync wrote before a crash is counted already.
  if (row.seenIn !== run.serial) run.tally.unchanged += 1;
}

/** The change to a document's row, or the row where nothing changes. */
function planDocument(
  run: SyncRun,
  part: ArchiveRun,
  item: DigestedDocument,
):
  | { readonly plan: Plan; readonly kept?: never }
  | { readonly plan?: never; readonly kept: DocumentRow } {
  const { name } = part.archive;
  const before = run.store.byRef(name, item.document.ref);
  const plan = planRow(before, item, {
    archive: name,
    serial: run.serial,
    startedAtMs: run.startedAtMs,
    name: () => ({ docNo: run.nextDocNo++, id: run.ids.nanoid() }),
  });
  if (plan !== undefined) return { plan };
  assert(before !== undefined, "a document that is not known has a plan");
  if (!run.rewriting.has(before.docNo)) {
    keep(run, part, before);
    return { kept: before };
  }
  // The row is right, its text may be another one's.
  const row = { ...before, seenIn: run.serial };
  return { plan: { row, before, newText: true, storesText: true } };
}

async function writePlans(
  run: SyncRun,
  part: ArchiveRun,
  plans: readonly Planned[],
): Promise<void> {
  const replaced = plans.filter(
    ({ before, newText }) => newText && before !== undefined && before.contentHash.length > 0,
  );
  if (replaced.length > 0) {
    for (const { row } of replaced) run.rewriting.add(row.docNo);
    await commit(run, (tx) => setMetaDocNos(tx, "rewriting", [...run.rewriting]));
  }
  await run.store.putTexts(
    plans.flatMap(({ row, storesText, zstd }) =>
      storesText && zstd !== undefined ? textOf(row, zstd) : [],
    ),
  );
  const batches = rowBatches(plans, ({ row }) => row);
  const removed = (
    await Promise.all([...batches].map((rows) => writeRows(run, part, rows)))
  ).flat();
  const emptied = plans.filter(
    ({ row, before }) =>
      row.contentHash.length === 0 && before !== undefined && before.contentHash.length > 0,
  );
  const textless = [...emptied, ...removed];
  if (textless.length > 0) await run.store.dropTexts(textless.map(({ row }) => row.docNo));
}

/** None of a document without words. */
function textOf({ docNo, contentHash }: DocumentRow, zstd: Uint8Array): StoredText[] {
  return contentHash.length > 0 ? [{ docNo, contentHash, zstd }] : [];
}

/** Writes rows, without those of documents that were removed since they were read: returns them. */
async function writeRows(
  run: SyncRun,
  part: ArchiveRun,
  rows: readonly Planned[],
): Promise<Planned[]> {
  // Before the commit, so that the counts stored with the rows have them.
  count(run, rows, 1);
  const settled = rows.filter(({ row }) => run.rewriting.delete(row.docNo)).length;
  const left = [...run.rewriting];
  const { nextDocNo } = run;
  const removed = new Set<Planned>();
  await commit(run, (tx) => {
    const syncedAtMs = writtenAtMs(tx, run.clock);
    for (const plan of rows) {
      if (plan.before !== undefined && tx.get(documents, plan.row.docNo) === undefined)
        removed.add(plan);
      else run.store.put(tx, { ...plan.row, syncedAtMs });
    }
    setMetaNumber(tx, "nextDocNo", nextDocNo);
    if (settled > 0) setMetaDocNos(tx, "rewriting", left);
  });
  for (const plan of rows) if (!removed.has(plan)) part.seen.add(plan.row.docNo);
  count(run, [...removed], -1);
  return [...removed];
}

function count({ tally }: SyncRun, rows: readonly Planned[], sign: 1 | -1): void {
  const inserted = rows.filter(({ before }) => before === undefined).length;
  tally.inserted += sign * inserted;
  tally.updated += sign * (rows.length - inserted);
  tally.reworded += sign * rows.filter(({ before, newText }) => before && newText).length;
}

/**
 * Now, but later than the last analysis even when the clock was set back: a group counts as
 * described while its members were stored before.
 */
function writtenAtMs(tx: Tx, clock: Clock): number {
  const analysedAtMs = metaNumber(tx, "lastAnalysisAtMs");
  return analysedAtMs === undefined ? clock.now() : Math.max(clock.now(), analysedAtMs + 1);
}
