/** Documents in, groups of near-duplicates out: what every form of `steward dedup` begins with. */
import { analyse } from "../../dedup/analysis/engine.ts";
import type { AnalysisOutcome } from "../../dedup/analysis/engine.ts";
import { groupDocuments } from "../../dedup/analysis/outcome.ts";
import type { ReportableGroup } from "../../dedup/analysis/outcome.ts";
import type { Archive } from "../../dedup/archives/archive.ts";
import type { RecordBytes } from "../../dedup/archives/jsonl.ts";
import { openPath } from "../../dedup/archives/open.ts";
import { readCorpus } from "../../dedup/corpus.ts";
import type { Corpus } from "../../dedup/corpus.ts";
import { loadDecisions, undecided } from "../../dedup/review/decisions.ts";
import type { Decisions, ReviewedGroup } from "../../dedup/review/decisions.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { showStep } from "./run.ts";
import type { Run } from "./run.ts";
import type { Stores } from "./stores.ts";

/** What a run found. */
export interface Findings {
  readonly corpus: Corpus;
  readonly outcome: AnalysisOutcome;
  /** The most confident first. */
  readonly groups: readonly ReportableGroup[];
  /** The same with what was decided about them. */
  readonly reviewed: readonly ReviewedGroup[];
  /** Only with a state folder. */
  readonly decisions?: Decisions | undefined;
  /** Groups that were decided and not found again. */
  readonly kept: readonly ReviewedGroup[];
  readonly durationMs: number;
}

/** How documents are read. */
export interface ReadingOptions {
  /** Keep the name of everything that is left out. */
  readonly listSkipped?: boolean;
  /** Keep what is needed to tell whether a file has changed since it was read. */
  readonly keepVersions?: boolean;
  /** Receives the bytes of a path that can be read once only. */
  readonly record?: ((path: string) => RecordBytes) | undefined;
}

/**
 * Reads, compares and groups; the stores must be open as long as the findings are used. Throws
 * `cancelled` when the run is interrupted.
 */
export async function findDuplicates(
  run: Run,
  stores: Stores,
  reading: ReadingOptions = {},
): Promise<Findings> {
  const startMs = systemClock.monotonic();
  const { parameters, pool, signal } = run;
  showStep(run, "read", 0, 0);
  const corpus = await readDocuments(run, reading, stores);
  const decisions =
    stores.review &&
    (await loadDecisions({ env: stores.review, corpus, clock: systemClock, signal }));
  const outcome = await compare(run, corpus, stores, decisions?.rejections ?? []);
  showStep(run, "group", 0, corpus.size);
  const found = await groupDocuments({
    document: (number) => corpus.document(number),
    text: (number) => corpus.text(number),
    outcome,
    parameters,
    pool,
    clock: systemClock,
    signal,
  });
  const matched = decisions
    ? await decisions.match(found)
    : { groups: found.map(undecided), kept: [] };
  const durationMs = Math.round(systemClock.monotonic() - startMs);
  return {
    corpus,
    outcome,
    groups: matched.groups.map(({ group }) => group),
    reviewed: matched.groups,
    kept: matched.kept,
    decisions,
    durationMs,
  };
}

/** The archives behind the paths of the command line. Touches nothing but their heads. */
export async function openArchives(
  { options, pool }: Run,
  record?: ReadingOptions["record"],
): Promise<Archive[]> {
  return await Promise.all(
    options.paths.map((path) =>
      openPath({ pool }, path, process.stdin, {
        fields: { id: options.idField, text: options.textField },
        include: options.include,
        exclude: options.exclude,
        record: record?.(path),
      }),
    ),
  );
}

/** Texts are signed while they are read, unless a store may know them already. */
async function readDocuments(
  run: Run,
  { record, ...reading }: ReadingOptions,
  { sketches }: Stores,
): Promise<Corpus> {
  const { options, parameters, pool, texts, signal } = run;
  return await readCorpus({
    archives: await openArchives(run, record),
    paths: options.paths,
    parameters,
    ...(options.state === undefined && { signed: (block) => sketches.save(block) }),
    pool,
    texts,
    signal,
    ...reading,
    progress: (share, documents) => showStep(run, "read", share, documents),
  });
}

async function compare(
  run: Run,
  corpus: Corpus,
  { sketches, verdicts }: Stores,
  rejections: Decisions["rejections"],
): Promise<AnalysisOutcome> {
  const { parameters, pool, signal } = run;
  const { classes } = corpus.classifier;
  return await analyse({
    classes,
    parameters,
    rejections,
    sketches,
    ...(verdicts && { verdicts }),
    pool,
    signal,
    text: (indexes) => indexes.map((index) => corpus.text(classes[index]?.documents[0] ?? -1)),
    progress: (phase, done, total) =>
      showStep(run, phase, total === 0 ? 1 : done / total, corpus.size),
  });
}
