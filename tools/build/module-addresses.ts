/**
 * Keeps what modules say about their own address true in the built tree, where all code lies in one
 * folder.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import type { Plugin } from "rolldown";

/** Below `dist/`: the folder of all built modules. */
export const LIBRARY_FOLDER = "lib";

const SOURCES = ["src/**/*.ts", "workers/**/*.ts", "gateway/**/*.ts"];
/** A module that is started as a thread or process, or loaded by address. */
const MODULE_ADDRESS = /new URL\("([^"]+\.ts)", import\.meta\.url\)/g;

/**
 * Entry points of the bundle by name: `src/main.ts` and every module that another one names by its
 * address.
 */
export function entryPoints(root: string): Readonly<Record<string, string>> {
  const files = new Set(["src/main.ts"]);
  for (const file of globSync(SOURCES, { cwd: root, exclude: ["gateway/web/browser/**"] })) {
    for (const [, address = ""] of readFileSync(join(root, file), "utf8").matchAll(MODULE_ADDRESS))
      files.add(posix.join(dirname(file), address));
  }
  return Object.fromEntries([...files].sort().map((file) => [entryName(file), join(root, file)]));
}

/** `src/main.ts` is `main`, `src/kernel/pool/runner.ts` is `kernel-pool-runner`. */
function entryName(file: string): string {
  return file
    .replace(/^src\//, "")
    .replace(/\.ts$/, "")
    .replaceAll("/", "-");
}

/**
 * Addresses of modules become those of the built entry points. The folder and the file of a module
 * stay relative to the root: the built tree has `bin/`, `package.json` and static files where the
 * sources have them.
 */
export function moduleAddresses(root: string): Plugin {
  return {
    name: "module-addresses",
    transform: {
      filter: { id: /\.ts$/, code: /import\.meta\.(url|dirname|filename)/ },
      handler(code, id) {
        const file = relative(root, id);
        if (file.startsWith("..") || file.startsWith("node_modules")) return null;
        return code
          .replaceAll(
            MODULE_ADDRESS,
            (_all, address: string) =>
              `new URL("./${entryName(posix.join(dirname(file), address))}.js", import.meta.url)`,
          )
          .replaceAll(
            "import.meta.dirname",
            `(import.meta.dirname + ${JSON.stringify(`/../${dirname(file)}`)})`,
          )
          .replaceAll(
            "import.meta.filename",
            `(import.meta.dirname + ${JSON.stringify(`/../${file}`)})`,
          );
      },
    },
  };
}
