/** The demo's documents as a folder. */
import { mkdir, readFile, realpath, rename, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  inventArchive,
  type DemoFile,
  type DemoOptions,
  type DemoTruth,
} from "../../src/demo/archive.ts";
import { assert } from "../../src/kernel/base/errors.ts";

/**
 * Writes the archive below `directory`, made if need be. A file that is there already and equal is
 * left alone, so that a second call changes nothing; each file appears whole or not at all.
 */
export async function writeDemoArchive(
  directory: string,
  options: DemoOptions,
): Promise<DemoTruth> {
  const { files, truth } = inventArchive(options);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const root = await realpath(directory);
  for (const folder of new Set(files.map((file) => dirname(file.path)))) {
    await mkdir(join(root, folder), { recursive: true, mode: 0o700 });
    assert(
      (await realpath(join(root, folder))) === join(root, folder),
      `${folder} lies inside the demo's archive`,
    );
  }
  for (const file of files) await writeWhole(join(root, file.path), file);
  return truth;
}

async function writeWhole(path: string, file: DemoFile): Promise<void> {
  if ((await readFile(path, "utf8").catch(() => undefined)) === file.text) return;
  // The leading dot keeps a half-written file out of every listing.
  const temporary = join(dirname(path), `.${path.slice(dirname(path).length + 1)}.tmp`);
  await writeFile(temporary, file.text, { mode: 0o600 });
  await utimes(temporary, file.writtenAtMs / 1000, file.writtenAtMs / 1000);
  await rename(temporary, path);
}
