/**
 * `npm run bench:scale`: many documents, analyses after a change, and input that is hard on an
 * analysis, each with its bound beside the figure. Exits with 1 when a bound is missed.
 *
 *     npm run bench:scale -- [--only million,compressed,incremental,bills,...] [--documents 1000000]
 *                            [--incremental 100000] [--json]
 *
 * Needs about 3 GB for files in the temporary folder, which are kept for the next run, and Linux's
 * /proc.
 */
import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { defaultParameters } from "../src/dedup/analysis/parameters.ts";
import { createTextFeatures } from "../workers/verify/text-features.ts";
import { verifyPair } from "../workers/verify/pair-verifier.ts";
import { mulberry32 } from "./corpus.ts";
import {
  bills,
  compressed,
  linesOf,
  nearIdentical,
  sameFirstPage,
  syntheticLines,
} from "./scale-corpora.ts";
import { runCommand } from "./scale-command.ts";
import type { CommandCost } from "./scale-command.ts";
import type { IncrementalResult } from "./scale-incremental.ts";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    documents: { type: "string", default: "1000000" },
    incremental: { type: "string", default: "100000" },
    json: { type: "boolean", default: false },
  },
});

const WORDS = 300;
const MAX_PEAK_MIB = 3_072;
/** Seconds for a million documents. */
const MILLION_SECONDS = 180;
/** The smaller corpus that the time of a document is compared with. */
const FEW = 100_000;
/** Pairs of hard input that are drawn and compared. */
const DRAWN_PAIRS = 2_000;
/** Of those that reach the threshold. */
const MAX_MISSED_PERCENT = 0.1;

const results: Record<string, unknown> = {};
let missed = 0;

function print(line: string): void {
  if (!options.json) process.stdout.write(`${line}\n`);
}

function figure(name: string, value: number, bound: number, unit: string): void {
  const holds = value <= bound;
  if (!holds) missed += 1;
  print(
    `  ${name.padEnd(44)}${value.toFixed(2).padStart(10)} ${unit.padEnd(6)} ≤ ${bound}${holds ? "  pass" : "  MISSED"}`,
  );
}

function show(name: string, cost: CommandCost): void {
  print(`\n${name}`);
  print(
    `  ${cost.documents} documents, ${cost.groups} groups, ${cost.wallSeconds.toFixed(1)} s, ${cost.cpuSeconds.toFixed(1)} CPU-s, ${Math.round(cost.peakMiB)} MiB`,
  );
  for (const note of cost.notes) print(`  note: ${note}`);
}

async function million(): Promise<void> {
  const documents = Number(options.documents);
  const few = await runCommand(await syntheticLines(FEW, WORDS));
  show(`${FEW} × ${WORDS} words`, few);
  const many = await runCommand(await syntheticLines(documents, WORDS));
  show(`${documents} × ${WORDS} words`, many);
  figure("seconds", many.wallSeconds, (MILLION_SECONDS * documents) / 1e6, "s");
  figure("resident memory", many.peakMiB, MAX_PEAK_MIB, "MiB");
  const ratio = many.wallSeconds / many.documents / (few.wallSeconds / few.documents);
  figure(`time a document beside ${FEW}`, ratio, 1.2, "×");
  results.million = { few, many, ratio };
}

async function compressedFile(): Promise<void> {
  const documents = Number(options.documents);
  const cost = await runCommand(await compressed(await syntheticLines(documents, WORDS)));
  show(`${documents} × ${WORDS} words under zstd`, cost);
  figure("seconds", cost.wallSeconds, (MILLION_SECONDS * documents) / 1e6, "s");
  figure("resident memory", cost.peakMiB, MAX_PEAK_MIB, "MiB");
  results.compressed = cost;
}

/** Bounds of the analyses after the first, in per cent of its CPU time. */
const SHARES = [1, 3, 3];

function incremental(): void {
  const documents = Number(options.incremental);
  const out = execFileSync(
    "bin/node",
    [
      "--disable-warning=ExperimentalWarning",
      "bench/scale-incremental.ts",
      JSON.stringify({ documents, words: WORDS, changed: 0.01 }),
    ],
    { cwd: join(import.meta.dirname, ".."), encoding: "utf8", maxBuffer: 2 ** 30 },
  );
  const { runs, equal } = JSON.parse(out) as IncrementalResult;
  const [full] = runs;
  print(`\nanalyses of a store of ${documents} × ${WORDS} words`);
  for (const { name, cpuSeconds, wallSeconds, phases } of runs) {
    print(`  ${name}: ${cpuSeconds.toFixed(2)} CPU-s, ${wallSeconds.toFixed(2)} s`);
    print(
      `    ${Object.entries(phases)
        .map(([phase, seconds]) => `${phase} ${seconds.toFixed(2)}`)
        .join(", ")}`,
    );
  }
  for (const [at, bound] of SHARES.entries()) {
    const run = runs[at + 1];
    if (full && run)
      figure(`${run.name}, of the full`, (100 * run.cpuSeconds) / full.cpuSeconds, bound, "%");
  }
  figure("groups that a full analysis has otherwise", equal ? 0 : 1, 0, "");
  results.incremental = { runs, equal };
}

/** Drawn pairs that reach the threshold, and those of them that a group has together. */
function recallOf(
  texts: readonly string[],
  groups: readonly (readonly number[])[],
): { readonly pairs: number; readonly shared: number } {
  const groupsOf = new Map<number, Set<number>>();
  for (const [group, members] of groups.entries())
    for (const member of members)
      groupsOf.set(member, (groupsOf.get(member) ?? new Set()).add(group));
  const random = mulberry32(31);
  const features = (number: number): ReturnType<typeof createTextFeatures> =>
    createTextFeatures(Buffer.from(texts[number] ?? ""), defaultParameters);
  let [pairs, shared] = [0, 0];
  for (let drawn = 0; drawn < DRAWN_PAIRS; drawn += 1) {
    const [a, b] = [0, 0].map(() => Math.floor(random() * texts.length)) as [number, number];
    if (a === b) continue;
    const scores = verifyPair(features(a), features(b), defaultParameters);
    if (Number.isNaN(scores.confidence)) continue;
    pairs += 1;
    const ofB = groupsOf.get(b) ?? new Set<number>();
    if ([...(groupsOf.get(a) ?? [])].some((group) => ofB.has(group))) shared += 1;
  }
  return { pairs, shared };
}

interface Hard {
  readonly name: string;
  readonly texts: () => readonly string[];
  /** CPU seconds. */
  readonly bound: number;
  /** Compare drawn pairs with the groups. */
  readonly recall: boolean;
}

const WORD = "word ";
const hard: Readonly<Record<string, Hard>> = {
  bills: {
    name: "10,000 bills of one layout",
    texts: () => bills(10_000),
    bound: 60,
    recall: true,
  },
  "many-bills": {
    name: "20,000 bills of one layout",
    texts: () => bills(20_000),
    bound: 120,
    recall: true,
  },
  near: {
    name: "20,000 near-identical texts",
    texts: () => nearIdentical(20_000),
    bound: 60,
    recall: true,
  },
  page: {
    name: "10,000 documents with the same first page",
    texts: () => sameFirstPage(10_000),
    bound: 60,
    recall: true,
  },
  equal: {
    name: "100,000 equal documents",
    texts: () => Array.from<string>({ length: 100_000 }).fill(bills(1)[0] ?? ""),
    bound: 20,
    recall: false,
  },
  word: {
    name: "one word a million times, in 10 documents",
    texts: () => Array.from({ length: 10 }, (_, number) => WORD.repeat(1e6 + number)),
    bound: 10,
    recall: false,
  },
  long: {
    name: "a text of 50 MB",
    texts: () => [Array.from({ length: 7_000_000 }, (_, i) => `w${i % 999_983}`).join(" ")],
    bound: 20,
    recall: false,
  },
};

async function hardInput(key: string, { name, texts, bound, recall }: Hard): Promise<void> {
  const made = texts();
  const file = await linesOf(`${key}-${made.length}`, () => made);
  const groups: number[][] = [];
  const cost = await runCommand(file, (ids) => void groups.push(ids.map((id) => Number(id) - 1)));
  show(name, cost);
  figure("CPU", cost.cpuSeconds, bound, "s");
  figure("resident memory", cost.peakMiB, MAX_PEAK_MIB, "MiB");
  const drawn = recall ? recallOf(made, groups) : undefined;
  if (drawn !== undefined && drawn.pairs > 0)
    figure(
      `of ${drawn.pairs} true pairs drawn, in no group`,
      (100 * (drawn.pairs - drawn.shared)) / drawn.pairs,
      MAX_MISSED_PERCENT,
      "%",
    );
  results[key] = { ...cost, drawn };
}

function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model ?? "unknown"}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`;
}

const parts: Readonly<Record<string, () => Promise<void> | void>> = {
  million,
  compressed: compressedFile,
  incremental,
  ...Object.fromEntries(
    Object.entries(hard).map(([key, input]) => [key, () => hardInput(key, input)]),
  ),
};
const chosen = options.only?.split(",") ?? Object.keys(parts);
const unknown = chosen.find((part) => !(part in parts));
if (unknown !== undefined)
  throw new Error(`there is no part "${unknown}"; choose from ${Object.keys(parts).join(", ")}`);
results.machine = machine();
print(machine());
for (const part of chosen) await parts[part]?.();
if (options.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
if (missed > 0) process.exitCode = 1;
