/**
 * Carries out a delete plan: moves files to the trash. Before each move the file and the one that
 * stays for it are read again and must be what they were when the plan was made, and the move is
 * noted in the undo file. An interrupted run is finished by another one.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { exists } from "../trash/trash.ts";
import type { Trash } from "../trash/trash.ts";
import { describeFailure, readFileFacts, readFileState } from "./file-state.ts";
import type { FileState, NoFileState } from "./file-state.ts";
import type { DeletePlan, PlanEntry, PlanFile } from "./plan-file.ts";
import type { UndoLog, UndoRecord } from "./undo-log.ts";

/** What became of a file of a plan. */
export type ApplyOutcome =
  | { readonly kind: "moved"; readonly entry: PlanEntry; readonly to: string }
  /** A run before this one moved it. */
  | { readonly kind: "moved before"; readonly entry: PlanEntry; readonly to: string }
  /** It would be moved: of a trial. */
  | { readonly kind: "would move"; readonly entry: PlanEntry }
  /** It stays; the reason continues "it …". */
  | { readonly kind: "left"; readonly entry: PlanEntry; readonly reason: string };

export interface ApplyDeps {
  readonly trash: Trash;
  readonly log: UndoLog;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Check everything and move nothing. */
  readonly trial: boolean;
}

/** Files that stay whose state is remembered, so that one that stays for many is read once. */
const REMEMBERED = 1_024;

/** One outcome an entry, in order. Throws the signal's reason between two entries. */
export async function* applyPlan(
  { entries }: Pick<DeletePlan, "entries">,
  deps: ApplyDeps,
): AsyncGenerator<ApplyOutcome> {
  const checkKept = createKeptCheck(deps.signal);
  for (const entry of entries) {
    deps.signal.throwIfAborted();
    yield await applyOne(entry, checkKept, deps);
  }
}

async function applyOne(
  entry: PlanEntry,
  checkKept: KeptCheck,
  deps: ApplyDeps,
): Promise<ApplyOutcome> {
  const known = deps.log.records.get(entry.path);
  if (known && (await exists(known.to)) && !(await exists(entry.path)))
    return { kind: "moved before", entry, to: known.to };
  const own = await readFileState(entry.path, deps.signal);
  const reason = await whyLeft(entry, own, checkKept);
  if (reason !== undefined) return { kind: "left", entry, reason };
  if (deps.trial) return { kind: "would move", entry };
  try {
    return { kind: "moved", entry, to: await move(entry, known, deps) };
  } catch (error) {
    deps.signal.throwIfAborted();
    return { kind: "left", entry, reason: describeMoveFailure(error) };
  }
}

async function whyLeft(
  entry: PlanEntry,
  own: FileState | NoFileState,
  checkKept: KeptCheck,
): Promise<string | undefined> {
  if ("problem" in own) return own.problem;
  if (!isUnchanged(own, entry)) return "has changed since the plan was made";
  const kept = await checkKept(entry.keep);
  if ("problem" in kept)
    return `would have no copy: the file that stays, ${entry.keep.path}, ${kept.problem}`;
  if (!isUnchanged(kept, entry.keep))
    return `might have no copy: the file that stays, ${entry.keep.path}, has changed since the plan was made`;
  if (kept.file === own.file)
    return `is the same file as the one that stays, ${entry.keep.path}, under another name`;
  return undefined;
}

function isUnchanged(state: FileState, { sizeBytes, sha256 }: PlanFile): boolean {
  return state.sizeBytes === sizeBytes && state.sha256 === sha256;
}

/** The place is noted durably first: a move that nobody knows of could not be taken back. */
async function move(
  entry: PlanEntry,
  known: UndoRecord | undefined,
  { trash, log, clock }: ApplyDeps,
): Promise<string> {
  const now = new Date(clock.now());
  const { path: from, sizeBytes, sha256 } = entry;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const place = await trash.place(from);
    // The place that an interrupted run has noted comes first.
    if (attempt === 0 && known?.sha256 === sha256 && (await trash.move(from, known, now)))
      return known.to;
    await log.append({ from, ...place, sizeBytes, sha256 });
    if (await trash.move(from, place, now)) return place.to;
  }
  throw new StewardError("conflict", "another program takes every name in the trash");
}

type KeptCheck = (file: PlanFile) => Promise<FileState | NoFileState>;

/** Reads a file that stays at its first use. The newest are remembered. */
function createKeptCheck(signal: AbortSignal): KeptCheck {
  const states = new Map<string, Awaited<ReturnType<KeptCheck>>>();
  return async ({ path }) => {
    const known = states.get(path);
    // It may have gone or changed since it was read.
    if (known && !("problem" in known) && (await isSameState(path, known))) return known;
    const state = await readFileState(path, signal);
    states.delete(path);
    states.set(path, state);
    for (const oldest of states.keys()) {
      if (states.size <= REMEMBERED) break;
      states.delete(oldest);
    }
    return state;
  };
}

async function isSameState(path: string, { version, file }: FileState): Promise<boolean> {
  const now = await readFileFacts(path);
  return !("problem" in now) && now.version === version && now.file === file;
}

function describeMoveFailure(error: unknown): string {
  if (error instanceof StewardError)
    return `cannot be moved: ${error.message}${error.remedy === undefined ? "" : `; ${error.remedy}`}`;
  const { code } = error as NodeJS.ErrnoException;
  return code === "EXDEV"
    ? "cannot be moved: its folder is on another disk than the trash (EXDEV)"
    : describeFailure(error);
}
