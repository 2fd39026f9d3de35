/** Names a state folder among those that keep their backups in one folder. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "./backup.ts";

const FILE = "instance.json";
const ID = /^[0-9a-f]{8}$/;

/** Eight hexadecimal digits, made at the first call and kept in the folder. Throws system errors. */
export async function stateId(directory: string): Promise<string> {
  const kept = await readId(join(directory, FILE));
  if (kept !== undefined) return kept;
  const id = randomBytes(4).toString("hex");
  await writeWhole(directory, FILE, { id });
  return id;
}

/** Undefined without the file, and for one that is damaged. */
async function readId(path: string): Promise<string | undefined> {
  try {
    const { id } = JSON.parse(await readFile(path, "utf8")) as { readonly id?: unknown };
    return typeof id === "string" && ID.test(id) ? id : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
