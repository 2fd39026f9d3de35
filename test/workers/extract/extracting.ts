/** Helpers of the extractors' tests: files to write and the task run on them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readFile } from "../../../workers/extract/extract.ts";
import type { FoundFile, FoundText } from "../../../workers/extract/extract.ts";
import type { ExtractedNothing } from "../../../workers/extract/tasks.ts";

const UNITS = 500_000;

/** What becomes of a file of this name and content, read alone. */
export async function extractFile(
  name: string,
  content: string | Uint8Array,
  { alone = true, units = UNITS } = {},
): Promise<FoundFile> {
  const folder = mkdtempSync(join(tmpdir(), "steward-extract-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return await readFile(path, { units, alone }, () => false);
}

/** All that was found in it. */
export async function itemsOf(
  name: string,
  content: string | Uint8Array,
  options?: { units?: number },
): Promise<readonly (FoundText | ExtractedNothing)[]> {
  const file = await extractFile(name, content, options);
  if (file.kind !== "read") throw new Error(`was not read but ${file.kind}`);
  return file.items;
}

/** The text of the file itself. Fails when there is none. */
export async function textOf(
  name: string,
  content: string | Uint8Array,
  options?: { units?: number },
): Promise<FoundText> {
  const item = (await itemsOf(name, content, options)).at(-1);
  if (item?.kind !== "text") throw new Error(`was skipped: ${item?.reason}: ${item?.detail}`);
  return item;
}

/** Why the file gave no text, as "reason: detail". */
export async function refusalOf(name: string, content: string | Uint8Array): Promise<string> {
  const item = (await itemsOf(name, content)).at(-1);
  if (item?.kind !== "skipped") throw new Error("was read");
  return `${item.reason}: ${item.detail}`;
}
