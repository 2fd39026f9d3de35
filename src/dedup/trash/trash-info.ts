/** The `.trashinfo` file beside a trashed file (freedesktop.org Trash specification 1.0). */
import { open, readFile } from "node:fs/promises";
import type { TrashPlace } from "./types.ts";

/**
 * Writes the file, durably, before the file it describes is moved: its exclusive creation reserves
 * the name. True as well when an interrupted move of the same file left it; false when it belongs to
 * another one. Nothing to do on a system without such files.
 */
export async function writeTrashInfo(
  { info, infoPath = "" }: Pick<TrashPlace, "info" | "infoPath">,
  now: Date,
): Promise<boolean> {
  if (info === undefined) return true;
  try {
    const file = await open(info, "wx", 0o600);
    try {
      await file.writeFile(formatTrashInfo(infoPath, now));
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return await describes(info, infoPath);
  }
}

/** Whether there is such a file and it belongs to the file that was at this path. */
export async function describes(info: string, path = ""): Promise<boolean> {
  try {
    return (await readFile(info, "utf8")).split("\n").includes(pathLine(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** The contents; the time is local, as the specification has it. */
function formatTrashInfo(path: string, now: Date): string {
  return `[Trash Info]\n${pathLine(path)}\nDeletionDate=${formatLocal(now)}\n`;
}

/** Bytes other than letters, digits and `-_.!~*'()/` are escaped as in RFC 2396. */
function pathLine(path: string): string {
  return `Path=${path.split("/").map(encodeURIComponent).join("/")}`;
}

function formatLocal(now: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join("-");
  return `${day}T${[now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(":")}`;
}
