/** Maps the configured checkpoint path to an LMDB environment. */
import { basename, dirname, extname, join } from "node:path";
import { checkpointStore } from "./tables.ts";

/** Directory, environment name in it, and resulting file path. */
export interface CheckpointLocation {
  readonly directory: string;
  readonly name: string;
  readonly path: string;
}

/**
 * The name is the path's last part without extension, reduced to the characters a store name may
 * have; the extension is always `.mdb`.
 */
export function checkpointLocation(filePath: string): CheckpointLocation {
  const directory = dirname(filePath);
  const written = basename(filePath, extname(filePath))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const name = written === "" ? checkpointStore.name : written;
  return { directory, name, path: join(directory, `${name}.mdb`) };
}
