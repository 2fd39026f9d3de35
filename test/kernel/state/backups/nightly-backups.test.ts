import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { runBackupProcess } from "../../../../src/kernel/state/backups/backup-job.ts";
import type { RunBackup } from "../../../../src/kernel/state/backups/backup-job.ts";
import { isBackupDue, parseTimeOfDay } from "../../../../src/kernel/state/backups/backup-times.ts";
import { MANIFEST } from "../../../../src/kernel/state/backups/folder-backup.ts";
import type { StoreLocation } from "../../../../src/kernel/state/backups/folder-backup.ts";
import { backupName, keptBackups } from "../../../../src/kernel/state/backups/kept-backups.ts";
import { createBackups } from "../../../../src/kernel/state/backups/nightly-backups.ts";
import type {
  Backups,
  BackupsOptions,
} from "../../../../src/kernel/state/backups/nightly-backups.ts";
import { contents, fillStore, makeStore } from "../fixtures/damage.ts";
import { openEnv, quietLog, temporaryFolder } from "../fixtures/tables.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Half past three of the machine's own clock. */
const night = new Date(2026, 2, 10, 3, 30).getTime();
const at = { hour: 3, minute: 30 };
const never = new AbortController().signal;

describe("a nightly backup is due", () => {
  it.each([
    [
      "at its time, when the newest is of last night",
      { nowMs: night, newestMs: night - DAY_MS + 60_000, upMs: 5 * DAY_MS },
      true,
    ],
    [
      "not before its time",
      { nowMs: night - 60_000, newestMs: night - DAY_MS + 60_000, upMs: 5 * DAY_MS },
      false,
    ],
    [
      "not again in the same night",
      { nowMs: night + HOUR_MS, newestMs: night + 60_000, upMs: 5 * DAY_MS },
      false,
    ],
    [
      "later, when the machine slept at that time, but not within ten minutes of the start",
      { nowMs: night + 5 * HOUR_MS, newestMs: night - DAY_MS, upMs: 9 * 60_000 },
      false,
    ],
    [
      "ten minutes after such a start",
      { nowMs: night + 5 * HOUR_MS, newestMs: night - DAY_MS, upMs: 10 * 60_000 },
      true,
    ],
    [
      "ten minutes after the first start of all",
      { nowMs: night + 5 * HOUR_MS, newestMs: undefined, upMs: 10 * 60_000 },
      true,
    ],
    [
      "at its time right after a start",
      { nowMs: night + 1_000, newestMs: night - DAY_MS, upMs: 2_000 },
      true,
    ],
    [
      "although one is dated by a clock that ran days ahead",
      { nowMs: night, newestMs: night + 3 * DAY_MS, upMs: DAY_MS },
      true,
    ],
    [
      "not because of a clock that was set back an hour",
      { nowMs: night + HOUR_MS, newestMs: night + 2 * HOUR_MS, upMs: DAY_MS },
      false,
    ],
  ])("%s", (_, facts, due) => {
    expect(isBackupDue({ at, ...facts })).toBe(due);
  });

  it("at a time that is written as 24 hours with two digits each", () => {
    expect(parseTimeOfDay("03:30")).toEqual(at);
    expect(parseTimeOfDay("23:59")).toEqual({ hour: 23, minute: 59 });
    for (const wrong of ["3:30", "24:00", "12:60", "noon", "03:30 "])
      expect(parseTimeOfDay(wrong)).toBeUndefined();
  });
});

interface Night {
  readonly clock: Clock & { nowMs: number };
  readonly target: string;
  readonly backups: Backups;
  readonly jobs: string[];
}

/** Backups of a folder with one store, made by `run`. */
async function someNight(
  run: RunBackup = copy,
  options: Partial<BackupsOptions> = {},
): Promise<Night> {
  const directory = temporaryFolder();
  await makeStore(directory);
  const target = join(temporaryFolder(), "backups");
  const clock = {
    nowMs: night,
    now: () => clock.nowMs,
    monotonic: () => clock.nowMs - night,
    timer: () => ({ [Symbol.dispose]: () => {} }),
  };
  const jobs: string[] = [];
  const backups = createBackups(
    { clock, log: quietLog, run: (job, signal) => (jobs.push(job.target), run(job, signal)) },
    { directory, target, at, keep: 2, derived: () => [], version: "1", needs: [], ...options },
  );
  return { clock, target, backups, jobs };
}

const copy: RunBackup = (job) => {
  const madeAtMs = Number(
    new Date(job.target.slice(-16).replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z")),
  );
  mkdirSync(job.target, { recursive: true });
  const manifest = { format: 1 as const, steward: "1", madeAtMs, stores: [], leftOut: [] };
  writeFileSync(join(job.target, MANIFEST), JSON.stringify(manifest));
  return Promise.resolve(manifest);
};

describe("nightly backups", () => {
  it("keep the newest ones, one a night, and touch nothing else in their folder", async () => {
    const { clock, target, backups } = await someNight();
    mkdirSync(join(target, "photos"), { recursive: true });
    for (let hour = 0; hour < 24 * 5; hour += 1) {
      await backups.look(never);
      clock.nowMs += HOUR_MS;
    }
    expect(readdirSync(target).sort()).toEqual([
      "photos",
      backupName(night + 3 * DAY_MS),
      backupName(night + 4 * DAY_MS),
    ]);
    expect(backups).toMatchObject({ name: "backups", readiness: "reported" });
  });

  it("contain stores outside the folder that appeared since the start", async () => {
    const outside: StoreLocation[] = [];
    const copied: (readonly StoreLocation[] | undefined)[] = [];
    const { clock, backups } = await someNight(
      (job, signal) => (copied.push([...(job.elsewhere ?? [])]), copy(job, signal)),
      { elsewhere: () => outside },
    );
    await backups.look(never);
    const directory = temporaryFolder();
    await makeStore(directory);
    outside.push({ directory, name: "other" });
    clock.nowMs += DAY_MS;
    await backups.look(never);
    expect(copied).toEqual([[], outside]);
  });

  it("tell of one that failed, try again after an hour and leave nothing half made", async () => {
    let works = false;
    const { clock, target, backups, jobs } = await someNight((job, signal) => {
      if (works) return copy(job, signal);
      mkdirSync(job.target, { recursive: true });
      writeFileSync(join(job.target, "test.mdb.part"), "half");
      return Promise.reject(new StewardError("corrupt", "a store is damaged"));
    });
    await backups.look(never);
    expect(backups.health?.()).toEqual({
      ok: false,
      reason: "the last backup failed: a store is damaged",
    });
    expect(readdirSync(target)).toEqual([]);
    clock.nowMs += HOUR_MS - 1;
    await backups.look(never);
    expect(jobs).toHaveLength(1);
    works = true;
    clock.nowMs += 1;
    await backups.look(never);
    expect([jobs.length, backups.health?.(), keptBackups(target).length]).toEqual([
      2,
      { ok: true },
      1,
    ]);
    expect(backups.figures()).toEqual({ succeeded: 1, failed: 1, newestMs: night + HOUR_MS });
  });

  it("show nothing of the system's text where anybody reads it", async () => {
    const { backups } = await someNight(() =>
      Promise.reject(
        Object.assign(new Error("EACCES: permission denied, mkdir '/root/canary'"), {
          code: "EACCES",
        }),
      ),
    );
    await backups.look(never);
    expect(backups.health?.()).toEqual({
      ok: false,
      reason: "the last backup failed: denied (EACCES); see the log",
    });
  });

  it("take away what a killed process left, and never the one just made", async () => {
    const { target, backups } = await someNight(copy, { keep: 1 });
    const ahead = backupName(night + 300 * DAY_MS);
    await copy({ directory: "", target: join(target, ahead), derived: [], version: "" }, never);
    const half = join(target, backupName(night - DAY_MS));
    mkdirSync(half);
    await backups.look(never);
    expect(readdirSync(target)).toEqual([backupName(night)]);
  });

  it("are one a night after the clock was set back for years, and push out those dated ahead first", async () => {
    const { clock, target, backups, jobs } = await someNight(copy, { keep: 3 });
    for (const days of [2_998, 2_999, 3_000])
      await copy(
        {
          directory: "",
          target: join(target, backupName(night + days * DAY_MS)),
          derived: [],
          version: "",
        },
        never,
      );
    for (let minute = 0; minute < 2 * 24 * 60; minute += 10) {
      await backups.look(never);
      clock.nowMs += 10 * 60_000;
    }
    expect(jobs).toHaveLength(2);
    expect(readdirSync(target).sort()).toEqual([
      backupName(night),
      backupName(night + DAY_MS),
      backupName(night + 3_000 * DAY_MS),
    ]);
  });

  it("do nothing for a folder whose stores are all made anew, and are no failure when they are stopped", async () => {
    const idle = await someNight(copy, { derived: () => ["test"] });
    await idle.backups.look(never);
    expect([idle.jobs, existsSync(idle.target)]).toEqual([[], false]);
    const stop = new AbortController();
    const stopped = await someNight(() => {
      stop.abort(new Error("stopped"));
      return Promise.reject(new Error("stopped"));
    });
    await stopped.backups.look(stop.signal);
    expect(stopped.backups.health?.()).toEqual({ ok: true });
  });
});

describe("the process that makes a backup", () => {
  it("copies and tests a store that is in use; restored, it holds what was there", async () => {
    const directory = temporaryFolder();
    const env = await openEnv(directory);
    await fillStore(env);
    const before = contents(env);
    const target = join(temporaryFolder(), "copy");
    const manifest = await runBackupProcess(
      { directory, target, derived: [], version: "1" },
      never,
    );
    await env.close();
    expect(manifest.stores.map(({ name }) => name)).toEqual(["test"]);
    const restored = await openEnv(target);
    expect(contents(restored)).toBe(before);
  });

  it("says what is wrong, and ends when it is told to", async () => {
    const directory = temporaryFolder();
    await makeStore(directory);
    const target = temporaryFolder();
    writeFileSync(join(target, "photo"), "");
    await expect(
      runBackupProcess({ directory, target, derived: [], version: "1" }, never),
    ).rejects.toMatchObject({ code: "conflict", remedy: "choose a new or an empty folder" });
    const stop = new AbortController();
    const stopped = runBackupProcess(
      { directory, target: join(target, "other"), derived: [], version: "1" },
      stop.signal,
    );
    stop.abort(new Error("stopped"));
    await expect(stopped).rejects.toThrow("stopped");
    expect(existsSync(join(target, "other", MANIFEST))).toBe(false);
  });
});
