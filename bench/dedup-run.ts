/**
 * One analysis in a process of its own, for `bench/dedup.ts`: texts of a JSON array in, groups and
 * CPU time of the whole process out. Reading the JSON is not counted; the start of the pool is.
 *
 *     bin/node bench/dedup-run.ts '{"texts":"t.json","workers":2,"parameters":{}}'
 */
import { readFileSync } from "node:fs";
import { analyse } from "../src/dedup/analysis/engine.ts";
import { createClassifier, documentPairs, groupDocuments } from "../src/dedup/analysis/outcome.ts";
import {
  defaultParameters,
  parametersFingerprint,
  signatureParametersOf,
} from "../src/dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../src/dedup/analysis/parameters.ts";
import { digestRequest } from "../src/dedup/archives/digests.ts";
import { createMemorySketchStore } from "../src/dedup/analysis/sketch-store.ts";
import { systemClock } from "../src/kernel/base/clock.ts";
import { createLog } from "../src/kernel/base/log.ts";
import { createPool } from "../src/kernel/pool/pool.ts";
import { digest } from "../workers/tasks.ts";
import type { DigestInput } from "../workers/tasks/digest.ts";

/** Input and options of a measured analysis. */
export interface DedupRun {
  /** Path of a JSON array of texts. */
  readonly texts: string;
  readonly workers?: number;
  readonly parameters?: Partial<AnalysisParameters>;
  /** Also answer which documents each group has, and its verified pairs. */
  readonly members?: boolean;
}

/** Cost and counts of a measured analysis. */
export interface DedupResult {
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly peakMiB: number;
  /** CPU seconds by stage, in their order. */
  readonly stages: Readonly<Record<string, number>>;
  readonly classes: number;
  readonly candidates: number;
  readonly verified: number;
  readonly edges: number;
  readonly pairs: number;
  readonly groups: number;
  readonly limited: number;
  readonly members: readonly (readonly number[])[];
  /** Verified pairs of documents with different texts, two numbers each. */
  readonly edgeEnds: readonly number[];
}

/** Texts of one task. */
const BATCH_TEXTS = 256;

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function run(task: DedupRun): Promise<DedupResult> {
  const texts = JSON.parse(readFileSync(task.texts, "utf8")) as string[];
  const parameters = { ...defaultParameters, ...task.parameters };
  const startMs = performance.now();
  const start = cpuSeconds();
  const stages: Record<string, number> = {};
  let stage = "read and sign";
  let since = start;
  const begin = (next: string): void => {
    if (next === stage) return;
    const now = cpuSeconds();
    stages[stage] = (stages[stage] ?? 0) + now - since;
    stage = next;
    since = now;
  };
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => void process.stderr.write(line),
    now: () => 0,
  });
  const pool = createPool({
    clock: systemClock,
    log,
    ...(task.workers === undefined ? {} : { threads: task.workers }),
  });
  const { signal } = new AbortController();
  const classifier = createClassifier(parameters);
  const sketches = createMemorySketchStore({ once: true });
  const wordCounts: number[] = [];
  const request = digestRequest({
    parameters: signatureParametersOf(parameters),
    fingerprint: parametersFingerprint(parameters),
  });
  function* batches(): Generator<DigestInput> {
    for (let at = 0; at < texts.length; at += BATCH_TEXTS) {
      const batch = texts.slice(at, at + BATCH_TEXTS);
      yield { texts: batch, rereadable: new Uint8Array(batch.length).fill(1), request };
    }
  }
  for await (const { hashes, wordCounts: counts, block } of pool.map(digest, batches(), {
    signal,
  })) {
    for (const [i, wordCount] of counts.entries()) {
      classifier.add(wordCounts.length, { hash: hashes.subarray(i * 32, i * 32 + 32), wordCount });
      wordCounts.push(wordCount);
    }
    if (block) await sketches.save(block);
  }
  const text = (number: number | undefined): Uint8Array =>
    Buffer.from(texts[number ?? -1] ?? "", "utf8");
  const outcome = await analyse({
    classes: classifier.classes,
    text: (indexes) => indexes.map((index) => text(classifier.classes[index]?.documents[0])),
    sketches,
    parameters,
    pool,
    signal,
    progress: (phase) => begin(phase === "sign" ? "read and sign" : phase),
  });
  begin("groups");
  const groups = await groupDocuments({
    document: (number) => ({
      archive: "",
      archiveRef: String(number),
      ref: String(number),
      title: "",
      wordCount: wordCounts[number] ?? 0,
    }),
    text,
    outcome,
    parameters,
    pool,
    clock: systemClock,
    signal,
  });
  await pool.close();
  begin("end");
  return {
    cpuSeconds: cpuSeconds() - start,
    wallSeconds: (performance.now() - startMs) / 1_000,
    peakMiB: process.resourceUsage().maxRSS / 1_024,
    stages,
    classes: outcome.stats.classes,
    candidates: outcome.stats.candidates,
    verified: outcome.stats.verified,
    edges: outcome.stats.edges,
    pairs: documentPairs(outcome),
    groups: groups.length,
    limited: outcome.stats.limitedClasses,
    members: task.members
      ? groups.map((group) => group.members.map((member) => Number(member.ref)))
      : [],
    edgeEnds: task.members
      ? groups.flatMap(({ found }) =>
          found.pairs.flatMap(({ a, b }) => [found.members[a] ?? 0, found.members[b] ?? 0]),
        )
      : [],
  };
}

if (import.meta.main)
  process.stdout.write(JSON.stringify(await run(JSON.parse(process.argv[2] ?? "{}") as DedupRun)));
