/**
 * Makes the plugin's single executable: Node with the bundled plugin in it
 * (https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html). A host checks the
 * hash of one file, so everything that runs is in it.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { PluginManifest } from "../../src/plugin-main.ts";
import { lazyRequires } from "./lazy-requires.ts";
import { licenceText } from "./licences.ts";
import { withoutSymbols } from "./symbols.ts";

/** Where Node looks for what it runs. */
const RESOURCE = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const SCRIPT = "plugin.cjs";

/**
 * A plugin runs for months beside its host, so memory goes over a few per cent of speed: a small
 * young generation, and a heap that is collected when it has grown by a fifth.
 */
const NODE_OPTIONS: readonly string[] = [
  // See bin/node.
  "--no-maglev-build-code-on-background",
  "--disable-warning=ExperimentalWarning",
  "--max-semi-space-size=2",
  "--heap-growing-percent=20",
  "--max-old-space-size=1024",
];

export interface PluginSpec {
  /** Of the sources, with installed packages. */
  readonly root: string;
  /**
   * `bin/node` for the machine that runs the plugin, of the same version as the one that runs this,
   * with its licence beside `bin`.
   */
  readonly node: string;
  readonly manifest: PluginManifest;
  /** The executable to write. */
  readonly target: string;
}

/** Paths of the bundled modules, and the hexadecimal SHA-256 of the executable. */
export interface MadePlugin {
  readonly modules: ReadonlySet<string>;
  readonly sha256: string;
}

/** Equal sources give equal bytes: nothing of this machine is in them. */
export async function makePlugin({
  root,
  node,
  manifest,
  target,
}: PluginSpec): Promise<MadePlugin> {
  const staging = mkdtempSync(`${target}.`);
  try {
    const modules = await bundlePlugin(root, join(staging, SCRIPT));
    writeFileSync(join(staging, "manifest.json"), JSON.stringify(manifest));
    writeFileSync(join(staging, "licences.txt"), licencesOf(root, node, modules));
    const blob = makeBlob(staging);
    const executable = join(staging, "plugin");
    writeFileSync(executable, withoutSymbols(readFileSync(node)));
    inject(executable, blob);
    chmodSync(executable, 0o755);
    const sha256 = createHash("sha256").update(readFileSync(executable)).digest("hex");
    renameSync(executable, target);
    return { modules, sha256 };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** One file: an executable has one script, and it cannot be an ES module. */
async function bundlePlugin(root: string, target: string): Promise<ReadonlySet<string>> {
  const bundle = await rolldown({
    // Names of modules in the bundle are relative to it.
    cwd: root,
    input: join(root, "src/plugin-main.ts"),
    platform: "node",
    resolve: { mainFields: ["module", "main"] },
    plugins: [lazyRequires([])],
    onLog(level, log, report) {
      if (level === "warn") throw new Error(`${log.code}: ${log.message}`);
      report(level, log);
    },
  });
  try {
    const { output } = await bundle.write({
      file: target,
      format: "cjs",
      codeSplitting: false,
      charset: "ascii",
      comments: false,
    });
    return new Set(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])));
  } finally {
    await bundle.close();
  }
}

/** The path of what Node runs. Names are relative, since they become part of it. */
function makeBlob(staging: string): string {
  writeFileSync(
    join(staging, "sea.json"),
    JSON.stringify({
      main: SCRIPT,
      output: "plugin.blob",
      disableExperimentalSEAWarning: true,
      // Compiled code depends on the processor.
      useCodeCache: false,
      execArgv: NODE_OPTIONS,
      execArgvExtension: "none",
      assets: { manifest: "manifest.json", licences: "licences.txt" },
    }),
  );
  run(["--experimental-sea-config", "sea.json"], staging);
  return join(staging, "plugin.blob");
}

/** Steward's, Node's, and those of the bundled packages. */
function licencesOf(root: string, node: string, modules: Iterable<string>): string {
  const own = [join(root, "LICENSE"), join(dirname(dirname(node)), "LICENSE")];
  const line = `\n${"-".repeat(80)}\n`;
  return [...own.map((file) => readFileSync(file, "utf8")), licenceText(modules)].join(line);
}

function inject(executable: string, blob: string): void {
  const postject = fileURLToPath(import.meta.resolve("postject/dist/cli.js"));
  run([postject, executable, RESOURCE, blob, "--sentinel-fuse", FUSE]);
}

/** Both programs report success on standard error; a failure throws what is there. */
function run(args: readonly string[], cwd?: string): void {
  execFileSync(process.execPath, args, { stdio: "pipe", ...(cwd === undefined ? {} : { cwd }) });
}
