/** `steward dedup --apply-plan` and `--undo-plan`: moves the files of a delete plan, and back. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { applyPlan } from "../../dedup/plan/apply.ts";
import type { ApplyOutcome } from "../../dedup/plan/apply.ts";
import { parsePlan } from "../../dedup/plan/plan-file.ts";
import type { DeletePlan } from "../../dedup/plan/plan-file.ts";
import {
  openUndoLog,
  UNDO_ENDING,
  UNDO_FILE_BYTES,
  undoPathOf,
} from "../../dedup/plan/undo-log.ts";
import { undoPlan } from "../../dedup/plan/undo.ts";
import type { UndoOutcome } from "../../dedup/plan/undo.ts";
import { createTrash } from "../../dedup/trash/trash.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import { writeAll } from "../report/output.ts";
import { formatSize } from "../report/size.ts";
import { counted } from "../report/text.ts";
import type { CarryOutArguments } from "./arguments.ts";

const INTERRUPTED = 130;

/** Resolves with the exit code: 1 when a file could not be moved. */
export async function carryOutPlan({
  mode,
  plan: path,
  trial,
}: CarryOutArguments): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const { signal } = interrupt;
  try {
    return await (mode === "apply" ? apply : undo)(path, signal, trial);
  } catch (error) {
    if (!signal.aborted) throw error;
    process.stderr.write("steward dedup: interrupted; the same command goes on from here\n");
    return INTERRUPTED;
  }
}

async function readPlan(path: string): Promise<{ plan: DeletePlan; sha256: string }> {
  try {
    if ((await stat(path)).size > UNDO_FILE_BYTES)
      throw new StewardError("too_large", `${path} is larger than a delete plan can be`);
    const bytes = await readFile(path);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { plan: parsePlan(bytes.toString("utf8"), path), sha256 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof StewardError || code === undefined) throw error;
    throw new StewardError("not_found", `${path} cannot be read (${code})`, {
      remedy: "give the file that --delete-plan wrote",
      cause: error,
    });
  }
}

async function apply(path: string, signal: AbortSignal, trial: boolean): Promise<number> {
  const { plan, sha256 } = await readPlan(path);
  const log = await openUndoLog(undoPathOf(path), sha256);
  const trash = createTrash({
    environment: process.env,
    userId: process.geteuid?.() ?? 0,
    platform: process.platform,
  });
  const tally = createTally();
  const outcomes = applyPlan(plan, { trash, log, clock: systemClock, signal, trial });
  for await (const outcome of outcomes) {
    tally.add(outcome.kind, outcome.entry.sizeBytes);
    await print(describeApplied(outcome), signal);
  }
  const moved = tally.count("moved") + tally.count("moved before");
  await print(
    trial
      ? `Nothing was moved. ${tally.describe("would move")} would go to the trash, ${tally.count("left")} would stay.`
      : `${tally.describe("moved", "moved before")} moved to the trash, ${tally.count("left")} left.`,
    signal,
  );
  if (!trial && moved > 0)
    await print("steward dedup --undo-plan with the same file takes it back.", signal);
  return tally.count("left") === 0 ? 0 : 1;
}

function describeApplied(outcome: ApplyOutcome): string {
  const path = printable(outcome.entry.path);
  switch (outcome.kind) {
    case "moved":
      return `moved ${path} (kept ${printable(outcome.entry.keep.path)})`;
    case "moved before":
      return `moved before ${path}`;
    case "would move":
      return `would move ${path} (keeping ${printable(outcome.entry.keep.path)})`;
    case "left":
      return `left ${path}: it ${printable(outcome.reason)}`;
  }
}

async function undo(path: string, signal: AbortSignal, trial: boolean): Promise<number> {
  const log = await openUndoLog(path.endsWith(UNDO_ENDING) ? path : undoPathOf(path));
  if (log.records.size === 0)
    throw new StewardError("not_found", `there is nothing to take back: no ${log.path}`, {
      remedy: "give a plan that was carried out with --apply-plan and not taken back since",
    });
  const tally = createTally();
  for await (const outcome of undoPlan({ log, signal, trial })) {
    tally.add(outcome.kind, outcome.record.sizeBytes);
    await print(describeUndone(outcome), signal);
  }
  await print(
    trial
      ? `Nothing was moved. ${tally.describe("would restore")} would come back, ${tally.count("not restored")} would not.`
      : `${tally.describe("restored")} restored, ${tally.count("not restored")} not restored.`,
    signal,
  );
  return tally.count("not restored") === 0 ? 0 : 1;
}

function describeUndone(outcome: UndoOutcome): string {
  const path = printable(outcome.record.from);
  return outcome.kind === "not restored"
    ? `not restored ${path}: it ${printable(outcome.reason)}`
    : `${outcome.kind} ${path}`;
}

async function print(line: string, signal: AbortSignal): Promise<void> {
  await writeAll([`${line}\n`], process.stdout, signal);
}

interface Tally {
  add(kind: string, bytes: number): void;
  count(kind: string): number;
  /** `3 files (12 KiB)` of these kinds together. */
  describe(...kinds: readonly string[]): string;
}

function createTally(): Tally {
  const files = new Map<string, number>();
  const bytes = new Map<string, number>();
  const of = (map: ReadonlyMap<string, number>, kind: string): number => map.get(kind) ?? 0;
  return {
    add(kind, size) {
      files.set(kind, of(files, kind) + 1);
      bytes.set(kind, of(bytes, kind) + size);
    },
    count: (kind) => of(files, kind),
    describe(...kinds) {
      const sum = (map: ReadonlyMap<string, number>): number =>
        kinds.reduce((total, kind) => total + of(map, kind), 0);
      return `${counted(sum(files), "file")} (${formatSize(sum(bytes))})`;
    },
  };
}
