/**
 * The job that asks a model for suggestions, document by document. Each result is stored with its
 * cost in one write, so a run that is resumed after a crash continues behind it; only the requests
 * that were in flight at the crash are sent, and charged, again. A failure that ends the run leaves
 * every result as it is; one of a document becomes its result, unless what it has was applied, which
 * holds what a revert needs, or is a suggestion and the failure may pass.
 */
import { create } from "@bufbuild/protobuf";
import { AiResultStatus } from "../../gen/steward/dedup/v1/ai_pb.ts";
import {
  AiProcessCursorSchema,
  AiProcessInputSchema,
  AiResultRowSchema,
  type AiProcessCursor,
  type AiProcessInput,
  type AiResultRow,
  type DocumentRow,
} from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { JobContext, JobType } from "../../kernel/jobs/types.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import { protobufCodec } from "../../kernel/state/values.ts";
import type { Archive } from "../archives/archive.ts";
import type { DocumentStore } from "../documents/store.ts";
import { aiResults, documents } from "../tables.ts";
import { ask, type Asked } from "./ask.ts";
import { createBreaker, type Breaker } from "./breaker.ts";
import { createBudget, type Budget, type ReachedLimit } from "./budget.ts";
import { addCharge, spentInMonth } from "./costs.ts";
import { collectNames } from "./existing-names.ts";
import { aiEnabled, type AiSettings, type ProviderName } from "./keys.ts";
import { createNameMatcher, type NameMatcher } from "./names.ts";
import { createPace, type Pace } from "./pace.ts";
import { costOf, priceOf, type Price, type TokenUsage } from "./prices.ts";
import { maxCostOf, outputTokensOf, systemPrompt, userPrompt } from "./prompt.ts";
import type { AiProvider, ModelRequest } from "./providers/types.ts";
import type { DedupReport } from "../telemetry/report.ts";
import type { ResultEntry } from "./result-index.ts";
import type { ResultStore } from "./result-store.ts";
import { readSuggestion, suggestionSchema, type Suggestion } from "./suggestion.ts";

export interface ProcessDeps {
  /** Whether AI is on. */
  readonly isOn: boolean;
  readonly env: Env;
  readonly documents: Pick<DocumentStore, "index" | "row" | "fullText">;
  readonly results: ResultStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly archives: () => readonly Archive[];
  readonly settings: () => AiSettings;
  readonly openProvider: (name: ProviderName) => Promise<AiProvider>;
  readonly report: Pick<DedupReport, "answered" | "skipped" | "span">;
}

/** The result of a run. */
export interface ProcessResult {
  readonly totalDocuments: number;
  readonly processed: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Not processed, since the run stopped or the documents are gone. */
  readonly skipped: number;
  readonly totalPromptTokens: number;
  readonly totalCompletionTokens: number;
  readonly costUsd: number | null;
  readonly durationMs: number;
  readonly rateLimitPauses: number;
  /** Why it stopped before the last document. */
  readonly stopped: ReachedLimit | null;
}

const cursorCodec = protobufCodec(AiProcessCursorSchema);

export function createProcessJob(deps: ProcessDeps): JobType<AiProcessInput, ProcessResult> {
  return {
    type: "ai_processing",
    exclusive: "ai_processing",
    onCrash: "resume",
    input: protobufCodec(AiProcessInputSchema),
    phases: { prepare: 0.02, ask: 0.98 },
    run: (job) => runProcess(deps, job),
  };
}

interface Run extends ProcessDeps {
  readonly job: JobContext<AiProcessInput>;
  readonly config: AiSettings;
  readonly provider: AiProvider;
  readonly price: Price | undefined;
  readonly budget: Budget;
  readonly pace: Pace;
  readonly breaker: Breaker;
  readonly system: string;
  readonly schema: ModelRequest["schema"];
  /** Of what each request begins with: `system` and `schema`. */
  readonly sharedBytes: number;
  readonly match: Readonly<Record<"correspondents" | "documentTypes" | "tags", NameMatcher>>;
  readonly totals: AiProcessCursor;
  /** Ends the run: nothing further starts. */
  readonly ending: AbortController;
  stopped: ReachedLimit | undefined;
}

async function runProcess(
  deps: ProcessDeps,
  job: JobContext<AiProcessInput>,
): Promise<ProcessResult> {
  job.phase("prepare").step(0, "collecting documents and names");
  const run = await prepare(deps, job);
  const docNos = select(deps, job.input, run.totals);
  const total = docNos.length + run.totals.succeeded + run.totals.failed;
  const phase = job.phase("ask", Math.max(1, docNos.length));
  let [next, done] = [0, 0];
  const work = async (): Promise<void> => {
    for (let docNo = docNos[next++]; docNo !== undefined; docNo = docNos[next++]) {
      if (run.stopped !== undefined || run.ending.signal.aborted) return;
      await processDocument(run, docNo);
      done += 1;
      phase.step(done, `${done} of ${docNos.length} documents`);
    }
  };
  const { provider, model } = run.config;
  const attributes = {
    "gen_ai.system": provider,
    "gen_ai.request.model": model,
    "app.batch.documents": docNos.length,
    "app.batch.concurrency": Math.min(run.config.batchSize, docNos.length),
  };
  const outcomes = await run.report.span("dedupe.ai.batch", attributes, () =>
    Promise.allSettled(
      Array.from({ length: attributes["app.batch.concurrency"] }, () =>
        work().catch((error: unknown) => {
          run.ending.abort(error);
          throw error;
        }),
      ),
    ),
  );
  run.report.skipped(provider, total - run.totals.succeeded - run.totals.failed);
  job.signal.throwIfAborted();
  if (run.ending.signal.aborted) throw run.ending.signal.reason;
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return resultOf(run, total);
}

async function prepare(deps: ProcessDeps, job: JobContext<AiProcessInput>): Promise<Run> {
  const { env, clock, results } = deps;
  requireOn(deps);
  const config = deps.settings();
  const cursor = job.resume();
  const totals =
    cursor === undefined
      ? create(AiProcessCursorSchema, {
          startedAtMs: clock.now(),
          newestSerial: results.index.newestSerial,
        })
      : cursorCodec.read(cursor);
  results.reserveSerials(totals.newestSerial ?? 0);
  const price = priceOf(config.provider, config.model);
  requirePrice(config, price);
  const provider = await deps.openProvider(config.provider);
  const names = await collectNames(deps, job.signal);
  // The start of the run decides what it has processed already, after a crash as well.
  if (cursor === undefined) await job.commit(() => undefined, cursorCodec.write(totals));
  const system = systemPrompt(config, names);
  const schema = suggestionSchema(config.extractTitle);
  return {
    ...deps,
    job,
    config,
    provider,
    price,
    budget: createBudget(
      clock,
      { perRunUsd: config.maxCostPerRunUsd, perMonthUsd: config.maxCostPerMonthUsd },
      {
        spentInRunUsd: totals.costUsd,
        spentInMonthUsd: env.read((snapshot) => spentInMonth(snapshot, clock.now())),
      },
    ),
    pace: createPace(clock, config.rateDelayMs),
    breaker: createBreaker(),
    system,
    schema,
    sharedBytes: Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(schema)),
    match: {
      correspondents: createNameMatcher(names.correspondents),
      documentTypes: createNameMatcher(names.documentTypes),
      tags: createNameMatcher(names.tags),
    },
    totals,
    ending: new AbortController(),
    stopped: undefined,
  };
}

/**
 * For a run that a start takes up again: AI may have been switched off in between. Throws
 * `conflict`.
 */
export function requireOn({ isOn }: { readonly isOn: boolean }): void {
  if (isOn) return;
  throw new StewardError(
    "conflict",
    `AI was switched off (${aiEnabled.path}); what was done stays, start the run again when it is on`,
  );
}

/** A limit without a price would never be reached. Throws `conflict`. */
export function requirePrice(config: AiSettings, price: Price | undefined): void {
  if (price !== undefined || (config.maxCostPerRunUsd === 0 && config.maxCostPerMonthUsd === 0))
    return;
  throw new StewardError(
    "conflict",
    `a cost limit is set, but the price of model ${config.model} of ${config.provider} is not known`,
    { remedy: "choose a model of GET /api/v1/ai/models, or set both cost limits to 0" },
  );
}

/** Documents to process. Those that this run stored before a crash are left out. */
function select(
  { documents: store, results }: ProcessDeps,
  { reprocess, docNos, selected }: AiProcessInput,
  cursor: AiProcessCursor,
): number[] {
  const isDone = (docNo: number): boolean => {
    const result = results.index.find(docNo);
    return result !== undefined && isProcessedBy(cursor, result);
  };
  if (selected || docNos.length > 0) return docNos.filter((docNo) => !isDone(docNo));
  const all = store.index.select({}, { offset: 0, limit: store.index.size }).docNos;
  return all.filter((docNo) => (reprocess ? !isDone(docNo) : !results.index.has(docNo)));
}

/** Whether this run made a result, or kept it. By its serial: the wall clock may step. */
function isProcessedBy(
  { newestSerial, startedAtMs }: AiProcessCursor,
  { processedSerial, createdAtMs }: ResultEntry,
): boolean {
  return newestSerial === undefined ? createdAtMs >= startedAtMs : processedSerial > newestSerial;
}

async function processDocument(run: Run, docNo: number): Promise<void> {
  const { job, config, clock } = run;
  const row = run.documents.row(docNo);
  if (row === undefined) return;
  const text = await run.documents.fullText(row);
  if (text === undefined || text.trim() === "")
    return await store(run, row, { found: failedRow("no_content", "the document has no text") });
  const user = userPrompt(row.title, text, config.maxContentLength);
  const outputTokens = outputTokensOf(config);
  const maxCostUsd =
    run.price === undefined
      ? 0
      : maxCostOf(run.sharedBytes + Buffer.byteLength(user), outputTokens, run.price);
  const signal = AbortSignal.any([job.signal, run.ending.signal]);
  const reservation = await run.budget.reserve(maxCostUsd, signal);
  if (typeof reservation === "string") {
    run.stopped ??= reservation;
    return;
  }
  let costUsd = 0;
  try {
    const startedMs = clock.monotonic();
    const asked = await ask(
      { provider: run.provider, clock, pace: run.pace, maxRetries: config.maxRetries },
      {
        model: config.model,
        system: run.system,
        user,
        schema: run.schema,
        effort: config.reasoningEffort,
        outputTokens,
      },
      signal,
    );
    costUsd = run.price === undefined ? 0 : costOf(run.price, asked);
    const spent = { ...asked, processingTimeMs: clock.monotonic() - startedMs };
    const scope = "failure" in asked.outcome ? asked.outcome.scope : undefined;
    const error = run.breaker.next(asked.outcome);
    if (error !== undefined) run.ending.abort(error);
    await (scope === "run"
      ? storeCost(run, spent)
      : store(run, row, { found: rowOf(run, asked), spent, mayPass: scope === "retry" }));
  } finally {
    reservation.settle(costUsd);
  }
}

type Found = Partial<
  Pick<
    AiResultRow,
    | "status"
    | "failureType"
    | "errorMessage"
    | "suggestedTitle"
    | "suggestedCorrespondent"
    | "suggestedDocumentType"
    | "suggestedTags"
    | "evidence"
  >
> & { readonly confidence?: Suggestion["confidence"] };

function failedRow(failureType: string, errorMessage: string): Found {
  return { status: AiResultStatus.FAILED, failureType, errorMessage };
}

function rowOf(run: Run, { outcome }: Asked): Found {
  if ("failure" in outcome) return failedRow(outcome.failure, outcome.message);
  const suggestion = readSuggestion(outcome.text, run.config.extractTitle);
  if (suggestion === undefined)
    return failedRow("schema_mismatch", "the model's answer does not match the schema");
  const { title, evidence, confidence } = suggestion;
  const known = (matcher: NameMatcher, name: string | undefined): string | undefined =>
    name === undefined ? undefined : (matcher.find(name) ?? name);
  const isProtected = protectedNames(run.config);
  const correspondent = known(run.match.correspondents, suggestion.correspondent);
  const documentType = known(run.match.documentTypes, suggestion.documentType);
  const tags = [...new Set(suggestion.tags.map((tag) => run.match.tags.find(tag) ?? tag))].filter(
    (tag) => !isProtected(tag),
  );
  if (
    correspondent === undefined &&
    documentType === undefined &&
    tags.length === 0 &&
    title === undefined
  )
    return failedRow("no_suggestions", "the model suggests nothing");
  return {
    status: AiResultStatus.PENDING,
    suggestedTags: tags,
    confidence,
    evidence,
    ...(title === undefined ? {} : { suggestedTitle: title }),
    ...(correspondent === undefined ? {} : { suggestedCorrespondent: correspondent }),
    ...(documentType === undefined ? {} : { suggestedDocumentType: documentType }),
  };
}

/** Whether a tag is never added or removed. */
export function protectedNames({
  protectedTagNames,
}: Pick<AiSettings, "protectedTagNames">): (tag: string) => boolean {
  const names = new Set(protectedTagNames.map((name) => name.trim().toLowerCase()));
  return (tag) => names.has(tag.trim().toLowerCase());
}

interface Spent extends TokenUsage {
  readonly requests: number;
  readonly processingTimeMs: number;
}

interface Answered {
  readonly found: Found;
  /** Absent when nothing was asked. */
  readonly spent?: Spent;
  /** It failed, and might not another time. */
  readonly mayPass?: boolean;
}

/** Stores the result, or keeps the present one, with its cost and the totals of the run at once. */
async function store(
  run: Run,
  row: DocumentRow,
  { found, spent, mayPass = false }: Answered,
): Promise<void> {
  const { config, totals, clock } = run;
  const costUsd = spent && addToTotals(run, spent);
  const result = create(AiResultRowSchema, {
    id: run.ids.nanoid(),
    docNo: row.docNo,
    documentTitle: row.title,
    provider: config.provider,
    model: config.model,
    currentTags: row.tags,
    createdAtMs: clock.now(),
    promptTokens: spent?.promptTokens ?? 0,
    completionTokens: spent?.completionTokens ?? 0,
    processingTimeMs: spent?.processingTimeMs ?? 0,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(row.correspondent === undefined ? {} : { currentCorrespondent: row.correspondent }),
    ...(row.documentType === undefined ? {} : { currentDocumentType: row.documentType }),
    ...resultInit(found),
  });
  const isFailed = result.status === AiResultStatus.FAILED;
  totals.succeeded += isFailed ? 0 : 1;
  totals.failed += isFailed ? 1 : 0;
  await run.job.commit((tx) => {
    // The document may have left during the request, which was charged all the same.
    if (tx.get(documents, row.docNo) !== undefined) putResult(run, tx, { result, mayPass });
    if (spent === undefined) return;
    const { provider, model, createdAtMs: atMs } = result;
    addCharge(tx, { ...spent, provider, model, atMs, costUsd, hasResult: true });
  }, cursorCodec.write(totals));
  run.report.answered({ provider: config.provider, isFailed, spent });
}

function putResult(
  { results }: Run,
  tx: Tx,
  { result, mayPass }: { readonly result: AiResultRow; readonly mayPass: boolean },
): void {
  const present = tx.get(aiResults, result.docNo);
  const isWorthKeeping =
    present !== undefined &&
    (isApplied(present) || (mayPass && present.status !== AiResultStatus.FAILED));
  if (result.status !== AiResultStatus.FAILED || !isWorthKeeping) return results.add(tx, result);
  // While the outcome of applying it is not known, its message says that.
  if (present.applyingFields.length === 0)
    present.errorMessage = `a run could not process the document again: ${result.errorMessage}`;
  results.keep(tx, present);
}

/** Whether anything of it was, or may have been, written to the archive. */
function isApplied({ status, before }: AiResultRow): boolean {
  return (
    before !== undefined || status === AiResultStatus.APPLIED || status === AiResultStatus.PARTIAL
  );
}

/** Stores what a document cost that gets no result. */
async function storeCost(run: Run, spent: Spent): Promise<void> {
  const { provider, model } = run.config;
  const costUsd = addToTotals(run, spent);
  await run.job.commit(
    (tx) =>
      addCharge(tx, {
        ...spent,
        provider,
        model,
        atMs: run.clock.now(),
        costUsd,
        hasResult: false,
      }),
    cursorCodec.write(run.totals),
  );
}

/** The cost, where the price is known. */
function addToTotals({ totals, price }: Run, spent: Spent): number | undefined {
  const costUsd = price && costOf(price, spent);
  totals.promptTokens += spent.promptTokens;
  totals.completionTokens += spent.completionTokens;
  totals.costUsd += costUsd ?? 0;
  return costUsd;
}

function resultInit({ confidence, ...found }: Found) {
  if (confidence === undefined) return found;
  const { title, ...scores } = confidence;
  return { ...found, confidence: title === undefined ? scores : { ...scores, title } };
}

function resultOf(run: Run, total: number): ProcessResult {
  const { totals, clock } = run;
  const processed = totals.succeeded + totals.failed;
  return {
    totalDocuments: total,
    processed,
    succeeded: totals.succeeded,
    failed: totals.failed,
    skipped: total - processed,
    totalPromptTokens: totals.promptTokens,
    totalCompletionTokens: totals.completionTokens,
    costUsd: run.price === undefined ? null : totals.costUsd,
    durationMs: Math.max(0, clock.now() - totals.startedAtMs),
    rateLimitPauses: run.pace.pauses,
    stopped: run.stopped ?? null,
  };
}
