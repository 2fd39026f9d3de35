/** `steward dedup`: documents in, groups of near-duplicates out, without a daemon. */
import { analyse } from "../dedup/analysis/engine.ts";
import type { AnalysisOutcome, AnalysisPhase } from "../dedup/analysis/engine.ts";
import { documentPairs, groupDocuments } from "../dedup/analysis/outcome.ts";
import type { ReportableGroup } from "../dedup/analysis/outcome.ts";
import { checkParameters, defaultParameters } from "../dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../dedup/analysis/parameters.ts";
import {
  createEnvSketchStore,
  createEnvVerdictStore,
  createMemorySketchStore,
} from "../dedup/analysis/sketch-store.ts";
import type { SketchStore } from "../dedup/analysis/sketch-store.ts";
import { openPath } from "../dedup/archives/open.ts";
import { readCorpus } from "../dedup/corpus.ts";
import type { Corpus } from "../dedup/corpus.ts";
import { sketchStore } from "../dedup/stores.ts";
import { systemClock } from "../kernel/base/clock.ts";
import { StewardError } from "../kernel/base/errors.ts";
import { createLog } from "../kernel/base/log.ts";
import type { Log } from "../kernel/base/log.ts";
import { createPool } from "../kernel/pool/pool.ts";
import type { Pool } from "../kernel/pool/types.ts";
import { lockStateDirectory } from "../kernel/state/folder/directory-lock.ts";
import { createStateFactory } from "../kernel/state/state-factory.ts";
import { formatGroups } from "./report/groups.ts";
import { formatJson } from "./report/json.ts";
import { writeAll } from "./report/output.ts";
import { createProgress } from "./report/progress.ts";
import type { Progress } from "./report/progress.ts";
import { formatSummary } from "./report/summary.ts";
import type { DedupReport, ReportGroup, ReportSummary } from "./report/types.ts";

/** Arguments of `steward dedup`; undefined means not given. */
export interface DedupArguments {
  /** Folders and files as given; `-` is standard input and comes once at most. Never empty. */
  readonly paths: readonly string[];
  /** Patterns of files to read and to leave out below folders. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** The fields of JSON Lines that hold id and text. */
  readonly idField: string | undefined;
  readonly textField: string | undefined;
  /** List everything that was skipped by its name. */
  readonly skipped: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  /** 0 to 1. */
  readonly threshold: number | undefined;
  /** 1 to 1,000. */
  readonly minWords: number | undefined;
  /** 1 to 256. */
  readonly workers: number | undefined;
  /** A folder to keep state in. */
  readonly state: string | undefined;
}

const INTERRUPTED = 130;

/** Share of the whole that each step takes, for the bar. */
const SHARES: Readonly<
  Record<"read" | AnalysisPhase | "group", readonly [from: number, to: number]>
> = {
  read: [0, 0.45],
  sign: [0.45, 0.75],
  join: [0.75, 0.82],
  cover: [0.82, 0.95],
  group: [0.95, 1],
};
const DOING: Readonly<Record<AnalysisPhase, string>> = {
  sign: "signing",
  join: "finding candidates",
  cover: "comparing",
};

interface Run {
  readonly options: DedupArguments;
  readonly parameters: AnalysisParameters;
  readonly pool: Pool;
  readonly log: Log;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Runs the command; resolves with its exit code. Throws what made the run fail. */
export async function dedup(options: DedupArguments): Promise<number> {
  const parameters = parametersOf(options);
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => process.stderr.write(line),
    now: () => systemClock.now(),
  });
  const pool = createPool({
    clock: systemClock,
    log,
    ...(options.workers === undefined ? {} : { threads: options.workers }),
  });
  const progress = createProgress({
    clock: systemClock,
    quiet: options.quiet,
    write: (text) => process.stderr.write(text),
    columns: () => (process.stderr.isTTY ? process.stderr.columns : undefined),
  });
  try {
    const report = await findDuplicates({
      options,
      parameters,
      pool,
      log,
      progress,
      signal: interrupt.signal,
    });
    progress.end("done");
    await print(report, options, interrupt.signal);
    return exitCodeOf(report.summary);
  } catch (error) {
    progress.end("broken");
    if (interrupt.signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    await pool.close();
  }
}

// A pile of files of which none could be read is no success.
function exitCodeOf({ documents, skipped }: ReportSummary): number {
  if (documents > 0 || Object.keys(skipped).length === 0) return 0;
  process.stderr.write(
    "steward dedup: nothing was read: no file or line is a document; --skipped lists why\n",
  );
  return 1;
}

function parametersOf({ threshold, minWords }: DedupArguments): AnalysisParameters {
  const parameters = {
    ...defaultParameters,
    ...(threshold === undefined ? {} : { similarityThreshold: threshold }),
    ...(minWords === undefined ? {} : { minWords }),
  };
  checkParameters(parameters);
  return parameters;
}

async function findDuplicates(run: Run): Promise<DedupReport> {
  const startMs = systemClock.monotonic();
  const { parameters, pool, signal } = run;
  run.progress.update({ phase: "reading", fraction: 0, documents: 0 });
  // The state folder comes first: one that cannot be written to should not cost an hour of reading.
  const { corpus, outcome } = await withStores(run, async (stores) => {
    const read = await readAll(run, stores);
    return { corpus: read, outcome: await compare(run, read, stores) };
  });
  showStep(run, corpus, "group", "grouping", 0);
  const groups = await groupDocuments({
    document: (number) => corpus.document(number),
    text: (number) => corpus.text(number),
    outcome,
    parameters,
    pool,
    clock: systemClock,
    signal,
  });
  const durationMs = Math.round(systemClock.monotonic() - startMs);
  const documents = corpus.size;
  return {
    summary: {
      documents,
      skipped: corpus.skipped(parameters),
      notes: [...corpus.notes, ...limitNotes(outcome)],
      ...(run.options.skipped && { skippedItems: corpus.leftOut }),
      pairs: documentPairs(outcome),
      groups: groups.length,
      durationMs,
      documentsPerSecond: durationMs === 0 ? 0 : Math.round((documents * 10_000) / durationMs) / 10,
      peakMemoryBytes: process.resourceUsage().maxRSS * 1024,
    },
    parameters: { ...parameters },
    groups: groups.map(reportGroup),
  };
}

/** Texts are signed while they are read, unless a store may know them already. */
async function readAll(
  { options, parameters, pool, progress, signal }: Run,
  { sketches }: Stores,
): Promise<Corpus> {
  const [from, to] = SHARES.read;
  const archives = await Promise.all(
    options.paths.map((path) =>
      openPath({ pool }, path, process.stdin, {
        fields: { id: options.idField, text: options.textField },
        include: options.include,
        exclude: options.exclude,
      }),
    ),
  );
  return await readCorpus({
    archives,
    paths: options.paths,
    parameters,
    ...(options.state === undefined && { signed: (block) => sketches.save(block) }),
    pool,
    signal,
    listSkipped: options.skipped,
    progress: (fraction, documents) =>
      progress.update({ phase: "reading", fraction: from + (to - from) * fraction, documents }),
  });
}

interface Stores {
  readonly sketches: SketchStore;
  /** Only with a state folder. */
  readonly verdicts?: SketchStore;
}

/**
 * Signatures and scores stay in the state folder when there is one, so that the next run signs and
 * verifies only what is new.
 */
async function withStores<T>(
  { options, log }: Run,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  if (options.state === undefined)
    return await use({ sketches: createMemorySketchStore({ once: true }) });
  const lock = lockStateDirectory(options.state);
  try {
    const state = createStateFactory({ directory: options.state, clock: systemClock, log });
    const env = await state.open(sketchStore);
    try {
      return await use({
        sketches: createEnvSketchStore(env),
        verdicts: createEnvVerdictStore(env),
      });
    } finally {
      await env.close();
    }
  } finally {
    lock.release();
  }
}

async function compare(run: Run, corpus: Corpus, stores: Stores): Promise<AnalysisOutcome> {
  const { parameters, pool, signal } = run;
  const { classes } = corpus.classifier;
  return await analyse({
    classes,
    parameters,
    ...stores,
    pool,
    signal,
    text: (indexes) => indexes.map((index) => corpus.text(classes[index]?.documents[0] ?? -1)),
    progress: (phase, done, total) =>
      showStep(run, corpus, phase, DOING[phase], total === 0 ? 1 : done / total),
  });
}

function showStep(
  { progress }: Run,
  corpus: Corpus,
  step: keyof typeof SHARES,
  phase: string,
  share: number,
): void {
  const [from, to] = SHARES[step];
  progress.update({ phase, fraction: from + (to - from) * share, documents: corpus.size });
}

function reportGroup({
  id,
  confidence,
  jaccard,
  fuzzy,
  discriminative,
  members,
  reasons,
}: ReportableGroup): ReportGroup {
  return {
    id,
    confidence,
    jaccard,
    fuzzy,
    discriminative,
    status: "pending",
    reasons,
    members: members.map(({ ref, title, primary, wordCount, truncated, hardLink }, at) => {
      const first = members.findIndex((other) => other.hardLink === hardLink);
      return {
        id: ref,
        title,
        primary,
        words: wordCount,
        ...(truncated === true && { truncated }),
        ...(hardLink !== undefined && first < at && { hardLinkOf: members[first]?.ref ?? "" }),
      };
    }),
  };
}

function limitNotes({ stats: { limitedClasses } }: AnalysisOutcome): string[] {
  return limitedClasses === 0
    ? []
    : [
        `${limitedClasses} texts have more than 1,024 candidates; only their best were compared, so their groups may lack members`,
      ];
}

async function print(
  report: DedupReport,
  options: DedupArguments,
  signal: AbortSignal,
): Promise<void> {
  if (options.json) {
    await writeAll(formatJson(report), process.stdout, signal);
    return;
  }
  const columns = process.stdout.isTTY ? process.stdout.columns : undefined;
  if (await writeAll(formatGroups(report.groups, { columns }), process.stdout, signal))
    await writeAll([formatSummary(report.summary)], process.stdout, signal);
}
