/** `steward dedup`: documents in, groups of near-duplicates out, without a daemon. */
import { existsSync } from "node:fs";
import { formatGroups } from "../report/groups.ts";
import { formatJson } from "../report/json.ts";
import { writeAll } from "../report/output.ts";
import { createStyle, hasColors } from "../report/style.ts";
import { formatSummary } from "../report/summary.ts";
import type { DedupReport, ReportSummary, WrittenFile } from "../report/types.ts";
import type { DedupArguments } from "./arguments.ts";
import { explainPair } from "./explain.ts";
import { findDuplicates } from "./find.ts";
import { prepareOutputs } from "./outputs.ts";
import { reportOf } from "./report.ts";
import { reviewFolder } from "./review/folder.ts";
import { withRun } from "./run.ts";
import type { Run } from "./run.ts";
import { withStores } from "./with-stores.ts";
import type { Stores } from "./stores.ts";

/** What `--fail-on-duplicates` ends with. */
const DUPLICATES_FOUND = 3;

/** Runs the command; resolves with its exit code. Throws what made the run fail. */
export async function dedup(given: DedupArguments): Promise<number> {
  const options = { ...given, state: given.state ?? reviewedState(given) };
  return await withRun(options, (run) =>
    options.explain === undefined
      ? // Before anything is read: an unusable state folder should not cost an hour of reading.
        withStores(run, (stores) => find(run, stores, options))
      : explain(run, options, options.explain),
  );
}

/** A plan follows what was decided in a review, also when nobody names its folder. */
function reviewedState({ deletePlan }: DedupArguments): string | undefined {
  const folder = reviewFolder(process.env);
  return deletePlan !== undefined && existsSync(folder) ? folder : undefined;
}

async function explain(
  run: Run,
  options: DedupArguments,
  pair: NonNullable<DedupArguments["explain"]>,
): Promise<number> {
  const { json } = options;
  const { text, duplicates } = await explainPair(run, { pair, json, colors: colorsOf(options) });
  run.progress.end("done");
  await writeAll([text], process.stdout, run.signal);
  return duplicates && options.failOnDuplicates ? DUPLICATES_FOUND : 0;
}

async function find(run: Run, stores: Stores, options: DedupArguments): Promise<number> {
  await using outputs = await prepareOutputs(run, options);
  const findings = await findDuplicates(run, stores, {
    listSkipped: options.skipped,
    record: outputs.record,
    keepVersions: options.deletePlan !== undefined,
  });
  const report = reportOf(findings, run.parameters, options.skipped);
  const written = await outputs.write(findings);
  run.progress.end("done");
  await print(report, written, outputs.usesStandardOutput, { run, options });
  return exitCodeOf(report.summary, options);
}

// A pile of files of which none could be read is no success.
function exitCodeOf(
  { documents, skipped, groups }: ReportSummary,
  { failOnDuplicates }: DedupArguments,
): number {
  if (documents === 0 && Object.keys(skipped).length > 0) {
    process.stderr.write(
      "steward dedup: nothing was read: no file or line is a document; --skipped lists why\n",
    );
    return 1;
  }
  return failOnDuplicates && groups > 0 ? DUPLICATES_FOUND : 0;
}

function colorsOf({ color }: DedupArguments): boolean {
  return hasColors({
    choice: color,
    isTerminal: process.stdout.isTTY,
    environment: process.env,
  });
}

/** Groups are printed unless they went elsewhere; the summary goes where the data does not. */
async function print(
  report: DedupReport,
  written: readonly WrittenFile[],
  isTaken: boolean,
  { run, options }: { readonly run: Run; readonly options: DedupArguments },
): Promise<void> {
  const { signal } = run;
  if (options.json) {
    await writeAll(formatJson(report), process.stdout, signal);
    return;
  }
  const summary = formatSummary(report.summary, written);
  if (isTaken) {
    if (!options.quiet || options.skipped) await writeAll([summary], process.stderr, signal);
    return;
  }
  const columns = process.stdout.isTTY ? process.stdout.columns : undefined;
  const style = createStyle(colorsOf(options));
  const groups = written.length > 0 ? [] : formatGroups(report.groups, { columns, style });
  if (await writeAll(groups, process.stdout, signal))
    await writeAll([summary], process.stdout, signal);
}
