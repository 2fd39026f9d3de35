import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createReserve } from "../../../../src/kernel/state/folder/reserve.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";
import { memoryLog } from "../../telemetry/fixtures.ts";
import { temporaryFolder } from "../fixtures/tables.ts";

it("a reserve that the file system does not remove is reported once, and the disk stays full", () => {
  const directory = temporaryFolder();
  // A folder in its place can be neither removed as a file nor cut.
  mkdirSync(join(directory, "reserve"));
  const log = memoryLog();
  const reserve = createReserve({ directory, bytes: 4096, clock: createManualClock(), log });
  expect([reserve.release(), reserve.release()]).toEqual([true, false]);
  expect(log.lines.filter((line) => line.includes("cannot release"))).toHaveLength(1);
});

it("a folder that does not answer is not taken for one with room", () => {
  const directory = join(temporaryFolder(), "gone");
  mkdirSync(directory);
  writeFileSync(join(directory, "reserve"), new Uint8Array(16));
  const reserve = createReserve({
    directory,
    bytes: 16,
    clock: createManualClock(),
    log: memoryLog(),
  });
  reserve.release();
  rmSync(directory, { recursive: true });
  expect(reserve.shortage()).toMatchObject({ code: "disk_full" });
});

/** What a store does in ten minutes in which each of its writes fails, once it may write. */
async function writesFailing(directory: string): Promise<ReturnType<typeof memoryLog>> {
  const clock = createManualClock();
  const log = memoryLog();
  const reserve = createReserve({ directory, bytes: 4096, clock, log });
  await reserve.prepare();
  for (let second = 0; second < 600; second += 1) {
    if (reserve.shortage() === undefined) reserve.release();
    await clock.advance(1_000);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    while (statSync(join(directory, "reserve.new"), { throwIfNoEntry: false })?.isFile() === true)
      await setImmediate();
  }
  return log;
}

it("a reserve that fits under a quota, where nothing else does, is tried ever more rarely", async () => {
  const log = await writesFailing(temporaryFolder());
  const releases = log.lines.filter((line) => line.includes("the disk is full")).length;
  expect(releases).toBeGreaterThan(5);
  expect(releases).toBeLessThan(20);
});

it("a reserve that cannot be written although the disk has room is reported once", async () => {
  const directory = temporaryFolder();
  mkdirSync(join(directory, "reserve.new"));
  const log = await writesFailing(directory);
  expect(log.lines.filter((line) => line.includes("cannot reserve"))).toHaveLength(1);
});
