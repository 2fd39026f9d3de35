/** Tells JSON Lines from other files by name and beginning. */
import { open } from "node:fs/promises";
import { unpackedName } from "../../../workers/extract/formats.ts";
import { unpackBeginning } from "./unpack-chunks.ts";

/** What is looked at; the rest of a longer first line is taken on trust. */
const HEAD_BYTES = 64 * 1024;

/** Whether a regular file holds one JSON object a line. Throws the system's error. */
export async function isJsonLines(path: string): Promise<boolean> {
  if (/\.(jsonl|ndjson)$/i.test(unpackedName(path))) return true;
  await using file = await open(path, "r");
  const buffer = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(buffer, 0, HEAD_BYTES, 0);
  return beginsWithObject(unpackBeginning(buffer.subarray(0, bytesRead)));
}

function beginsWithObject(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head).trimStart();
  if (!text.startsWith("{")) return false;
  const end = text.indexOf("\n");
  if (end < 0 && head.byteLength >= HEAD_BYTES) return /^\{\s*"/.test(text);
  try {
    const value: unknown = JSON.parse(end < 0 ? text : text.slice(0, end));
    return typeof value === "object";
  } catch {
    return false;
  }
}
