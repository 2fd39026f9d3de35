/** The modules of the process and its pages as text, for the tidy tests. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** The modules of src, workers and gateway, as paths from the root; without generated ones. */
export const authored: readonly string[] = ["src", "workers", "gateway"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `${folder}/${file}`),
  )
  .filter((file) => !file.startsWith("src/gen/"));

/** The whole text of a module. */
export function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/**
 * Its text without comments, which name things that the code does not use. A string may hold what
 * looks like the beginning of a comment.
 */
export function codeOf(file: string): string {
  return textOf(file).replaceAll(
    /("(?:[^"\\\n]|\\.)*")|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm,
    (_, string?: string) => string ?? "",
  );
}

/** The modules that it imports, also for types only. */
export function importsOf(file: string): string[] {
  return pathsIn(file, /(?:from\s+|import\s*\(\s*|import\s+)"(\.[^"]+)"/g);
}

/** The modules that are loaded with it: neither its types nor what it imports when it needs it. */
export function loadsOf(file: string): string[] {
  return pathsIn(file, /^(?:import|export)\s+(?!type\b)(?:[^;"]*?\sfrom\s+)?"(\.[^"]+)"/gm);
}

/** The files that it names by `new URL`, e.g. to start them as a thread. */
export function urlsOf(file: string): string[] {
  return pathsIn(file, /new URL\(\s*"(\.[^"]+)"/g);
}

function pathsIn(file: string, pattern: RegExp): string[] {
  return [...codeOf(file).matchAll(pattern)].map(([, path = ""]) =>
    relative(root, resolve(root, dirname(file), path)),
  );
}
