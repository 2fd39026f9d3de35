import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
