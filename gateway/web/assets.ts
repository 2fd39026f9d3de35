/**
 * Style sheet and browser modules, made once at start: TypeScript is stripped by Node itself, now or at an earlier start, every file is served under
 * its content's hash, and what a module imports is rewritten to the hashed addresses. No bundler, no build step.
 */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { assert, StewardError } from "../../src/kernel/base/errors.ts";
import type { PlainRoute } from "../../src/kernel/service.ts";
import { strippedText } from "../../src/kernel/source/stripping.ts";
import { packedAnswer } from "./conditional.ts";

/** What the pages load. */
export interface Assets {
  /** The address of a named asset: `steward.css`, `early.js`, or a module of `browser/` such as `landing.js`. */
  url(name: string): string;
  /** The addresses of all that a module imports, itself not included. */
  modules(name: string): readonly string[];
  /**
   * One route for all of them, open to anybody: they hold nothing but Steward's own code, and the page that says "not found" needs
   * them. They never change under their address, so a browser keeps them for a year.
   */
  readonly route: PlainRoute;
}

const FOLDER = import.meta.dirname;
const STYLES = ["tokens.css", "base.css", "pieces.css", "page.css"];
/** The only packages a browser gets. */
const PACKAGES: ReadonlySet<string> = new Set(["preact", "htm", "htm/preact"]);
/** Statements only: the word `from` in a text is none. */
const IMPORT = /((?:^|;)\s*(?:(?:import|export)\b[^;"'()]*\bfrom\s*|import\s*))"([^"]+)"/gm;
/** Where they are served. */
export const ASSETS_TEMPLATE = "/assets/{name}";
/** The islands of the pages: names of modules in `browser/`. */
const ISLANDS = ["landing", "docs", "plain"] as const;
const YEAR = "private, max-age=31536000, immutable";

interface Asset {
  readonly url: string;
  readonly type: string;
  readonly body: string;
  /** Addresses of everything below it. */
  readonly below: ReadonlySet<string>;
}

let shared: Assets | undefined;

/** The assets of all pages, made once in a process however many listeners serve them. */
export function pageAssets(): Assets {
  return (shared ??= createAssets(ISLANDS));
}

/** Reads, strips and hashes. Throws an assertion when a module imports what a browser must not get. */
export function createAssets(islands: readonly string[]): Assets {
  const named = new Map<string, Asset>();
  const built = new Map<string, Asset>();
  named.set("steward.css", asset("steward.css", "text/css; charset=utf-8", STYLES.map((file) => readFileSync(join(FOLDER, "style", file), "utf8")).join("")));
  for (const name of ["early", ...islands]) named.set(`${name}.js`, build(join(FOLDER, "browser", `${name}.ts`), built, []));
  const byUrl = new Map([...named.values(), ...built.values()].map((each) => [each.url, each]));
  const get = (name: string): Asset => {
    const found = named.get(name);
    assert(found !== undefined, `there is no asset ${name}`);
    return found;
  };
  return { url: (name) => get(name).url, modules: (name) => [...get(name).below], route: assetRoute(byUrl) };
}

function assetRoute(byUrl: ReadonlyMap<string, Asset>): PlainRoute {
  return {
    verb: "GET", template: ASSETS_TEMPLATE, access: Access.PUBLIC, dialect: "monitor",
    async handle({ path, headers }) {
      const found = byUrl.get(path);
      if (found === undefined) throw new StewardError("not_found", "there is no such asset; load the page again");
      return await packedAnswer({ status: 200, headers: { "content-type": found.type, "cache-control": YEAR, "x-content-type-options": "nosniff" }, body: found.body }, headers);
    },
  };
}

function build(file: string, built: Map<string, Asset>, above: readonly string[]): Asset {
  assert(!above.includes(file), `browser modules import one another in a ring: ${[...above, file].map((each) => relative(FOLDER, each)).join(" → ")}`);
  const known = built.get(file);
  if (known !== undefined) return known;
  const below = new Set<string>();
  const source = readFileSync(file, "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "");
  const script = (file.endsWith(".ts") ? strippedText(source) : source).replaceAll(IMPORT, (_all, word: string, specifier: string) => {
    const imported = build(locate(specifier, file), built, [...above, file]);
    for (const url of [...imported.below, imported.url]) below.add(url);
    return `${word}"${imported.url}"`;
  });
  const made = asset(nameOf(file), "text/javascript; charset=utf-8", script, below);
  built.set(file, made);
  return made;
}

function locate(specifier: string, from: string): string {
  if (PACKAGES.has(specifier)) return realpathSync(fileURLToPath(import.meta.resolve(specifier)));
  const file = resolve(dirname(from), specifier);
  assert(specifier.startsWith(".") && file.startsWith(`${FOLDER}/`), `${relative(FOLDER, from)} imports ${specifier}, which is not for a browser`);
  return file;
}

function nameOf(file: string): string {
  const path = file.startsWith(`${FOLDER}/`) ? relative(FOLDER, file) : file.slice(file.lastIndexOf("/node_modules/") + "/node_modules/".length);
  return path.replaceAll("/", "-").replace(/\.(ts|mjs)$/, ".js");
}

function asset(name: string, type: string, body: string, below: ReadonlySet<string> = new Set()): Asset {
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 16);
  return { url: `/assets/${name.replace(/\.(\w+)$/, `.${hash}.$1`)}`, type, body, below };
}
