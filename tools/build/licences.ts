/** The licences of what was bundled: most of them ask to be passed on with every copy. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
}

/**
 * One text with name, version, licence and its wording of every package that one of the `modules`
 * is from, sorted by name.
 */
export function licenceText(modules: Iterable<string>): string {
  const folders = new Set([...modules].map(packageFolder).filter((folder) => folder !== undefined));
  return [...folders]
    .map(describe)
    .sort()
    .join(`\n${"-".repeat(80)}\n`);
}

/** The nearest folder below `node_modules` whose manifest has a name. */
function packageFolder(file: string): string | undefined {
  if (!file.includes("/node_modules/")) return undefined;
  let folder = dirname(file);
  while (readManifest(folder).name === undefined || readManifest(folder).version === undefined)
    folder = dirname(folder);
  return folder;
}

function readManifest(folder: string): Manifest {
  const file = join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Manifest) : {};
}

function describe(folder: string): string {
  const { name = "", version = "", license = "" } = readManifest(folder);
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && /^(licen[cs]e|notice)/i.test(entry.name),
  );
  const texts = files.map((file) => readFileSync(join(folder, file.name), "utf8").trim()).sort();
  return [`${name} ${version}, ${license}`, ...texts].join("\n\n") + "\n";
}
