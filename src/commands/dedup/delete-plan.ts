/** `--delete-plan`: which files would go, as a file that `--apply-plan` carries out. */
import { makeDeletePlan } from "../../dedup/plan/make.ts";
import { formatPlan } from "../../dedup/plan/plan-file.ts";
import type { DeletePlan } from "../../dedup/plan/plan-file.ts";
import { undoPathOf } from "../../dedup/plan/undo-log.ts";
import { exists } from "../../dedup/trash/trash.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { formatSize } from "../report/size.ts";
import { counted, formatCount } from "../report/text.ts";
import type { Findings } from "./find.ts";
import type { Run } from "./run.ts";

const OPTION = "--delete-plan";

/** The plan as one of the outputs. With a state folder it is of accepted groups, unless `all`. */
export async function deletePlanOutput(
  run: Run,
  { corpus, reviewed, decisions }: Findings,
  path: string,
  all: boolean,
) {
  const plan = await makeDeletePlan({
    ...run,
    groups: reviewed,
    which: all || decisions === undefined ? "all" : "accepted",
    decisions,
    corpus,
    clock: systemClock,
  });
  return { option: OPTION, path, pieces: formatPlan(plan), holds: describePlan(plan) };
}

/** Throws when the plan of that name was carried out: its undo file would belong to no plan. */
export async function refuseCarriedOut(path: string): Promise<void> {
  const undo = undoPathOf(path);
  if (await exists(undo))
    throw new StewardError("conflict", `${OPTION} ${path}: that plan was carried out`, {
      remedy: `give another name; ${undo} takes it back with --undo-plan`,
    });
}

/** `3 files (1.2 MiB) of 2 accepted groups would go; 2 stay: 1 is a line of a file, …`. */
function describePlan({ summary, groups, retained }: DeletePlan): string {
  const { files, bytes } = summary;
  const kind = groups === "accepted" ? "accepted group" : "group";
  const going = `${counted(files, "file")} (${formatSize(bytes)}) of ${counted(summary.groups, kind)} would go`;
  const hint =
    groups === "accepted" && files + retained.length === 0
      ? "; no group was accepted: steward dedup review accepts, --all takes all groups"
      : "";
  return `${going}${describeRetained(retained)}${hint}`;
}

function describeRetained(retained: DeletePlan["retained"]): string {
  if (retained.length === 0) return "";
  const counts = new Map<string, number>();
  for (const { reason } of retained) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${formatCount(count)} ${reason}`);
  return `; ${formatCount(retained.length)} stay: ${reasons.join(", ")}`;
}
