/** Puts the finished files of the pages into the bundle, in place of the modules that make them. */
import { join } from "node:path";
import type { Plugin } from "rolldown";
import { makeAssetFiles } from "../../gateway/web/asset-files.ts";
import { makeReportFiles } from "../../gateway/web/report-files.ts";

/** `gateway/web/asset-files.ts` and `report-files.ts` become modules of data. */
export function assetData(root: string): Plugin[] {
  return [
    moduleOfData("asset-data", join(root, "gateway/web/asset-files.ts"), () => ({
      makeAssetFiles: makeAssetFiles(),
    })),
    moduleOfData("report-data", join(root, "gateway/web/report-files.ts"), () => ({
      makeReportFiles: makeReportFiles(),
    })),
  ];
}

/** Each function of a module returns what it returned when the tree was built. */
function moduleOfData(
  name: string,
  id: string,
  make: () => Readonly<Record<string, unknown>>,
): Plugin {
  return {
    name,
    load: {
      filter: { id },
      handler: () => ({
        code: Object.entries(make())
          .map(([made, data]) => `export const ${made} = () => (${JSON.stringify(data)});`)
          .join("\n"),
        moduleType: "js",
      }),
    },
  };
}
