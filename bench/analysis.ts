/**
 * How fast the analysis is, beside the naive way in the same run: `bin/node bench/analysis.ts
 * [documents] [words]`. Digest is counted: the figure is raw text in, edges out.
 */
import { setTimeout } from "node:timers/promises";
import { analyse } from "../src/dedup/analysis/engine.ts";
import type { AnalysisOutcome, TextClass } from "../src/dedup/analysis/engine.ts";
import { defaultParameters } from "../src/dedup/analysis/parameters.ts";
import { createMemorySketchStore } from "../src/dedup/analysis/sketch-store.ts";
import { digestRequest } from "../src/dedup/archives/digests.ts";
import { systemClock } from "../src/kernel/base/clock.ts";
import { createLog } from "../src/kernel/base/log.ts";
import { createPool } from "../src/kernel/pool/pool.ts";
import type { Pool } from "../src/kernel/pool/types.ts";
import { itemOf } from "../workers/packed.ts";
import type { DigestInput } from "../workers/tasks/digest.ts";
import { digest } from "../workers/tasks.ts";
import { createCorpus, mulberry32 } from "./corpus.ts";

const NAIVE_SAMPLE = 1_000;
const BATCH = 256;

const documents = Number(process.argv[2] ?? 20_000);
const words = Number(process.argv[3] ?? 300);
const signal = new AbortController().signal;

function print(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(28)} ${value}\n`);
}

interface Digested {
  readonly classes: TextClass[];
  readonly texts: Uint8Array[];
}

async function digestAll(pool: Pool, texts: readonly string[]): Promise<Digested> {
  const known = new Map<string, number>();
  const result: Digested = { classes: [], texts: [] };
  function* batches(): Generator<DigestInput> {
    for (let at = 0; at < texts.length; at += BATCH)
      yield { texts: texts.slice(at, at + BATCH), request: digestRequest() };
  }
  for await (const { hashes, wordCounts, zstd } of pool.map(digest, batches(), { signal })) {
    for (let i = 0; i < wordCounts.length; i += 1) {
      const hash = hashes.slice(i * 32, (i + 1) * 32);
      const name = Buffer.from(hash).toString("latin1");
      if (known.has(name)) continue;
      known.set(name, result.classes.length);
      result.classes.push({ hash, wordCount: wordCounts[i] ?? 0, documents: [known.size] });
      result.texts.push(itemOf(zstd, i));
    }
  }
  return result;
}

/**
 * The object path: strings for shingles, 256 permutations in big integers avoided but one pass
 * each, on this thread.
 */
function naiveSignature(text: string): number[] {
  const list = text.toLowerCase().split(/\s+/);
  const shingles = new Set(
    list.slice(0, -2).map((word, i) => `${word} ${list[i + 1]} ${list[i + 2]}`),
  );
  return coefficients.map(([a, b]) => {
    let least = 0xffff_ffff;
    for (const shingle of shingles) {
      let hash = 0x811c9dc5;
      for (let i = 0; i < shingle.length; i += 1)
        hash = Math.imul(hash ^ shingle.charCodeAt(i), 0x01000193);
      least = Math.min(least, (Math.imul(a, hash) + b) >>> 0);
    }
    return least;
  });
}

const random = mulberry32(42);
const coefficients = Array.from({ length: 256 }, (): [number, number] => [
  (random() * 2 ** 32) | 1,
  Math.floor(random() * 2 ** 32),
]);

async function measure(pool: Pool, texts: readonly string[]): Promise<number> {
  let peakBytes = 0;
  const stop = new AbortController();
  const watch = (async () => {
    while (!stop.signal.aborted) {
      peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
      await setTimeout(50);
    }
  })();
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const digested = await digestAll(pool, texts);
  const digestedMs = performance.now();
  const marks = new Map<string, number>();
  const sketches = createMemorySketchStore();
  const input = {
    classes: digested.classes,
    text: (indexes: readonly number[]) => indexes.map((i) => digested.texts[i]),
    sketches,
    parameters: defaultParameters,
    pool,
    signal,
  };
  const outcome: AnalysisOutcome = await analyse({
    ...input,
    progress: (phase) => void marks.set(phase, performance.now()),
  });
  const endMs = performance.now();
  const used = process.cpuUsage(cpu);
  stop.abort();
  await watch;
  const rate = (texts.length / (endMs - startMs)) * 1_000;
  print("digest", `${Math.round(digestedMs - startMs)} ms`);
  let before = digestedMs;
  for (const [phase, atMs] of marks) {
    print(phase, `${Math.round(atMs - before)} ms`);
    before = atMs;
  }
  print(
    "documents/s",
    `${Math.round(rate)} with ${pool.status().threads} threads; ${Math.round(texts.length / ((used.user + used.system) / 1e6))} per CPU second`,
  );
  print(
    "classes, candidates, edges",
    `${outcome.stats.classes}, ${outcome.stats.candidates}, ${outcome.stats.edges}`,
  );
  print("peak memory", `${Math.round(peakBytes / 2 ** 20)} MiB, texts included`);
  const againMs = performance.now();
  const again = await analyse({ ...input, progress: () => undefined });
  print(
    "again, nothing new",
    `${Math.round(performance.now() - againMs)} ms, ${again.stats.reused} reused`,
  );
  return rate;
}

const texts = createCorpus({ documents, words, seed: 1 });
const log = createLog({
  level: "warn",
  format: "text",
  write: (line) => void process.stderr.write(line),
  now: () => 0,
});
const pool = createPool({ clock: systemClock, log });
print("documents", `${documents} of about ${words} words`);
const rate = await measure(pool, texts);
await pool.close();
const sample = texts.slice(0, NAIVE_SAMPLE);
const startMs = performance.now();
for (const text of sample) naiveSignature(text);
const naive = (sample.length / (performance.now() - startMs)) * 1_000;
print("naive signatures/s", `${Math.round(naive)} on one thread, without pairs`);
print("ratio", (rate / naive).toFixed(1));
