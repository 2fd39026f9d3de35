/** Helpers of the archives' tests: a folder to fill and an archive read to its end. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { digestRequest } from "../../../src/dedup/archives/digests.ts";
import type {
  Archive,
  ArchiveDocument,
  ArchiveItem,
  DigestedDocument,
  ReadOptions,
  SkippedItem,
} from "../../../src/dedup/archives/archive.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createPool } from "../../../src/kernel/pool/pool.ts";
import type { Pool } from "../../../src/kernel/pool/types.ts";
import { storedText } from "../../../workers/text/compress.ts";

/** A new folder with these files, removed at the end of the test. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "steward-archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** A pool with one thread or process at a time, of this heap, closed at the end of the test. */
export function realPool(heapMb?: number): Pool {
  const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
  const heap = heapMb === undefined ? {} : { heapMb };
  const pool = createPool({ threads: 1, ...heap, clock: systemClock, log });
  onTestFinished(() => pool.close());
  return pool;
}

/** How the tests read an archive when they say nothing else. */
export function readOptions(options: Partial<ReadOptions> = {}): ReadOptions {
  return {
    known: () => false,
    force: false,
    digest: digestRequest(),
    signal: new AbortController().signal,
    ...options,
  };
}

/** Everything an archive gives, with its texts. */
export async function readAll(
  archive: Archive,
  options: Partial<ReadOptions> = {},
): Promise<ReadItem[]> {
  const items: ArchiveItem[] = [];
  for await (const batch of archive.read(readOptions(options))) items.push(...batch.items);
  return items.map(withText);
}

/** An item whose text can be looked at. */
export type ReadItem = Exclude<ArchiveItem, DigestedDocument>;

/** The item with the text that its digest holds. */
export function withText(item: ArchiveItem): ReadItem {
  if (item.kind !== "digested") return item;
  const text = Buffer.from(storedText(item.digest.zstd)).toString("utf8");
  return { kind: "document", ...item.document, text };
}

export function documentsOf(items: readonly ArchiveItem[]): ArchiveDocument[] {
  return items.filter((item) => item.kind === "document");
}

export function refsOf(items: readonly ArchiveItem[]): string[] {
  return documentsOf(items).map(({ ref }) => ref);
}

export function skippedOf(items: readonly ArchiveItem[]): SkippedItem[] {
  return items.filter((item) => item.kind === "skipped");
}

/** Skipped items as `ref: reason: detail`. */
export function complaints(items: readonly ArchiveItem[]): string[] {
  return skippedOf(items).map(({ ref, reason, detail }) => `${ref}: ${reason}: ${detail}`);
}

/** Everything an iterable gives. */
export async function gather<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}
