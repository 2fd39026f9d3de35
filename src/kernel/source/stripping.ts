/**
 * TypeScript without its types. Node can strip them while it loads a module, but each thread that does holds the stripper: 18 MB in
 * the main thread, 12 in every other. So `tools/strip.ts` keeps every source's text without types under the hash of the
 * source, and threads load that. A source that was edited since has another hash and is stripped by Node, so nothing is ever stale.
 */
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where an installation keeps them: among its packages, so that they come and go with these; not in their `.cache`, which people empty while a daemon runs. */
export const STRIPPED_FOLDER: string = join(import.meta.dirname, "../../../node_modules/.steward");

/** The name under which the text of `source` is kept. */
export function strippedName(source: string): string {
  return `${createHash("sha256").update(source).digest("hex")}.js`;
}

/** `source` without its types, every line and column where it was: as kept in `folder`, else stripped now. Throws what Node throws at a text that is no erasable TypeScript. */
export function strippedText(source: string, folder: string = STRIPPED_FOLDER): string {
  return keptText(source, folder) ?? stripTypeScriptTypes(source);
}

/** Puts the texts of all `sources` into `folder`, in place of all that was in it; `if-missing`: unless it is there. */
export function keepStripped(sources: Iterable<string>, folder: string, how: "replace" | "if-missing" = "replace"): void {
  mkdirSync(dirname(folder), { recursive: true });
  // Made beside it and renamed: whoever reads meanwhile finds whole files or none.
  const made = mkdtempSync(`${folder}-`);
  for (const source of sources) writeFileSync(join(made, strippedName(source)), stripTypeScriptTypes(source));
  // In each thread, before anything else: `node --import <folder>/loader.mjs` (bin/steward).
  const own = readFileSync(import.meta.filename, "utf8");
  writeFileSync(join(made, "stripping.mjs"), stripTypeScriptTypes(own));
  writeFileSync(join(made, "loader.mjs"), 'import { loadKept } from "./stripping.mjs";\n\nloadKept(import.meta.dirname);\n');
  // For a service under an account of its own.
  chmodSync(made, 0o755);
  // Several launchers may be at it: the first one stays, under the threads that load it already.
  if (how === "if-missing" && existsSync(folder)) return rmSync(made, { recursive: true });
  // One after the other, so that a thread that starts meanwhile finds the old one or the new one.
  if (existsSync(folder)) renameSync(folder, `${made}-old`);
  renameSync(made, folder);
  rmSync(`${made}-old`, { recursive: true, force: true });
}

/** From now on this thread loads what `folder` keeps instead of stripping it. */
export function loadKept(folder: string): void {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
      const source = keptText(readFileSync(fileURLToPath(url), "utf8"), folder);
      return source === undefined ? nextLoad(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
}

function keptText(source: string, folder: string): string | undefined {
  try {
    return readFileSync(join(folder, strippedName(source)), "utf8");
  } catch {
    return undefined;
  }
}
