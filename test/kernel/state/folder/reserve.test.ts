import { lstatSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { stat } from "node:fs/promises";
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

const MIB = 2 ** 20;

it("is rebuilt only where as much again can be written, which a quota may refuse, and says how long the disk was full", async () => {
  const directory = temporaryFolder();
  const clock = createManualClock();
  const log = memoryLog();
  const reserve = createReserve({ directory, bytes: 8 * MIB, clock, log });
  await reserve.prepare();
  reserve.release();
  await clock.advance(90_000);
  let mostBytes = 0;
  while (reserve.shortage() !== undefined) {
    const fresh = statSync(join(directory, "reserve.new"), { throwIfNoEntry: false });
    mostBytes = Math.max(mostBytes, fresh?.size ?? 0);
    await setImmediate();
  }
  expect(mostBytes).toBe(16 * MIB);
  expect(statSync(join(directory, "reserve")).size).toBe(8 * MIB);
  expect(log.lines.at(-1)).toMatch(/^info the disk has free space again .*"failed_for":"1m30s"/);
});

it("that cannot be written although the disk has room is reported once, and tried ever more rarely", async () => {
  const directory = temporaryFolder();
  const clock = createManualClock();
  const log = memoryLog();
  const reserve = createReserve({ directory, bytes: 4096, clock, log });
  await reserve.prepare();
  reserve.release();
  // A link to itself cannot be opened; each try removes it.
  const obstacle = join(directory, "reserve.new");
  const stands = (): boolean => lstatSync(obstacle, { throwIfNoEntry: false }) !== undefined;
  for (const seconds of [1, 1, 2, 4, 8, 16, 32, 60, 60, 60]) {
    symlinkSync("reserve.new", obstacle);
    await clock.advance(seconds * 1_000 - 1);
    expect(reserve.shortage()).toMatchObject({ code: "disk_full" });
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(stands(), `within ${seconds} s`).toBe(true);
    await clock.advance(1);
    expect(reserve.shortage()).toMatchObject({ code: "disk_full" });
    while (stands()) await setImmediate();
    // The removal is heard of a little after it can be seen.
    for (let turn = 0; turn < 20; turn += 1) await stat(directory);
  }
  expect(log.lines.filter((line) => line.includes("cannot reserve"))).toHaveLength(1);
});
