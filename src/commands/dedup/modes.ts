/** What `steward dedup` does beside finding groups: the review, and carrying out a delete plan. */
import type { Misuse } from "../command.ts";
import type { OptionTable, ParsedOptions } from "../options.ts";
import type {
  CarryOutArguments,
  ModeArguments,
  PlanArguments,
  ReviewArguments,
} from "./arguments.ts";
import { analysisArguments, analysisOptions } from "./options.ts";

const REVIEW = "review";
const PLANS = ["apply-plan", "undo-plan"] as const;

export const modeOptions: OptionTable = {
  all: {},
  "delete-plan": { value: "text" },
  "apply-plan": { value: "text" },
  "undo-plan": { value: "text" },
  "dry-run": {},
};

/** Undefined when groups are to be found and printed. Throws what `misuse` makes of a problem. */
export function modeArguments(parsed: ParsedOptions, misuse: Misuse): ModeArguments | undefined {
  const [plan, second] = PLANS.filter((name) => parsed.texts.has(name));
  if (second !== undefined) throw misuse("--apply-plan and --undo-plan exclude each other");
  if (plan !== undefined) return carryOutArguments(plan, parsed, misuse);
  if (parsed.switches.has("dry-run"))
    throw misuse("--dry-run goes with --apply-plan or --undo-plan");
  return parsed.positionals[0] === REVIEW ? reviewArguments(parsed, misuse) : undefined;
}

/** Which plan a run makes that finds and prints groups. */
export function planArguments({ texts, switches }: ParsedOptions, misuse: Misuse): PlanArguments {
  const deletePlan = texts.get("delete-plan");
  const all = switches.has("all");
  if (all && deletePlan === undefined) throw misuse("--all goes with --delete-plan or review");
  if (deletePlan === "-")
    throw misuse("--delete-plan needs the name of a file: the undo file is written beside it");
  return { deletePlan, all };
}

function carryOutArguments(
  option: (typeof PLANS)[number],
  parsed: ParsedOptions,
  misuse: Misuse,
): CarryOutArguments {
  const plan = parsed.texts.get(option) ?? "";
  if (plan === "") throw misuse(`--${option} must not be empty`);
  if (parsed.positionals.length > 0)
    throw misuse(`--${option} takes no PATH: the plan names the files`);
  refuseOthers(parsed, [option, "dry-run", "quiet"], `--${option}`, misuse);
  const mode = option === "apply-plan" ? "apply" : "undo";
  return { mode, plan, trial: parsed.switches.has("dry-run") };
}

function reviewArguments(parsed: ParsedOptions, misuse: Misuse): ReviewArguments {
  refuseOthers(parsed, [...Object.keys(analysisOptions), "all"], REVIEW, misuse);
  const positionals = parsed.positionals.slice(1);
  if (positionals.includes("-"))
    throw misuse("review reads keys from standard input, so - cannot be a PATH");
  return {
    ...analysisArguments({ ...parsed, positionals }, misuse),
    mode: "review",
    all: parsed.switches.has("all"),
  };
}

function refuseOthers(
  { switches, texts, numbers, lists }: ParsedOptions,
  known: readonly string[],
  who: string,
  misuse: Misuse,
): void {
  const given = [...switches, ...texts.keys(), ...numbers.keys(), ...lists.keys()];
  const other = given.find((name) => !known.includes(name));
  if (other !== undefined) throw misuse(`--${other} does not go with ${who}`);
}

/** Runs a mode; resolves with its exit code. */
export async function runMode(options: ModeArguments): Promise<number> {
  if (options.mode === "review") {
    const { review } = await import("./review/review.ts");
    return review(options);
  }
  const { carryOutPlan } = await import("./carry-out.ts");
  return carryOutPlan(options);
}
