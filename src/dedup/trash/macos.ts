/** The trash of macOS: `~/.Trash`, on other volumes `.Trashes/$uid` at their top. */
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";
import { trashName } from "./trash-names.ts";
import type { TrashPlaces, TrashUser } from "./types.ts";

export function macosPlaces(user: TrashUser): TrashPlaces {
  return {
    async placesFor(path) {
      const folder = await folderFor(path, user);
      return (attempt) => ({ to: join(folder, trashName(path, attempt)) });
    },
  };
}

async function folderFor(path: string, { environment, userId }: TrashUser): Promise<string> {
  const { dev } = await stat(dirname(path));
  const home = environment["HOME"] ?? "";
  if (home !== "" && (await stat(home)).dev === dev) {
    await mkdir(join(home, ".Trash"), { recursive: true, mode: 0o700 });
    return join(home, ".Trash");
  }
  const [, volumes, volume] = path.split("/");
  if (volumes !== "Volumes" || volume === undefined)
    throw new StewardError("unsupported", "the file's disk has no trash", {
      remedy: "remove the file by hand",
    });
  const folder = join("/Volumes", volume, ".Trashes", String(userId));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}
