import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../../src/kernel/state/types.ts";
import { mountSmallDisk, noSmallDisk } from "./fixtures/small-disk.ts";
import { allTables, numbers, openEnv, temporaryFolder } from "./fixtures/tables.ts";

if (noSmallDisk !== undefined)
  process.stderr.write(`the tests on a small disk are skipped: ${noSmallDisk}\n`);

const value = new Uint8Array(50_000).fill(7);

/** Puts rows until that fails; gives how many were stored and the failure. */
async function fill(env: Env, from = 0): Promise<{ stored: number; failure: unknown }> {
  for (let row = from; ; row += 1) {
    const failure = await env
      .write((tx) => tx.put(numbers, row, value))
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    if (failure !== undefined) return { stored: row, failure };
  }
}

describe.skipIf(noSmallDisk !== undefined)("a store on a full disk", () => {
  it("reads on, refuses ordinary changes, stores urgent ones and deletions, and is itself again once there is room", async () => {
    const disk = mountSmallDisk(16);
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, new Uint8Array(8 * 2 ** 20));
    const env = await openEnv(disk, { reserveBytes: 2 * 2 ** 20 });
    expect(existsSync(join(disk, "reserve"))).toBe(true);
    const { stored, failure } = await fill(env);
    expect(failure).toMatchObject({ code: "disk_full" });
    expect(stored).toBeGreaterThan(20);
    expect(existsSync(join(disk, "reserve"))).toBe(false);
    expect(env.status()).toMatchObject({
      healthy: false,
      reason: expect.stringContaining("full") as string,
    });
    for (let round = 0; round < 5; round += 1)
      await expect(
        env.write((tx) => tx.put(numbers, 90_000, Uint8Array.of(1))),
      ).rejects.toMatchObject({ code: "disk_full" });
    for (let round = 0; round < 20; round += 1)
      await env.write((tx) => tx.put(numbers, 80_000 + round, Uint8Array.of(round)), {
        urgent: true,
      });
    expect(
      env.read((snapshot) => [
        snapshot.get(numbers, stored - 1),
        snapshot.get(numbers, 80_019),
        snapshot.count(numbers),
      ]),
    ).toEqual([value, Uint8Array.of(19), stored + 20]);
    await env.write((tx) => expect(tx.delete(numbers, 80_000)).toBe(true));
    rmSync(ballast);
    const freedAt = performance.now();
    await vi.waitFor(() => expect(env.status().healthy).toBe(true), {
      timeout: 60_000,
      interval: 50,
    });
    expect(performance.now() - freedAt).toBeLessThan(10_000);
    await env.write((tx) => tx.put(numbers, 90_000, Uint8Array.of(1)));
    expect(existsSync(join(disk, "reserve"))).toBe(true);
    await env.close();
    const again = await openEnv(disk);
    expect(again.status()).toMatchObject({ rows: { numbers: stored + 20 }, healthy: true });
  });

  it("reads on and refuses changes when even the reserve cannot be removed", async () => {
    const disk = mountSmallDisk(16);
    const env = await openEnv(disk, { reserveBytes: 2 * 2 ** 20 });
    // It stands for a file system that needs space to remove a file.
    rmSync(join(disk, "reserve"));
    mkdirSync(join(disk, "reserve"));
    const { stored, failure } = await fill(env);
    expect(failure).toMatchObject({ code: "disk_full" });
    expect(env.read((snapshot) => snapshot.get(numbers, stored - 1))).toEqual(value);
    await expect(env.write((tx) => tx.put(numbers, 90_000, value))).rejects.toMatchObject({
      code: "disk_full",
    });
  });

  it("stores an urgent change that met the full disk first, on its second run", async () => {
    const disk = mountSmallDisk(8);
    const env = await openEnv(disk, { reserveBytes: 2 * 2 ** 20 });
    let row = 0;
    while (freeBytes(disk) > 2 ** 18) await env.write((tx) => tx.put(numbers, row++, value));
    writeFileSync(join(disk, "ballast"), new Uint8Array(Math.max(0, freeBytes(disk) - 4096)));
    let ran = 0;
    await env.write(
      (tx) => {
        ran += 1;
        for (let at = 0; at < 8; at += 1) tx.put(numbers, 70_000 + at, value);
      },
      { urgent: true },
    );
    expect(ran).toBe(2);
    expect(env.read((snapshot) => snapshot.count(numbers))).toBe(row + 8);
  });

  it("starts without its reserve when there is no room for it, and counts as full until there is", async () => {
    const disk = mountSmallDisk(4);
    writeFileSync(join(disk, "ballast"), new Uint8Array(3 * 2 ** 20));
    const env = await openEnv(disk, { reserveBytes: 2 * 2 ** 20 });
    await expect(env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)))).rejects.toMatchObject({
      code: "disk_full",
      rule: "reserve",
    });
    expect(readdirSync(disk)).not.toContain("reserve.new");
    await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)), { urgent: true });
    rmSync(join(disk, "ballast"));
  });

  it("takes a backup's target that is full for what it is and leaves nothing there", async () => {
    const env = await openEnv(temporaryFolder());
    for (let row = 0; row < 100; row += 1) await env.write((tx) => tx.put(numbers, row, value));
    const target = mountSmallDisk(2);
    await expect(env.backup(target, new AbortController().signal)).rejects.toMatchObject({
      code: "disk_full",
    });
    expect(readdirSync(target)).toEqual([]);
    await env.write((tx) => tx.put(numbers, 1_000, value));
    expect(env.status().healthy).toBe(true);
  });

  it("refuses to begin where nothing fits, and begins once there is room", async () => {
    const disk = mountSmallDisk(1);
    writeFileSync(join(disk, "ballast"), new Uint8Array(freeBytes(disk)));
    await expect(openEnv(disk)).rejects.toMatchObject({ code: "disk_full" });
    rmSync(join(disk, "ballast"));
    expect((await openEnv(disk)).status().healthy).toBe(true);
  });

  it("is refused as full, and kept closed, without room for the tables of a newer version", async () => {
    const disk = mountSmallDisk(1);
    await (await openEnv(disk)).close();
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, new Uint8Array(freeBytes(disk)));
    const newer = Array.from({ length: 60 }, (_, at) => ({
      ...numbers,
      name: `${"long".repeat(50)}${at}`,
    }));
    const tables = [...allTables, ...newer];
    await expect(openEnv(disk, { tables })).rejects.toMatchObject({
      code: "disk_full",
      remedy: "free space on its disk",
    });
    expect(openFiles().filter((path) => path.startsWith(disk))).toEqual([]);
    rmSync(ballast);
    expect((await openEnv(disk, { tables })).status().healthy).toBe(true);
  });

  it("refuses to begin where only some of it fits, and keeps no file open", async () => {
    const disk = mountSmallDisk(1);
    const ballast = join(disk, "ballast");
    for (let pages = 1; pages <= 12; pages += 1) {
      rmSync(ballast, { force: true });
      writeFileSync(ballast, new Uint8Array(freeBytes(disk) - pages * 4_096));
      const refused = await openEnv(disk).catch((error: unknown) => error);
      expect(refused, `${pages} pages`).toMatchObject({ code: "disk_full" });
      expect(openFiles().filter((path) => path.startsWith(disk))).toEqual([]);
    }
    rmSync(ballast);
    expect((await openEnv(disk)).status().healthy).toBe(true);
  });
});

/** Paths that this process has open. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return []; // closed meanwhile
    }
  });
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
