/** Puts the finished files of the pages into the bundle, in place of the module that makes them. */
import { join } from "node:path";
import type { Plugin } from "rolldown";
import { makeAssetFiles } from "../../gateway/web/asset-files.ts";

/** `gateway/web/asset-files.ts` becomes a module of data. */
export function assetData(root: string): Plugin {
  const id = join(root, "gateway/web/asset-files.ts");
  return {
    name: "asset-data",
    load: {
      filter: { id },
      handler: () => ({
        code: `export const makeAssetFiles = () => ${JSON.stringify(makeAssetFiles())};`,
        moduleType: "js",
      }),
    },
  };
}
