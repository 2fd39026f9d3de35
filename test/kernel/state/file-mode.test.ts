/**
 * Who may read the files of a store: its owner alone, also in a folder that others may look into.
 */
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openLmdbFile } from "../../../src/kernel/state/file/lmdb-file.ts";
import { numbers, openEnv, temporaryFolder } from "./fixtures/tables.ts";

const never = new AbortController().signal;

function openFolder(): string {
  const directory = temporaryFolder();
  chmodSync(directory, 0o755);
  return directory;
}

function modesOf(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((file) => [file, modeOf(join(directory, file))]),
  );
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe("the files of a store", () => {
  it("are made for their owner alone, and the folder stays as it is", async () => {
    const directory = openFolder();
    const env = await openEnv(directory);
    await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
    expect(modesOf(directory)).toEqual({ "test.mdb": "600", "test.mdb-lock": "600" });
    expect(modeOf(directory)).toBe("755");
  });

  it("keep the mode that somebody gave them", async () => {
    const directory = openFolder();
    await (await openEnv(directory)).close();
    const path = join(directory, "test.mdb");
    chmodSync(path, 0o640);
    const env = await openEnv(directory);
    await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
    expect(modeOf(path)).toBe("640");
  });

  it("are made for their owner alone also when a derived store is made anew", async () => {
    const directory = openFolder();
    await (await openEnv(directory, { derived: true })).close();
    const path = join(directory, "test.mdb");
    writeFileSync(path, "damage");
    chmodSync(path, 0o644);
    await openEnv(directory, { derived: true });
    expect(modeOf(path)).toBe("600");
  });

  it("have that mode before a row is written to them", async () => {
    const path = join(openFolder(), "fresh.mdb");
    const file = openLmdbFile(path, { tables: [numbers], ring: undefined, maxBytes: 2 ** 20 });
    expect(modeOf(path)).toBe("600");
    await file.close();
  });
});

describe("a backup's files", () => {
  it("are their owner's alone while they are written and afterwards", async () => {
    const env = await openEnv(temporaryFolder());
    await env.write((tx) => {
      for (let row = 0; row < 2_000; row += 1) tx.put(numbers, row, new Uint8Array(100));
    });
    const target = openFolder();
    const part = join(target, "test.mdb.part");
    const seen = new Set<string>();
    const done = new AbortController();
    const copy = env.backup(target, never).finally(() => done.abort());
    while (!done.signal.aborted) {
      const found = statSync(part, { throwIfNoEntry: false });
      if (found !== undefined) seen.add((found.mode & 0o777).toString(8));
      await setImmediate();
    }
    await copy;
    expect([...seen]).toEqual(["600"]);
    expect(modesOf(target)).toEqual({ "test.mdb": "600", "test.mdb.json": "600" });
  });
});
