/**
 * Takes a delete plan back: moves files from the trash to where they were. Nothing that is there by
 * now is replaced. An interrupted run is finished by another one.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { exists, forgetPlace, isSameFile, restoreFromTrash } from "../trash/trash.ts";
import { describeFailure, readFileState } from "./file-state.ts";
import type { UndoLog, UndoRecord } from "./undo-log.ts";

/** What became of a file that a plan moved. */
export type UndoOutcome =
  | { readonly kind: "restored"; readonly record: UndoRecord }
  | { readonly kind: "would restore"; readonly record: UndoRecord }
  /** Its move never happened, or was taken back before. */
  | { readonly kind: "in place"; readonly record: UndoRecord }
  /** The reason continues "it …". */
  | { readonly kind: "not restored"; readonly record: UndoRecord; readonly reason: string };

export interface UndoDeps {
  readonly log: UndoLog;
  readonly signal: AbortSignal;
  /** Check everything and move nothing. */
  readonly trial: boolean;
}

/**
 * One outcome a file, the last moved first. The undo file goes when all files are back. Throws the
 * signal's reason between two files.
 */
export async function* undoPlan(deps: UndoDeps): AsyncGenerator<UndoOutcome> {
  let complete = true;
  for (const record of [...deps.log.records.values()].toReversed()) {
    deps.signal.throwIfAborted();
    const outcome = await undoOne(record, deps);
    complete &&= outcome.kind !== "not restored";
    yield outcome;
  }
  if (complete && !deps.trial) await deps.log.remove();
}

async function undoOne(record: UndoRecord, { signal, trial }: UndoDeps): Promise<UndoOutcome> {
  const { from, to } = record;
  try {
    const isBack = await exists(from);
    if (!(await exists(to))) {
      const gone = `is not in the trash any more: ${to}`;
      if (!isBack) return { kind: "not restored", record, reason: gone };
      const state = await readFileState(from, signal);
      if ("problem" in state || state.sha256 !== record.sha256)
        return { kind: "not restored", record, reason: `${gone}; another file is in its place` };
      if (!trial) await forgetPlace(record);
      return { kind: "in place", record };
    }
    // An interrupted run left it under both names.
    if (isBack && !(await isSameFile(from, to)))
      return { kind: "not restored", record, reason: "would replace a file that is there now" };
    const state = await readFileState(to, signal);
    if ("problem" in state || state.sha256 !== record.sha256)
      return { kind: "not restored", record, reason: `is another file in the trash now: ${to}` };
    if (trial) return { kind: "would restore", record };
    await restoreFromTrash(from, record);
    return { kind: "restored", record };
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof StewardError ? error.message : describeFailure(error);
    return { kind: "not restored", record, reason };
  }
}
