/**
 * `npm run bench:dedup`: the analysis beside datasketch and rensa (from PyPI, in
 * `.cache/python`) and a small native reference, all in one run, per CPU-second of a whole process.
 * Reading JSON is counted for none of them.
 *
 *     npm run bench:dedup -- [--documents 20000] [--real 24000] [--exhaustive] [--only real] [--json]
 *
 * With `--exhaustive` the groups are compared with all pairs of similar texts, which takes minutes:
 * it exits with 1 unless 999 of 1,000 pairs share a group and every reported pair is true.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { nearIdenticalTexts, realTexts, syntheticTexts } from "./dedup-corpora.ts";
import { exhaustiveCheck } from "./dedup-exhaustive.ts";
import type { DedupResult, DedupRun } from "./dedup-run.ts";

const root = join(import.meta.dirname, "..");
const { values: options } = parseArgs({
  options: {
    documents: { type: "string", default: "20000" },
    real: { type: "string", default: "24000" },
    exhaustive: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    only: { type: "string" },
  },
});

/** MinHash and exact Jaccard alone. */
const JACCARD_ONLY = {
  confidenceWeightJaccard: 100,
  confidenceWeightFuzzy: 0,
  discriminativePenaltyStrength: 0,
};
const PYTHON_PACKAGES = ["datasketch==2.0.0", "rensa==0.5.0", "xxhash"];
/** Of the pairs at or above the threshold, how many must share a group. */
const MIN_RECALL = 0.999;
const NEAR_IDENTICAL = [1_000, 4_000, 10_000];

/** CPU seconds of a peer, and what it found. */
interface PeerResult {
  readonly cpuSeconds: number;
  readonly pairs: number;
  readonly groups: number;
}

const folder = mkdtempSync(join(tmpdir(), "steward-bench-dedup-"));
const results: Record<string, unknown> = {};

function print(line: string = ""): void {
  if (!options.json) process.stdout.write(`${line}\n`);
}

function steward(run: DedupRun): DedupResult {
  const out = execFileSync(
    "bin/node",
    ["--disable-warning=ExperimentalWarning", "bench/dedup-run.ts", JSON.stringify(run)],
    {
      cwd: root,
      // Stands for the built tree, whose modules need no stripping of types.
      env: { ...process.env, NODE_COMPILE_CACHE: join(root, ".cache/compile") },
      encoding: "utf8",
      maxBuffer: 2 ** 30,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  return JSON.parse(out) as DedupResult;
}

/** The interpreter with both packages, or why there is none. */
function preparePython(): { readonly path: string } | { readonly missing: string } {
  const environment = join(root, ".cache/python");
  const path = join(environment, "bin/python");
  const run = (command: string, args: readonly string[]): boolean =>
    spawnSync(command, args, { stdio: "ignore" }).status === 0;
  if (!existsSync(path) && !run("python3", ["-m", "venv", environment]))
    return { missing: "python3 with venv is not there" };
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  return run(path, ["-c", "import datasketch, rensa, xxhash"]) ||
    run(path, [...install, ...PYTHON_PACKAGES])
    ? { path }
    : { missing: `pip cannot install ${PYTHON_PACKAGES.join(", ")}` };
}

/** The native reference, or why there is none. */
function prepareNative(): { readonly path: string } | { readonly missing: string } {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const path = join(root, ".cache/minhash");
  const done = spawnSync(
    "cc",
    ["-O3", "-march=native", "-o", path, join(root, "bench/native/minhash.c")],
    { stdio: "ignore" },
  );
  return done.status === 0 ? { path } : { missing: "no C compiler is there" };
}

const python = preparePython();
const native = prepareNative();

function peer(name: string, file: string): PeerResult | undefined {
  if ("missing" in python) return undefined;
  const out = execFileSync(python.path, [join(root, "bench/peers/minhash.py"), name, file], {
    encoding: "utf8",
  });
  return JSON.parse(out) as PeerResult;
}

function nativeReference(texts: readonly string[]): PeerResult | undefined {
  if ("missing" in native) return undefined;
  const file = join(folder, "texts.bin");
  const parts = texts.flatMap((text) => {
    const bytes = Buffer.from(text, "utf8");
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [length, bytes];
  });
  writeFileSync(file, Buffer.concat(parts));
  return JSON.parse(execFileSync(native.path, [file], { encoding: "utf8" })) as PeerResult;
}

function row(name: string, ...cells: readonly string[]): void {
  print(`  ${name.padEnd(34)}${cells.map((cell) => cell.padStart(13)).join("")}`);
}

function rate(documents: number, seconds: number): string {
  return Math.round(documents / seconds).toLocaleString("en");
}

function printStages(result: DedupResult): void {
  for (const [stage, seconds] of Object.entries(result.stages))
    row(`  ${stage}`, seconds.toFixed(2), `${((100 * seconds) / result.cpuSeconds).toFixed(0)} %`);
}

function compare(name: string, texts: readonly string[]): void {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(texts));
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  print(`\n${name}: ${texts.length} documents, ${(bytes / 1e6).toFixed(1)} MB`);
  row("", "CPU s", "docs/CPU s", "groups", "× rensa", "× native");
  steward({ texts: file }); // Fills the compile cache and the page cache.
  const shipped = steward({ texts: file });
  const jaccard = steward({ texts: file, parameters: JACCARD_ONLY });
  const one = steward({ texts: file, workers: 1 });
  const two = steward({ texts: file, workers: 2 });
  const rensa = peer("rensa", file);
  const datasketch = peer("datasketch", file);
  const reference = nativeReference(texts);
  const times = (other: PeerResult | undefined, own: number): string =>
    other === undefined ? "-" : (other.cpuSeconds / own).toFixed(2);
  const line = (title: string, result: PeerResult | undefined): void => {
    if (result === undefined) return;
    const { cpuSeconds, groups } = result;
    row(
      title,
      cpuSeconds.toFixed(2),
      rate(texts.length, cpuSeconds),
      String(groups),
      times(rensa, cpuSeconds),
      times(reference, cpuSeconds),
    );
  };
  line("Steward as shipped", shipped);
  line("Steward, exact Jaccard alone", jaccard);
  line("rensa 0.5.0, estimates", rensa);
  line("datasketch 2.0.0, estimates", datasketch);
  line("native, exact Jaccard", reference);
  row("two workers against one, wall", `${(one.wallSeconds / two.wallSeconds).toFixed(2)} ×`);
  print("  stages as shipped");
  printStages(shipped);
  print("  stages, exact Jaccard alone");
  printStages(jaccard);
  row(
    "candidates, verified, edges",
    ...[shipped.candidates, shipped.verified, shipped.edges].map(String),
  );
  results[name] = {
    documents: texts.length,
    bytes,
    shipped,
    jaccard,
    oneWorker: one,
    twoWorkers: two,
    rensa,
    datasketch,
    native: reference,
  };
  if (options.exhaustive) check(name, texts, file);
}

function check(name: string, texts: readonly string[], file: string): void {
  const found = steward({ texts: file, members: true });
  const result = exhaustiveCheck(texts, found);
  const { similar, pairs, shared, edges, trueEdges, seconds } = result;
  print(`  exhaustive: ${result.texts} distinct texts, ${seconds.toFixed(0)} s`);
  row("pairs with Jaccard ≥ .4", String(similar));
  row("  at or above the threshold", String(pairs));
  row("texts that a limit touched", String(found.limited));
  bound("recall: share a group", pairs === 0 ? 1 : shared / pairs, MIN_RECALL);
  bound(`precision of ${edges} reported pairs`, edges === 0 ? 1 : trueEdges / edges, 1);
  results[`${name}, exhaustive`] = { ...result, limited: found.limited };
}

/** Prints a share that has to be at least so high; missing it ends the bench with 1. */
function bound(name: string, share: number, least: number): void {
  if (share < least) process.exitCode = 1;
  row(`  ${name}`, share.toFixed(5), `≥ ${least}`, share < least ? "MISSED" : "pass");
}

function nearIdentical(): void {
  print("\nnear-identical: distinct texts with three edits each");
  row("", "CPU s", "verified", "groups");
  for (const documents of NEAR_IDENTICAL) {
    const file = join(folder, "near.json");
    writeFileSync(file, JSON.stringify(nearIdenticalTexts(documents)));
    const result = steward({ texts: file });
    row(
      String(documents),
      result.cpuSeconds.toFixed(2),
      String(result.verified),
      String(result.groups),
    );
    results[`near-identical ${documents}`] = result;
  }
}

function machine(): string {
  const [first] = cpus();
  const load = loadavg()[0]?.toFixed(1);
  return `${cpus().length} × ${first?.model ?? "unknown"}, Node ${process.version}, load ${load}`;
}

try {
  print(machine());
  for (const tool of [python, native]) if ("missing" in tool) print(`left out: ${tool.missing}`);
  results.machine = machine();
  const wanted = (name: string): boolean => options.only === undefined || options.only === name;
  if (wanted("synthetic")) compare("synthetic", syntheticTexts(Number(options.documents)));
  if (wanted("real")) {
    const library =
      "missing" in python
        ? undefined
        : execFileSync(python.path, ["-c", "import os; print(os.path.dirname(os.__file__))"], {
            encoding: "utf8",
          }).trim();
    const { texts, sources } = realTexts(Number(options.real), join(root, "node_modules"), library);
    results.sources = sources;
    compare("real", texts);
  }
  if (wanted("near")) nearIdentical();
  if (options.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
