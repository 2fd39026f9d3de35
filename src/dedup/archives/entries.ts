/**
 * The entries of one folder in a stable order, however many there are, without holding the thread.
 */
import { opendir } from "node:fs/promises";
import { nextTurn } from "../../kernel/async/turns.ts";

/** Kind of a directory entry; `unknown` when the file system does not report it. */
export type EntryKind = "file" | "folder" | "link" | "other" | "unknown";

export interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
}

const RUN = 2_048;

/** Sorted by UTF-16 units. Throws the system's error when the folder cannot be read. */
export async function listFolder(path: string, signal: AbortSignal): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of await opendir(path, { bufferSize: 512 })) {
    if (entries.length % 512 === 0) signal.throwIfAborted();
    const kind = entry.isFile()
      ? "file"
      : entry.isDirectory()
        ? "folder"
        : entry.isSymbolicLink()
          ? "link"
          : entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()
            ? "other"
            : "unknown";
    entries.push({ name: entry.name, kind });
  }
  return await sortByName(entries, signal);
}

// Runs short enough to sort at once, then merged level by level, giving way after each merge of a
// few thousand.
async function sortByName(entries: Entry[], signal: AbortSignal): Promise<Entry[]> {
  let runs: Entry[][] = [];
  for (let at = 0; at < entries.length; at += RUN) {
    if (at > 0) await nextTurn(signal);
    runs.push(entries.slice(at, at + RUN).sort(byName));
  }
  while (runs.length > 1) {
    const merged: Entry[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await mergeRuns(runs[at] ?? [], runs[at + 1] ?? [], signal));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeRuns(left: Entry[], right: Entry[], signal: AbortSignal): Promise<Entry[]> {
  const merged: Entry[] = [];
  let leftAt = 0;
  let rightAt = 0;
  while (leftAt < left.length || rightAt < right.length) {
    const first = left[leftAt];
    const second = right[rightAt];
    if (second === undefined || (first !== undefined && byName(first, second) <= 0)) {
      merged.push(first as Entry);
      leftAt += 1;
    } else {
      merged.push(second);
      rightAt += 1;
    }
    if (merged.length % 16_384 === 0) await nextTurn(signal);
  }
  return merged;
}

function byName(left: Entry, right: Entry): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
