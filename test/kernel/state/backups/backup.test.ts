import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import type { BackupReport, Env } from "../../../../src/kernel/state/types.ts";
import { verifyFile } from "../../../../src/kernel/state/file/verify-file.ts";
import { numbers, openEnv, people, temporaryFolder } from "../fixtures/tables.ts";

const never = new AbortController().signal;

async function filled(env: Env, rows = 300): Promise<void> {
  for (let at = 0; at < rows; at += 100) {
    await env.write((tx) => {
      for (let row = at; row < at + 100; row += 1) {
        tx.put(numbers, row, new Uint8Array(row % 50 === 0 ? 9_000 : row).fill(row));
        tx.put(people, `p${row}`, { name: `name ${row}`, age: row, tags: ["all"] });
      }
    });
  }
}

function contents(env: Env): unknown {
  return env.read((snapshot) => [
    [...snapshot.range(numbers)],
    [...snapshot.range(people)],
    snapshot.find(people, "tag", ["all"]).length,
  ]);
}

describe("a backup of an environment", () => {
  it("opens as the environment that it is a copy of, smaller than one with deleted rows, and is described truly", async () => {
    const env = await openEnv(temporaryFolder());
    await filled(env, 2_000);
    await env.write((tx) => {
      for (let row = 100; row < 2_000; row += 1) tx.delete(numbers, row);
    });
    const target = temporaryFolder();
    const report = await env.backup(target, never);
    const file = readFileSync(join(target, "test.mdb"));
    expect(report).toMatchObject({
      name: "test",
      file: "test.mdb",
      schema: 1,
      bytes: file.length,
      rows: { numbers: 100, people: 2_000 },
    });
    expect(report.sha256).toBe(createHash("sha256").update(file).digest("hex"));
    expect(JSON.parse(readFileSync(join(target, "test.mdb.json"), "utf8")) as BackupReport).toEqual(
      report,
    );
    expect(file.length).toBeLessThan(env.status().bytes);
    expect(readdirSync(target).sort()).toEqual(["test.mdb", "test.mdb.json"]);
    const restored = await openEnv(target);
    expect(contents(restored)).toEqual(contents(env));
  });

  it("holds one state while writes go on", async () => {
    const env = await openEnv(temporaryFolder());
    await filled(env, 2_000);
    const done = new AbortController();
    let written = 0;
    const writing = (async () => {
      while (!done.signal.aborted) {
        await env.write((tx) => {
          for (let row = 0; row < 50; row += 1)
            tx.put(numbers, row * 40, Uint8Array.of(written % 256));
        });
        written += 1;
      }
    })();
    const target = temporaryFolder();
    await env.backup(target, never);
    done.abort();
    await writing;
    expect(written).toBeGreaterThan(0);
    const restored = await openEnv(target);
    const firsts = restored.read(
      (snapshot) =>
        new Set(
          Array.from({ length: 50 }, (_, row) =>
            Buffer.from(snapshot.get(numbers, row * 40) ?? []).toString("hex"),
          ),
        ),
    );
    // Either all fifty rows of one change or, before the first of them, all fifty as they were
    // filled.
    expect([1, 50]).toContain(firsts.size);
    expect(env.read((snapshot) => snapshot.count(numbers))).toBe(2_000);
  });

  it("leaves nothing behind when it is stopped, when its store is closed and when the folder is none", async () => {
    const env = await openEnv(temporaryFolder());
    await filled(env, 2_000);
    const target = temporaryFolder();
    const stop = new AbortController();
    const stopped = env.backup(target, stop.signal);
    stop.abort(new StewardError("cancelled", "enough"));
    await expect(stopped).rejects.toThrow("enough");
    await expect(env.backup(join(target, "missing"), never)).rejects.toBeInstanceOf(Error);
    const cut = env.backup(target, never);
    const closed = env.close();
    await expect(cut).rejects.toMatchObject({ code: "cancelled" });
    await closed;
    await expect(env.backup(target, never)).rejects.toMatchObject({ code: "not_ready" });
    expect(readdirSync(target)).toEqual([]);
  });

  it("never writes over a file", async () => {
    const env = await openEnv(temporaryFolder());
    const target = temporaryFolder();
    writeFileSync(join(target, "test.mdb"), "mine");
    await expect(env.backup(target, never)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("test.mdb is there already") as string,
    });
    expect(readFileSync(join(target, "test.mdb"), "utf8")).toBe("mine");
  });

  it("takes tables along that no table stands for today", async () => {
    const directory = temporaryFolder();
    await filled(await openEnv(directory), 100).then(() => undefined);
    const source = temporaryFolder();
    const first = await openEnv(source);
    await filled(first, 100);
    await first.close();
    const env = await openEnv(source, { tables: [numbers] });
    const target = temporaryFolder();
    expect(await env.backup(target, never)).toMatchObject({ rows: { numbers: 100, people: 100 } });
    expect((await verifyFile(join(target, "test.mdb"))).entries.get("t:people")).toBe(100);
    expect(existsSync(join(target, "test.mdb-lock"))).toBe(false);
  });
});
