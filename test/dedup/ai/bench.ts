/** AI jobs over real stores, beside a simulated provider, a simulated archive and a set wall clock. */
import { zstdCompressSync } from "node:zlib";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createApplyJob } from "../../../src/dedup/ai/apply-job.ts";
import type { ApplyDeps } from "../../../src/dedup/ai/apply.ts";
import { readAiSettings } from "../../../src/dedup/ai/keys.ts";
import { createProcessJob } from "../../../src/dedup/ai/process-job.ts";
import type {
  AiProvider,
  ModelAnswer,
  ModelFailure,
} from "../../../src/dedup/ai/providers/types.ts";
import { openResultStore, type ResultStore } from "../../../src/dedup/ai/result-store.ts";
import type { Archive } from "../../../src/dedup/archives/archive.ts";
import { openDocumentStore } from "../../../src/dedup/documents/store.ts";
import type { LiveDocument } from "../../../src/dedup/paperless/live-document.ts";
import type { PaperlessWriter } from "../../../src/dedup/paperless/writer.ts";
import {
  aiCosts,
  aiFeedback,
  aiResults,
  documents,
  meta,
  texts,
} from "../../../src/dedup/tables.ts";
import { createDedupReport } from "../../../src/dedup/telemetry/report.ts";
import { AiResultStatus } from "../../../src/gen/steward/dedup/v1/ai_pb.ts";
import {
  AiApplyInputSchema,
  AiProcessInputSchema,
  AiResultRowSchema,
  DocumentRowSchema,
} from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { systemClock, type Clock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createJobs, jobTables } from "../../../src/kernel/jobs/jobs.ts";
import { jobs as jobRows, newRow } from "../../../src/kernel/jobs/job-row.ts";
import type { Job, Jobs } from "../../../src/kernel/jobs/types.ts";
import type { AnyTable, Env } from "../../../src/kernel/state/types.ts";
import { ended } from "../../kernel/jobs/fixtures/types.ts";
import { openEnv, quietLog, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { never } from "../store-bench.ts";

/** Fields of a result. */
type Fields = Exclude<MessageInitShape<typeof AiResultRowSchema>, { readonly $typeName: string }>;

export const DAY_MS = 24 * 60 * 60 * 1_000;
export const NOON_MS = Date.UTC(2026, 0, 1, 12);

/** One process over the state. */
interface AiProcess {
  readonly deps: ApplyDeps;
  readonly results: ResultStore;
  readonly jobs: Jobs;
  /** Runs to its end; the result. */
  process(input: { readonly reprocess?: boolean; readonly docNos?: number[] }): Promise<unknown>;
  apply(input: { readonly docNos: number[]; readonly fields: number[] }): Promise<unknown>;
  startProcess(input: { readonly reprocess?: boolean }): Promise<Job>;
  /** Continues what the process before left; the result of this job. */
  recovered(id: string): Promise<unknown>;
}

export interface AiBench {
  readonly env: Env;
  /** The wall clock. */
  nowMs: number;
  /** Numbers of the documents that the provider was asked about. */
  readonly asked: number[];
  /** Called for each of them before the answer. */
  answering: (docNo: number, signal: AbortSignal) => Promise<void> | void;
  /** The failure that is the answer about one of them. */
  failing: (docNo: number) => ModelFailure | undefined;
  /** Of the next process, in place of the simulated one. */
  provider: AiProvider | undefined;
  /** Times the next process; its wall time is `nowMs`. */
  clock: Clock;
  /** Requests that the next process has in flight at most. */
  batchSize: number;
  /** Numbers of the documents that were changed in the archive. */
  readonly changed: number[];
  /** Called before a change. */
  changing: (docNo: number) => Promise<void> | void;
  /** A document of the archive as it is. */
  live(docNo: number): LiveDocument | undefined;
  /** Stores a pending result that is older than the clock, with these fields. */
  putResult(docNo: number, fields?: Fields): Promise<void>;
  /** With its result, while no process is open. */
  removeDocument(docNo: number): Promise<void>;
  /** A job that a killed process was running. */
  putRunning(
    type: "ai_processing" | "ai_apply",
    input: Uint8Array,
    cursor: Uint8Array,
  ): Promise<string>;
  open(): Promise<AiProcess>;
}

/** With documents 1 to `count`, none of which has a result. */
export async function openAiBench(count: number): Promise<AiBench> {
  const tables = [documents, meta, texts, aiResults, aiFeedback, aiCosts, ...jobTables];
  const env = await openEnv(temporaryFolder(), {
    tables: tables as readonly unknown[] as readonly AnyTable[],
  });
  const archive = createArchive(count);
  const bench: AiBench = {
    env,
    nowMs: NOON_MS,
    asked: [],
    answering: () => undefined,
    failing: () => undefined,
    provider: undefined,
    clock: systemClock,
    batchSize: 1,
    changed: [],
    changing: () => undefined,
    live: (docNo) => archive.get(docNo),
    async putResult(docNo, fields = {}) {
      const row = resultRow(docNo, fields);
      await env.write((tx) => tx.put(aiResults, docNo, row));
    },
    async removeDocument(docNo) {
      await env.write((tx) => {
        tx.delete(documents, docNo);
        tx.delete(aiResults, docNo);
      });
    },
    async putRunning(type, input, cursor) {
      const fresh = newRow({
        id: type,
        type,
        exclusive: type,
        input,
        createdAtMs: NOON_MS,
        seq: 1,
      });
      await env.write((tx) => tx.put(jobRows, type, { ...fresh, status: "running", cursor }));
      return type;
    },
    open: async () => await openProcess(bench, archive),
  };
  await fill(env, count);
  return bench;
}

function resultRow(docNo: number, fields: Fields) {
  return create(AiResultRowSchema, {
    id: `result-${docNo}`,
    docNo,
    serial: docNo,
    documentTitle: `Paper ${docNo}`,
    status: AiResultStatus.PENDING,
    createdAtMs: NOON_MS - DAY_MS,
    suggestedCorrespondent: "Water",
    suggestedDocumentType: "Invoice",
    suggestedTags: ["utilities"],
    ...fields,
  });
}

async function fill(env: Env, count: number): Promise<void> {
  const store = await openDocumentStore(
    { env, textEnv: env },
    { archiveOrder: ["papers"], signal: never },
  );
  const contentHash = new Uint8Array(32).fill(7);
  const zstd = zstdCompressSync("a water bill with a sum and a date");
  for (let docNo = 1; docNo <= count; docNo++) {
    await store.putTexts([{ docNo, contentHash, zstd }]);
    await env.write((tx) =>
      store.put(
        tx,
        create(DocumentRowSchema, {
          docNo,
          id: `id-${docNo}`,
          archive: "papers",
          archiveRef: `${docNo}`,
          title: `Paper ${docNo}`,
          paperlessId: docNo,
          contentHash,
        }),
      ),
    );
  }
}

function createArchive(count: number): Map<number, LiveDocument> {
  return new Map(
    Array.from({ length: count }, (_, at) => [
      at + 1,
      { id: at + 1, title: `Paper ${at + 1}`, tags: [], notes: [] } as unknown as LiveDocument,
    ]),
  );
}

async function openProcess(bench: AiBench, archive: Map<number, LiveDocument>): Promise<AiProcess> {
  const { env } = bench;
  const clock = { ...bench.clock, now: () => bench.nowMs };
  const [store, results] = await Promise.all([
    openDocumentStore({ env, textEnv: env }, { archiveOrder: ["papers"], signal: never }),
    openResultStore(env, never),
  ]);
  const settings = {
    ...readAiSettings((key) => key.default),
    provider: "compatible",
    batchSize: bench.batchSize,
  } as const;
  const deps = {
    isOn: true,
    env,
    documents: store,
    results,
    clock,
    ids: systemIds,
    archives: () => [
      { name: "papers", writer: createWriter(bench, archive) } as unknown as Archive,
    ],
    settings: () => settings,
    openProvider: async () => await Promise.resolve(bench.provider ?? createProvider(bench)),
    report: createDedupReport(undefined, { ai: true }),
  };
  const [processJob, applyJob] = [createProcessJob(deps), createApplyJob(deps)];
  const jobs = createJobs({ env, clock, ids: systemIds, log: quietLog }, [processJob, applyJob]);
  const resultOf = async (id: string): Promise<unknown> => {
    const { status, error, resultJson } = await ended(jobs, id);
    if (status !== "completed") throw new Error(`the job is ${status}: ${error}`);
    return JSON.parse(resultJson ?? "null");
  };
  const startProcess: AiProcess["startProcess"] = async (input) =>
    await jobs.start(processJob, create(AiProcessInputSchema, input));
  return {
    deps,
    results,
    jobs,
    startProcess,
    process: async (input) => await resultOf((await startProcess(input)).id),
    apply: async (input) =>
      await resultOf((await jobs.start(applyJob, create(AiApplyInputSchema, input))).id),
    async recovered(id) {
      await jobs.recover();
      return await resultOf(id);
    },
  };
}

function createProvider(bench: AiBench): AiProvider {
  const text = JSON.stringify({
    correspondent: "Water",
    documentType: "Invoice",
    tags: ["utilities"],
    confidence: { correspondent: 0.9, documentType: 0.8, tags: 0.7 },
    evidence: "header line",
  });
  return {
    async ask({ user }, signal): Promise<ModelAnswer | ModelFailure> {
      const docNo = Number(/Paper (\d+)/.exec(user)?.[1]);
      bench.asked.push(docNo);
      await bench.answering(docNo, signal);
      const failure = bench.failing(docNo);
      if (failure !== undefined) return failure;
      return { text, promptTokens: 10, completionTokens: 1, cachedTokens: 0 };
    },
    models: async () => await Promise.resolve([]),
  };
}

const names = new Map([
  [1, "Water"],
  [2, "Invoice"],
  [3, "utilities"],
  [4, "#todo"],
]);

function createWriter(bench: AiBench, archive: Map<number, LiveDocument>): PaperlessWriter {
  const writer: Pick<PaperlessWriter, "name" | "document" | "update" | "labels"> = {
    name: "papers",
    document: async (id) => await Promise.resolve(archive.get(id)),
    async update(id, change) {
      await bench.changing(id);
      const live = archive.get(id);
      if (live === undefined) return undefined;
      const { correspondent, documentType, ...rest } = change(live);
      const after: LiveDocument = {
        ...live,
        ...rest,
        correspondent: correspondent ?? live.correspondent,
        documentType: documentType ?? live.documentType,
      };
      archive.set(id, after);
      bench.changed.push(id);
      return after;
    },
    labels: async () => await Promise.resolve(names),
  };
  return writer as PaperlessWriter;
}
