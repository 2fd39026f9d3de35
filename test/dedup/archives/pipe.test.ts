import { execFileSync } from "node:child_process";
import { constants, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createJsonlArchive } from "../../../src/dedup/archives/jsonl.ts";
import { createInlinePool } from "../inline-pool.ts";
import { folderWith, readAll, refsOf } from "./reading.ts";
import type { ReadItem } from "./reading.ts";

const enough = new Error("enough");

function makePipe(name = "pipe.jsonl"): string {
  const path = join(realpathSync(folderWith({})), name);
  execFileSync("mkfifo", [path]);
  return path;
}

interface Reading {
  readonly items: Promise<ReadItem[]>;
  readonly stop: AbortController;
}

function readPipe(path: string): Reading {
  const stop = new AbortController();
  onTestFinished(() => stop.abort(enough));
  const items = readAll(
    createJsonlArchive({ pool: createInlinePool() }, { name: "pipe", source: { path } }),
    { signal: stop.signal },
  );
  items.catch(() => undefined);
  return { items, stop };
}

/** So long nothing happens that would end a reader who takes silence for the end. */
async function silence(): Promise<void> {
  await setTimeout(150);
}

/** Whether this process has the pipe open. */
function isOpen(path: string): boolean {
  return readdirSync("/proc/self/fd").some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });
}

async function untilOpen(path: string, expected = true): Promise<void> {
  await vi.waitFor(() => expect(isOpen(path)).toBe(expected), { timeout: 60_000 });
}

/** A writer, which the system lets in only where somebody reads. */
async function writerOf(path: string): Promise<FileHandle> {
  const writer = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
  onTestFinished(() => writer.close().catch(() => undefined));
  return writer;
}

function line(id: string): string {
  return `${JSON.stringify({ id, content: "text" })}\n`;
}

describe("a named pipe as an archive", () => {
  it("waits for a writer that comes late", async () => {
    const path = makePipe();
    const { items } = readPipe(path);
    await untilOpen(path);
    await silence();
    const writer = await writerOf(path);
    await writer.writeFile(line("a"));
    await writer.close();
    expect(refsOf(await items)).toEqual(["a"]);
    await untilOpen(path, false);
  });

  it("goes on after a writer's pause, also in the middle of a line, to the end of the last writer", async () => {
    const path = makePipe();
    const reading = readPipe(path);
    await untilOpen(path);
    const [first, second] = [await writerOf(path), await writerOf(path)];
    await silence();
    const whole = line("b");
    await first.writeFile(line("a") + whole.slice(0, 5));
    await silence();
    await first.writeFile(whole.slice(5));
    await silence();
    await first.close();
    await silence();
    await second.writeFile(line("c"));
    await second.close();
    expect(refsOf(await reading.items)).toEqual(["a", "b", "c"]);
  });

  it("is empty when a writer comes and goes without a word", async () => {
    const path = makePipe();
    const { items } = readPipe(path);
    await untilOpen(path);
    await (await writerOf(path)).close();
    expect(await items).toEqual([]);
  });

  it("is unpacked when its name says so", async () => {
    const path = makePipe("pipe.jsonl.gz");
    const { items } = readPipe(path);
    await untilOpen(path);
    const writer = await writerOf(path);
    await writer.writeFile(gzipSync(line("a") + line("b")));
    await writer.close();
    expect(refsOf(await items)).toEqual(["a", "b"]);
  });

  it("gives more than a pipe holds", async () => {
    const path = makePipe();
    const { items } = readPipe(path);
    await untilOpen(path);
    const writer = await open(path, "w");
    await writer.writeFile(Array.from({ length: 20_000 }, (_, at) => line(`${at}`)).join(""));
    await writer.close();
    expect(refsOf(await items)).toHaveLength(20_000);
  });

  it("is let go at once by a cancel before any writer, however often, and holds nobody else up", async () => {
    const path = makePipe();
    // More than the threads that wait for files.
    for (let round = 0; round < 6; round += 1) {
      const { items, stop } = readPipe(path);
      await untilOpen(path);
      stop.abort(enough);
      await expect(items).rejects.toSatisfy(
        (error: Error) => error === enough || error.cause === enough,
      );
      await untilOpen(path, false);
    }
    expect((await stat(path)).isFIFO()).toBe(true);
  });

  it("is let go at once by a cancel between two lines, with a writer that stays", async () => {
    const path = makePipe();
    const reading = readPipe(path);
    await untilOpen(path);
    const writer = await writerOf(path);
    await writer.writeFile(line("a"));
    await silence();
    reading.stop.abort(enough);
    await expect(reading.items).rejects.toSatisfy(
      (error: Error) => error === enough || error.cause === enough,
    );
    await expect(writer.writeFile(line("b"))).rejects.toMatchObject({ code: "EPIPE" });
  });

  it("is let go when it is cancelled before it is opened", async () => {
    const path = makePipe();
    const { items, stop } = readPipe(path);
    stop.abort(enough);
    await expect(items).rejects.toSatisfy(
      (error: Error) => error === enough || error.cause === enough,
    );
    await untilOpen(path, false);
  });
});
