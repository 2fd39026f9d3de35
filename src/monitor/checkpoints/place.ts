/** From a configured path to the environment that stands there. */
import { basename, dirname, extname, join } from "node:path";
import { checkpointStore } from "./tables.ts";

/** A folder, the environment's name in it, and the file that this makes. */
export interface CheckpointPlace {
  readonly directory: string;
  readonly name: string;
  readonly path: string;
}

/**
 * The place of a path: its last part without extension, in the letters that a store's name may
 * have; the extension is always `.mdb`.
 */
export function checkpointPlace(filePath: string): CheckpointPlace {
  const directory = dirname(filePath);
  const written = basename(filePath, extname(filePath))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const name = written === "" ? checkpointStore.name : written;
  return { directory, name, path: join(directory, `${name}.mdb`) };
}
