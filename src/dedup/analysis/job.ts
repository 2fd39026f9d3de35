/**
 * The analysis as a durable job: documents → distinct texts → verified pairs → groups → the next
 * generation. Nothing that readers see changes before the last small write, so a crash or a cancel
 * at any moment leaves the groups as they were, and the run that follows ends in the same ones.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { JobContext, JobType } from "../../kernel/jobs/types.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Env } from "../../kernel/state/types.ts";
import { rowBatches } from "../documents/row-batches.ts";
import type { DocumentStore } from "../documents/store.ts";
import type { GenerationWriter } from "../groups/generation-writer.ts";
import {
  createGenerationWriter,
  repeatGeneration,
  sweepGenerations,
} from "../groups/generation-writer.ts";
import { currentGeneration } from "../groups/generations.ts";
import type { Identities } from "../groups/identity.ts";
import type { GroupIndex } from "../groups/index.ts";
import { forgetLost } from "../groups/lost.ts";
import { matchGroups } from "../groups/match.ts";
import type { Continued, PlanDeps } from "../groups/plan.ts";
import { isAsListed, planFound, planKept, readRejections } from "../groups/plan.ts";
import type { SliceOptions } from "../groups/steps.ts";
import { createPause, runInSlices } from "../groups/steps.ts";
import { documents } from "../tables.ts";
import { bandWarnings } from "./band-plan.ts";
import type { AnalysisOutcome, AnalysisPhase } from "./engine.ts";
import { analyse } from "./engine.ts";
import { createBreath } from "./breath.ts";
import type { Classifier, SkipReasons } from "./outcome.ts";
import { createClassifier, documentPairs, foundGroups } from "./outcome.ts";
import type { AnalysisParameters } from "./parameters.ts";
import { redescribe } from "./redescribe.ts";
import type { Settled, Standing } from "./settled.ts";
import { createSettled } from "./settled.ts";
import type { SketchStore } from "./sketch-store.ts";
import { analysisFingerprint, weightsFingerprint } from "./staleness.ts";

export interface AnalysisInput {
  /** Sign and score everything again. */
  readonly force: boolean;
}

/** The result of an analysis job, as the API returns it. */
export interface AnalysisResult {
  readonly totalDocuments: number;
  /** Documents that were compared; together with the skipped ones all there are. */
  readonly documentsAnalyzed: number;
  readonly documentsSkipped: number;
  readonly skipReasons: Readonly<SkipReasons>;
  /** Nothing of an earlier analysis was used. */
  readonly isFullRebuild: boolean;
  /** Distinct texts. */
  readonly signaturesGenerated: number;
  readonly signaturesReused: number;
  /** Pairs of distinct texts that met. */
  readonly candidatePairsFound: number;
  /** Distinct texts with more candidates than are compared: their groups may lack members. */
  readonly textsLimited: number;
  /** Verified pairs of distinct texts at or above the threshold: the pairs of the groups. */
  readonly candidatePairsScored: number;
  /** Pairs of documents at or above the threshold, equal texts included. */
  readonly documentPairs: number;
  readonly groupsCreated: number;
  /** Known groups whose members, pairs, scores or reasons are others than before. */
  readonly groupsUpdated: number;
  readonly groupsRemoved: number;
  /** What the parameters cannot find, in words. */
  readonly warnings: readonly string[];
  readonly durationMs: number;
}

export interface AnalysisJobDeps {
  /** Holds documents, groups, decisions, meta and the jobs themselves. */
  readonly env: Env;
  readonly documents: Pick<DocumentStore, "index" | "put" | "row" | "text">;
  readonly index: GroupIndex;
  readonly sketches: SketchStore;
  readonly verdicts: SketchStore;
  readonly joins: SketchStore;
  readonly pool: Pool;
  readonly clock: Clock;
  /** The parameters as they are set now. */
  parameters(): AnalysisParameters;
}

/**
 * The job type. One analysis at a time; after a crash it starts again, with the signatures it had
 * finished.
 */
export function createAnalysisJob(deps: AnalysisJobDeps): JobType<AnalysisInput, AnalysisResult> {
  const settled = createSettled<AnalysisResult>({
    documents: deps.documents.index,
    groups: deps.index,
  });
  return {
    type: "analysis",
    exclusive: "analysis",
    onCrash: "resume",
    input: {
      write: ({ force }) => Uint8Array.of(Number(force)),
      read: (bytes) => ({ force: bytes[0] === 1 }),
    },
    phases: {
      load: 0.05,
      sign: 0.4,
      join: 0.1,
      cover: 0.2,
      group: 0.05,
      write: 0.15,
      finish: 0.05,
    },
    run: (job) => run(job, deps, settled),
  };
}

async function run(
  job: JobContext<AnalysisInput>,
  deps: AnalysisJobDeps,
  settled: Settled<AnalysisResult>,
): Promise<AnalysisResult> {
  const { clock } = deps;
  const slices: SliceOptions = { clock, signal: job.signal };
  const parameters = deps.parameters();
  const [startMs, readAtMs] = [clock.monotonic(), clock.now()];
  const fingerprint = analysisFingerprint(parameters);
  const standing = job.input.force ? undefined : settled.standing(fingerprint);
  const settle = settled.begin(fingerprint);
  if (standing) {
    const groupsUpdated = await renew(job, { ...deps, parameters }, standing);
    const durationMs = Math.round(clock.monotonic() - startMs);
    const result = { ...unchanged(standing.result, durationMs), groupsUpdated };
    settle({ ...standing, result }, 0);
    return result;
  }
  const isFullRebuild = job.input.force || deps.env.read(currentGeneration) === 0;
  if (job.input.force)
    for (const store of [deps.sketches, deps.verdicts, deps.joins]) await dropBlocks(store);
  const corpus = await load(job, deps, parameters);
  const missing = new Set<number>();
  const rejections = await readRejections(deps.env, slices);
  const outcome = await compare(job, deps, {
    corpus,
    parameters,
    rejections: rejections.sets,
    missing,
  });

  const phase = job.phase("group");
  await sweepGenerations((change) => job.commit(change));
  const writer = await createGenerationWriter((change) => job.commit(change), deps.index, readAtMs);
  const found = await runInSlices(foundGroups(outcome), slices);
  phase.step(1, `${found.length} groups found`);
  // Known groups are read anew: a decision reaches the next generation, too, by now.
  const exists = (docNo: number): boolean => deps.documents.index.syncedAtMs(docNo) !== undefined;
  const rejected = rejections.groups;
  const identities = await matchGroups({ ...deps, exists, rejected }, found, slices);
  const continued = found.map((group, index) => ({
    found: group,
    known: identities.continues[index],
  }));
  await write(job, {
    writer,
    index: deps.index,
    continued,
    identities,
    slices,
    plan: {
      ...deps,
      text: (row) => deps.documents.text(row),
      syncedAtMs: (docNo) => deps.documents.index.syncedAtMs(docNo),
      generation: writer.generation,
      readAtMs,
      parameters,
      signal: job.signal,
    },
  });
  await writer.flip({
    atMs: clock.now(),
    fingerprint,
    weights: weightsFingerprint(parameters),
  });
  const marked = await complete(job, deps, corpus, missing);
  await forgetLost((change) => job.commit(change), identities.noLongerLost);
  await sweepGenerations((change) => job.commit(change));

  const { classifier, total } = corpus;
  const result: AnalysisResult = {
    totalDocuments: total,
    documentsAnalyzed: classifier.documents,
    documentsSkipped: total - classifier.documents,
    skipReasons: { ...classifier.skipped },
    isFullRebuild,
    signaturesGenerated: outcome.stats.signed,
    signaturesReused: outcome.stats.reused,
    candidatePairsFound: outcome.stats.candidates,
    textsLimited: outcome.stats.limitedClasses,
    candidatePairsScored: outcome.stats.edges,
    documentPairs: documentPairs(outcome),
    groupsCreated: writer.count("created"),
    groupsUpdated: writer.count("updated"),
    groupsRemoved: identities.removed.length,
    warnings: bandWarnings(parameters),
    durationMs: Math.round(clock.monotonic() - startMs),
  };
  settle({ result, kept: new Set(identities.kept.map(({ id }) => id)) }, marked);
  return result;
}

/** Brings what is said of groups up to date; answers for how many it changed. */
async function renew(
  job: JobContext<AnalysisInput>,
  deps: Omit<AnalysisJobDeps, "parameters"> & { readonly parameters: AnalysisParameters },
  { kept, revision, metadataChanged }: Standing<AnalysisResult>,
): Promise<number> {
  if (metadataChanged) {
    const updated = await redescribe(job, { ...deps, kept, revision });
    job.phase("finish", 1).step(1, "only metadata has changed since the last analysis");
    return updated;
  }
  await sweepGenerations((change) => job.commit(change));
  await repeatGeneration((change) => job.commit(change), deps.index, deps.clock.now());
  job.phase("finish", 1).step(1, "nothing has changed since the last analysis");
  return 0;
}

/** The result of an analysis in the state that one with this result left behind. */
function unchanged(last: AnalysisResult, durationMs: number): AnalysisResult {
  return {
    ...last,
    isFullRebuild: false,
    signaturesGenerated: 0,
    signaturesReused: last.signaturesGenerated + last.signaturesReused,
    groupsCreated: 0,
    groupsUpdated: 0,
    groupsRemoved: 0,
    durationMs,
  };
}

/** Clears a store: no block is made with parameters without a name. */
async function dropBlocks(store: SketchStore): Promise<void> {
  for await (const block of store.load(new Uint8Array())) await store.drop([block.id]);
}

/** The documents as they were when the analysis began: its version of the world. */
interface Corpus {
  readonly total: number;
  readonly classifier: Classifier;
  /** Documents that wait for this analysis, with the hash it sees. */
  readonly pending: readonly { readonly docNo: number; readonly hash: Uint8Array }[];
}

async function load(
  job: JobContext<AnalysisInput>,
  deps: AnalysisJobDeps,
  parameters: AnalysisParameters,
): Promise<Corpus> {
  const phase = job.phase("load");
  const classifier = createClassifier(parameters);
  const pending: { docNo: number; hash: Uint8Array }[] = [];
  const breath = createBreath(job.signal);
  let total = 0;
  for (const {
    docNo,
    contentHash: hash,
    wordCount,
    pending: waits,
  } of deps.documents.index.texts()) {
    classifier.add(docNo, { hash, wordCount });
    if (waits) pending.push({ docNo, hash });
    total += 1;
    const pause = breath.step(50);
    if (pause) await pause;
  }
  phase.step(1, `${total} documents, ${pending.length} of them new or changed`);
  return { total, classifier, pending };
}

const progressText: Readonly<Record<AnalysisPhase, string>> = {
  sign: "texts signed",
  join: "bands searched",
  cover: "texts compared",
};

interface Comparison {
  readonly corpus: Corpus;
  readonly parameters: AnalysisParameters;
  readonly rejections: readonly (readonly number[])[];
  /** Takes the classes whose text was gone or being replaced. */
  readonly missing: Set<number>;
}

async function compare(
  job: JobContext<AnalysisInput>,
  deps: AnalysisJobDeps,
  { corpus, parameters, rejections, missing }: Comparison,
): Promise<AnalysisOutcome> {
  const { classes } = corpus.classifier;
  let shown:
    | { readonly name: AnalysisPhase; readonly phase: ReturnType<typeof job.phase> }
    | undefined;
  return await analyse({
    classes,
    parameters,
    rejections,
    sketches: deps.sketches,
    verdicts: deps.verdicts,
    joins: deps.joins,
    pool: deps.pool,
    signal: job.signal,
    text: (indexes) =>
      indexes.map((index) => {
        const { hash = new Uint8Array(), documents: own = [] } = classes[index] ?? {};
        for (const docNo of own) {
          const text = deps.documents.text({ docNo, contentHash: hash });
          if (text) return text;
        }
        missing.add(index);
        return undefined;
      }),
    progress(name, done, total) {
      if (shown?.name !== name) shown = { name, phase: job.phase(name, total) };
      shown.phase.step(done, `${done} of ${total} ${progressText[name]}`);
    },
  });
}

/** Groups that are described at once. */
const GROUPS_AT_ONCE = 64;

interface Writing {
  readonly index: GroupIndex;
  readonly writer: GenerationWriter;
  readonly continued: readonly Continued[];
  readonly identities: Identities;
  readonly slices: SliceOptions;
  readonly plan: PlanDeps;
}

async function write(
  job: JobContext<AnalysisInput>,
  { writer, index, continued, identities, slices, plan }: Writing,
): Promise<void> {
  const total = continued.length + identities.kept.length;
  const phase = job.phase("write", total);
  const pause = createPause(slices);
  const differing: Continued[] = [];
  for (const [at, one] of continued.entries()) {
    if (!isAsListed(one, index, plan)) differing.push(one);
    if (at % 64 === 63) await pause();
  }
  writer.leave(continued.length - differing.length);
  for (let at = 0; at < differing.length; at += GROUPS_AT_ONCE) {
    await writer.write(await planFound(differing.slice(at, at + GROUPS_AT_ONCE), plan));
    phase.step(writer.written, `${writer.written} of ${total} groups written`);
    await pause();
  }
  for (let at = 0; at < identities.kept.length; at += GROUPS_AT_ONCE) {
    await writer.write(planKept(identities.kept.slice(at, at + GROUPS_AT_ONCE), plan));
    await pause();
  }
  await writer.remove(identities.removed.map(({ id }) => id));
  phase.step(total, `${writer.written} of ${total} groups written`);
}

/**
 * Marks what was analysed; a document that changed meanwhile, or whose text was not there, goes on
 * waiting. Answers how many were marked.
 */
async function complete(
  job: JobContext<AnalysisInput>,
  deps: AnalysisJobDeps,
  { pending, classifier }: Corpus,
  missing: ReadonlySet<number>,
): Promise<number> {
  const phase = job.phase("finish", pending.length);
  let [done, marked] = [0, 0];
  const waiting = new Set(
    [...missing].flatMap((index) => classifier.classes[index]?.documents ?? []),
  );
  for (const some of rowBatches(pending, ({ docNo }) => deps.documents.row(docNo))) {
    await job.commit((tx) => {
      for (const { docNo, hash } of some) {
        const row = tx.get(documents, docNo);
        if (row?.pending && !waiting.has(docNo) && Buffer.compare(row.contentHash, hash) === 0) {
          deps.documents.put(tx, { ...row, pending: false });
          tx.after(() => (marked += 1));
        }
      }
    });
    done += some.length;
    phase.step(done, `${done} of ${pending.length} documents marked`);
  }
  return marked;
}
