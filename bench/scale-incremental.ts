/**
 * Analyses of a store that lasts, in a process of its own, for `bench/scale.ts`: a full one, then
 * one after each change, with the CPU time of the whole process by phase.
 *
 *     bin/node bench/scale-incremental.ts '{"documents":100000,"words":300,"changed":0.01}'
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { createAnalysisJob } from "../src/dedup/analysis/job.ts";
import type { AnalysisInput, AnalysisResult } from "../src/dedup/analysis/job.ts";
import { defaultParameters } from "../src/dedup/analysis/parameters.ts";
import {
  createEnvJoinStore,
  createEnvSketchStore,
  createEnvVerdictStore,
} from "../src/dedup/analysis/sketch-store.ts";
import { digestRequest } from "../src/dedup/archives/digests.ts";
import { openDocumentStore } from "../src/dedup/documents/store.ts";
import type { DocumentStore } from "../src/dedup/documents/store.ts";
import type { GroupIndex } from "../src/dedup/groups/index.ts";
import { openGroupIndex, readGroup } from "../src/dedup/groups/store.ts";
import { mainStore, sketchStore, textStore } from "../src/dedup/stores.ts";
import { GroupStatus } from "../src/gen/steward/dedup/v1/groups_pb.ts";
import { DocumentRowSchema } from "../src/gen/steward/state/v1/dedup_pb.ts";
import type { DocumentRow } from "../src/gen/steward/state/v1/dedup_pb.ts";
import { systemClock } from "../src/kernel/base/clock.ts";
import { createLog } from "../src/kernel/base/log.ts";
import type { JobType } from "../src/kernel/jobs/types.ts";
import { createPool } from "../src/kernel/pool/pool.ts";
import type { Pool } from "../src/kernel/pool/types.ts";
import { createStateFactory } from "../src/kernel/state/state-factory.ts";
import type { Env } from "../src/kernel/state/types.ts";
import { itemOf } from "../workers/packed.ts";
import { digest } from "../workers/tasks.ts";
import type { DigestInput } from "../workers/tasks/digest.ts";
import { createCorpus } from "./corpus.ts";

/** What to measure. */
export interface IncrementalRun {
  readonly documents: number;
  readonly words: number;
  /** Share of the documents whose text changes. */
  readonly changed: number;
}

/** One analysis. */
export interface AnalysisCost {
  readonly name: string;
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  /** CPU seconds by phase of the job. */
  readonly phases: Readonly<Record<string, number>>;
  readonly result: AnalysisResult;
  /** Groups as readers see them; equal text for equal groups. */
  readonly groups: number;
}

/** All of them, in their order. */
export interface IncrementalResult {
  readonly runs: readonly AnalysisCost[];
  /** Whether the groups after the changes are those of a full analysis. */
  readonly equal: boolean;
}

/** Documents of one batch. */
const BATCH = 128;

interface Store {
  readonly env: Env;
  readonly documents: DocumentStore;
  readonly index: GroupIndex;
  readonly job: JobType<AnalysisInput, AnalysisResult>;
  readonly pool: Pool;
  close(): Promise<void>;
}

const { signal } = new AbortController();
const log = createLog({
  level: "warn",
  format: "text",
  write: (line) => void process.stderr.write(line),
  now: () => 0,
});

async function openStore(directory: string): Promise<Store> {
  const state = createStateFactory({ directory, clock: systemClock, log });
  const env = await state.open(mainStore);
  const textEnv = await state.open(textStore);
  const sketchEnv = await state.open(sketchStore);
  const documents = await openDocumentStore({ env, textEnv }, { archiveOrder: ["bench"], signal });
  const index = await openGroupIndex(env, { signal });
  const pool = createPool({ clock: systemClock, log });
  const job = createAnalysisJob({
    env,
    documents,
    index,
    sketches: createEnvSketchStore(sketchEnv),
    verdicts: createEnvVerdictStore(sketchEnv),
    joins: createEnvJoinStore(sketchEnv),
    pool,
    clock: systemClock,
    parameters: () => defaultParameters,
  });
  return {
    env,
    documents,
    index,
    job,
    pool,
    async close() {
      await pool.close();
      for (const one of [sketchEnv, textEnv, env]) await one.close();
    },
  };
}

/** Stores texts as a sync does: the text, then the row, which waits for an analysis. */
async function putTexts(
  { env, documents, pool }: Store,
  texts: ReadonlyMap<number, string>,
): Promise<void> {
  const numbers = [...texts.keys()];
  const batches = Array.from({ length: Math.ceil(numbers.length / BATCH) }, (_, i) =>
    numbers.slice(i * BATCH, (i + 1) * BATCH),
  );
  let at = 0;
  const inputs = batches.map((batch): DigestInput => ({
    texts: batch.map((docNo) => texts.get(docNo) ?? ""),
    request: digestRequest(),
  }));
  for await (const { hashes, wordCounts, zstd } of pool.map(digest, inputs, { signal })) {
    const batch = (batches[at++] ?? []).map((docNo, i) => ({
      docNo,
      contentHash: hashes.slice(i * 32, (i + 1) * 32),
      wordCount: wordCounts[i] ?? 0,
      zstd: itemOf(zstd, i),
    }));
    await documents.putTexts(batch);
    await putRows(
      { env, documents },
      batch.map(({ docNo, contentHash, wordCount }) =>
        create(DocumentRowSchema, {
          docNo,
          id: `document-${docNo}`,
          archive: "bench",
          archiveRef: `folder/${docNo}.txt`,
          title: `Document ${docNo}`,
          modifiedDate: "2026-01-02T03:04:05Z",
          fingerprint: contentHash,
          contentHash,
          wordCount,
          pending: true,
          syncedAtMs: systemClock.now(),
        }),
      ),
    );
  }
}

async function putRows(
  { env, documents }: Pick<Store, "env" | "documents">,
  rows: readonly DocumentRow[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += 64)
    await env.write((tx) => {
      for (const row of rows.slice(at, at + 64)) documents.put(tx, row);
    });
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Runs the job to its end. */
async function analyse(store: Store, name: string, force = false): Promise<AnalysisCost> {
  const [startMs, start] = [performance.now(), cpuSeconds()];
  const phases: Record<string, number> = {};
  let [phase, since] = ["", start];
  const begin = (next: string): void => {
    const now = cpuSeconds();
    if (phase !== "") phases[phase] = (phases[phase] ?? 0) + now - since;
    [phase, since] = [next, now];
  };
  const result = await store.job.run({
    id: "bench",
    input: { force },
    signal,
    phase(next) {
      begin(next);
      return { step: () => undefined };
    },
    commit: (change) => store.env.write(change),
    resume: () => undefined,
    keepWhenCancelled: () => undefined,
    note: () => undefined,
    notes: () => ({}),
  });
  begin("");
  return {
    name,
    cpuSeconds: cpuSeconds() - start,
    wallSeconds: (performance.now() - startMs) / 1_000,
    phases,
    result,
    groups: store.index.size,
  };
}

/** What an analysis decides of all groups, as text. */
function groupsOf({ env, index }: Store): string {
  const page = { offset: 0, limit: index.size };
  const statuses = new Set([GroupStatus.PENDING]);
  const { ids } = index.select({ statuses }, { by: "confidence", descending: true }, page);
  return env
    .read((snapshot) => ids.flatMap((id) => readGroup(snapshot, id)?.row ?? []))
    .map((row) => JSON.stringify({ ...row, updatedAtMs: 0, id: "" }))
    .toSorted()
    .join("\n");
}

/**
 * Stores a corpus and answers the later texts of some documents: one half becomes an edited copy of
 * another document, the other half has a text of its own. Nothing else of the corpus stays in
 * memory, where a garbage collection would count as work of an analysis.
 */
async function fill(
  store: Store,
  { documents, words, numbers }: { documents: number; words: number; numbers: readonly number[] },
): Promise<ReadonlyMap<number, string>> {
  const texts = createCorpus({ documents, words, seed: 1 });
  const fresh = createCorpus({ documents: numbers.length, words, seed: 2 });
  await putTexts(store, new Map(texts.map((text, i) => [i + 1, text])));
  return new Map(
    numbers.map((docNo, i) => [
      docNo,
      i % 2 === 0
        ? (texts[(docNo * 7) % documents] ?? "").replace(/(?:\S+ ){3}\S+$/u, `edit${docNo}`)
        : (fresh[i] ?? ""),
    ]),
  );
}

async function measure({ documents, words, changed }: IncrementalRun): Promise<IncrementalResult> {
  const directory = mkdtempSync(join(tmpdir(), "steward-bench-store-"));
  const store = await openStore(directory);
  try {
    const some = Math.max(1, Math.round(documents * changed));
    const numbers = Array.from({ length: some }, (_, i) => 1 + Math.floor((i * documents) / some));
    const edits = await fill(store, { documents, words, numbers });
    const runs = [await analyse(store, "full")];
    runs.push(await analyse(store, "nothing changed"));
    const touched = numbers.flatMap((docNo) => store.documents.row(docNo) ?? []);
    await putRows(
      store,
      touched.map((row) => ({ ...row, correspondent: "Ada", syncedAtMs: systemClock.now() })),
    );
    runs.push(await analyse(store, `metadata of ${some} changed`));
    await putTexts(store, edits);
    runs.push(await analyse(store, `text of ${some} changed`));
    const after = groupsOf(store);
    runs.push(await analyse(store, "full again", true));
    return { runs, equal: after === groupsOf(store) };
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main)
  process.stdout.write(
    JSON.stringify(await measure(JSON.parse(process.argv[2] ?? "{}") as IncrementalRun)),
  );
