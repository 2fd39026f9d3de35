/**
 * Makes the files that pages load: one style sheet and the browser modules. Types are stripped by
 * Node, every file is named by its content's hash, and what a module imports is rewritten to the
 * hashed addresses. A built tree carries the outcome instead of this module
 * (tools/build/asset-data.ts), so that a start strips nothing.
 */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { assert } from "../../src/kernel/base/errors.ts";
import { STYLES } from "./style-files.ts";

/** A file for browsers. */
export interface AssetFile {
  /**
   * What pages ask for it by: `steward.css`, or a module of `browser/` such as `landing.js`;
   * undefined when only modules import it.
   */
  readonly name: string | undefined;
  readonly url: string;
  readonly type: string;
  readonly body: string;
  /** Addresses of all that it imports, directly or not. */
  readonly imports: readonly string[];
}

const FOLDER = import.meta.dirname;
/** The only packages a browser gets. */
const PACKAGES: ReadonlySet<string> = new Set(["preact", "htm", "htm/preact"]);
/** Statements only: the word `from` in a text is none. */
const IMPORT = /((?:^|;)\s*(?:(?:import|export)\b[^;"'()]*\bfrom\s*|import\s*))"([^"]+)"/gm;
/** The islands of the pages: names of modules in `browser/`. */
const ISLANDS = [
  "landing",
  "monitor",
  "docs",
  "duplicates",
  "plan",
  "documents",
  "suggestions",
  "costs",
  "settings",
  "events",
  "flows",
  "devices",
  "tokens",
  "plain",
] as const;

/**
 * All files of all pages. Throws an assertion when a module imports what a browser must not get.
 */
export function makeAssetFiles(): readonly AssetFile[] {
  const built = new Map<string, AssetFile>();
  const styles = STYLES.map((file) => readFileSync(join(FOLDER, "style", file), "utf8")).join("");
  const named = ["early", ...ISLANDS].map((name) => ({
    ...build(join(FOLDER, "browser", `${name}.ts`), built, []),
    name: `${name}.js`,
  }));
  const imported = [...built.values()].filter(({ url }) => !named.some((each) => each.url === url));
  return [
    { ...asset("steward.css", "text/css; charset=utf-8", styles), name: "steward.css" },
    ...named,
    ...imported,
  ];
}

function build(file: string, built: Map<string, AssetFile>, above: readonly string[]): AssetFile {
  assert(
    !above.includes(file),
    `browser modules import one another in a ring: ${[...above, file].map((each) => relative(FOLDER, each)).join(" → ")}`,
  );
  const known = built.get(file);
  if (known !== undefined) return known;
  const imports = new Set<string>();
  const source = readFileSync(file, "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "");
  const script = (file.endsWith(".ts") ? stripTypeScriptTypes(source) : source).replaceAll(
    IMPORT,
    (_all, word: string, specifier: string) => {
      const imported = build(locate(specifier, file), built, [...above, file]);
      for (const url of [...imported.imports, imported.url]) imports.add(url);
      return `${word}"${imported.url}"`;
    },
  );
  const made = asset(nameOf(file), "text/javascript; charset=utf-8", script, [...imports]);
  built.set(file, made);
  return made;
}

function locate(specifier: string, from: string): string {
  if (PACKAGES.has(specifier)) return realpathSync(fileURLToPath(import.meta.resolve(specifier)));
  const file = resolve(dirname(from), specifier);
  assert(
    specifier.startsWith(".") && file.startsWith(`${FOLDER}/`),
    `${relative(FOLDER, from)} imports ${specifier}, which is not for a browser`,
  );
  return file;
}

function nameOf(file: string): string {
  const path = file.startsWith(`${FOLDER}/`)
    ? relative(FOLDER, file)
    : file.slice(file.lastIndexOf("/node_modules/") + "/node_modules/".length);
  return path.replaceAll("/", "-").replace(/\.(ts|mjs)$/, ".js");
}

function asset(
  name: string,
  type: string,
  body: string,
  imports: readonly string[] = [],
): AssetFile {
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 16);
  return {
    name: undefined,
    url: `/assets/${name.replace(/\.(\w+)$/, `.${hash}.$1`)}`,
    type,
    body,
    imports,
  };
}
