/** What the command line of `steward dedup` says. */
import type { ColorChoice } from "../report/style.ts";
import type { NumberName } from "../../dedup/analysis/parameters.ts";

/** What is read and compared; undefined means not given. */
export interface AnalysisArguments {
  /** Folders and files as given; `-` is standard input and comes once at most. Empty only with `--explain`. */
  readonly paths: readonly string[];
  /** Patterns of files to read and to leave out below folders. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** The fields of JSON Lines that hold id and text. */
  readonly idField: string | undefined;
  readonly textField: string | undefined;
  /** Those that were given, each within its range. */
  readonly parameters: Partial<Readonly<Record<NumberName, number>>>;
  /** 1 to 256. */
  readonly workers: number | undefined;
  /** A folder to keep state in. */
  readonly state: string | undefined;
  readonly quiet: boolean;
}

/** Which delete plan a run makes. */
export interface PlanArguments {
  /** The file to write. */
  readonly deletePlan: string | undefined;
  /** Of all groups, not only of those that were accepted. */
  readonly all: boolean;
}

/** What `--explain` needs. */
export interface ExplainArguments {
  /** The two documents as the report names them. */
  readonly pair: readonly [string, string];
  readonly json: boolean;
}

/** Files to write; `-` is standard output. */
interface OutputArguments {
  readonly csv: string | undefined;
  readonly html: string | undefined;
  readonly unique: string | undefined;
}

/** Arguments of `steward dedup`. */
export interface DedupArguments extends AnalysisArguments, OutputArguments, PlanArguments {
  /** List everything that was skipped by its name. */
  readonly skipped: boolean;
  readonly json: boolean;
  /** Print the names of redundant documents, ended by NUL when `nul`. */
  readonly list: boolean;
  readonly nul: boolean;
  readonly explain: ExplainArguments["pair"] | undefined;
  readonly failOnDuplicates: boolean;
  readonly color: ColorChoice;
}

/** Arguments of `steward dedup review`. */
export interface ReviewArguments extends AnalysisArguments {
  readonly mode: "review";
  /** Also groups that were decided before. */
  readonly all: boolean;
}

/** Arguments of `--apply-plan` and `--undo-plan`. */
export interface CarryOutArguments {
  readonly mode: "apply" | "undo";
  readonly plan: string;
  /** Check everything and move nothing. */
  readonly trial: boolean;
}

export type ModeArguments = ReviewArguments | CarryOutArguments;
