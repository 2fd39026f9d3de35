import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Clock } from "../../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { runBackupProcess } from "../../../../src/kernel/state/backups/backup-job.ts";
import type { RunBackup } from "../../../../src/kernel/state/backups/backup-job.ts";
import { isBackupDue, parseTimeOfDay } from "../../../../src/kernel/state/backups/backup-times.ts";
import { MANIFEST } from "../../../../src/kernel/state/backups/folder-backup.ts";
import type { StoreLocation } from "../../../../src/kernel/state/backups/folder-backup.ts";
import { createBackups } from "../../../../src/kernel/state/backups/nightly-backups.ts";
import type {
  Backups,
  BackupsDeps,
  BackupsOptions,
} from "../../../../src/kernel/state/backups/nightly-backups.ts";
import { contents, fillStore, makeStore } from "../fixtures/damage.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";
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

/** The name of a backup that Steward made before state folders had ids. */
function backupName(atMs: number): string {
  return `steward-${new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
}

/** Names of the backups in a folder without the ids of state folders. */
function backupsIn(target: string): string[] {
  return readdirSync(target)
    .map((name) => name.replace(/-[0-9a-f]{8}$/, ""))
    .sort();
}

/** Backups of a folder with one store, made by `run`. */
async function someNight(
  run: RunBackup = copy,
  options: Partial<BackupsOptions> = {},
  deps: Partial<BackupsDeps> = {},
): Promise<Night> {
  const directory = temporaryFolder();
  await makeStore(directory);
  const target = options.target ?? join(temporaryFolder(), "backups");
  const clock = {
    nowMs: night,
    now: () => clock.nowMs,
    monotonic: () => clock.nowMs - night,
    timer: () => ({ [Symbol.dispose]: () => {} }),
  };
  const jobs: string[] = [];
  const backups = createBackups(
    {
      clock,
      log: quietLog,
      run: (job, signal) => (jobs.push(job.target), run(job, signal)),
      ...deps,
    },
    { directory, target, at, keep: 2, derived: () => [], version: "1", needs: [], ...options },
  );
  return { clock, target, backups, jobs };
}

const copy: RunBackup = (job) => {
  const madeAtMs = Number(
    new Date(
      job.target.replace(
        /^.*steward-(....)(..)(..)T(..)(..)(..)Z(-[0-9a-f]{8})?$/,
        "$1-$2-$3T$4:$5:$6Z",
      ),
    ),
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
    expect(backupsIn(target)).toEqual([
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
    expect([jobs.length, backups.health?.(), readdirSync(target).length]).toEqual([
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
    expect(backupsIn(target)).toEqual([backupName(night)]);
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
    expect(backupsIn(target)).toEqual([
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
      stop.abort(new StewardError("cancelled", "stopped"));
      return Promise.reject(new Error("stopped"));
    });
    await stopped.backups.look(stop.signal);
    expect(stopped.backups.health?.()).toEqual({ ok: true });
  });
});

describe("nightly backups that cannot be made", () => {
  it("do not keep the daemon from starting; the reason is shown and the next try is in an hour", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const { backups, clock, jobs } = await someNight(copy, { target: file });
    await backups.start(never, () => {});
    await expect
      .poll(() => backups.health?.())
      .toEqual({
        ok: false,
        reason: `the last backup failed: the backups in ${file} cannot be listed (ENOTDIR)`,
      });
    await backups.stop(1_000);
    rmSync(file);
    clock.nowMs += HOUR_MS;
    await backups.look(never);
    expect([jobs.length, backups.health?.()]).toEqual([1, { ok: true }]);
  });

  it("are fine again once their folder can be listed and has tonight's", async () => {
    const target = join(temporaryFolder(), "backups");
    writeFileSync(target, "");
    const { backups, clock, jobs } = await someNight(copy, { target });
    await backups.look(never);
    expect(backups.health?.()).toMatchObject({ ok: false });
    rmSync(target);
    await copy(
      { directory: "", target: join(target, backupName(night)), derived: [], version: "" },
      never,
    );
    clock.nowMs += HOUR_MS;
    await backups.look(never);
    expect([jobs, backups.health?.()]).toEqual([[], { ok: true }]);
  });

  it("count as failed when they take longer than they may", async () => {
    const stop = new AbortController();
    const { backups, clock, jobs } = await someNight(() => {
      stop.abort(new StewardError("deadline", "backup took longer than 6 h"));
      return Promise.reject(new Error("killed"));
    });
    await backups.look(stop.signal);
    expect(backups.health?.()).toEqual({
      ok: false,
      reason: "the last backup failed: backup took longer than 6 h",
    });
    expect(backups.figures()).toMatchObject({ succeeded: 0, failed: 1 });
    clock.nowMs += HOUR_MS - 1;
    await backups.look(never);
    expect(jobs).toHaveLength(1);
  });

  it("say that their folder does not answer, and hold nothing up meanwhile", async () => {
    const target = temporaryFolder();
    const half = join(target, backupName(night));
    mkdirSync(half);
    // Reading a pipe without a writer takes for ever, like a file of a server that is gone.
    const pipe = join(half, MANIFEST);
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const clock = createManualClock();
    const { backups } = await someNight(copy, { target }, { clock });
    const look = backups.look(never);
    await expect.poll(() => clock.timers()).toBe(1);
    await clock.advance(30_000);
    await look;
    expect(backups.health?.()).toEqual({
      ok: false,
      reason: `the last backup failed: the folder of the backups, ${target}, does not answer`,
    });
    closeSync(openSync(pipe, "r+")); // lets the reader end
  });

  it("say the same when the folder does not tell its free space, and do not try that again meanwhile", async () => {
    const target = temporaryFolder();
    const clock = createManualClock();
    const waits = vi.spyOn(clock, "timer");
    const freeBytes = vi.fn(() => new Promise<number>(() => {}));
    const { backups, jobs } = await someNight(copy, { target }, { clock, freeBytes });
    for (const [pauseMs, waited] of [
      [15 * 60_000, 2], // for the list and for the free space
      [HOUR_MS, 4],
    ] as const) {
      await clock.advance(pauseMs);
      const look = backups.look(never);
      await expect.poll(() => waits.mock.calls.length).toBe(waited);
      await clock.advance(30_000);
      await look;
      expect(backups.health?.()).toEqual({
        ok: false,
        reason: `the last backup failed: the folder of the backups, ${target}, does not answer`,
      });
    }
    expect([freeBytes.mock.calls, jobs, backups.figures().failed]).toEqual([[[target]], [], 2]);
  });

  it("are not begun on a disk without room for one", async () => {
    const { backups, jobs, target } = await someNight(
      copy,
      {},
      { freeBytes: () => Promise.resolve(0) },
    );
    await backups.look(never);
    expect(jobs).toEqual([]);
    expect(backups.health?.()).toMatchObject({
      ok: false,
      reason: expect.stringContaining(`${target} has no space for a backup of`) as string,
    });
  });
});

describe("nightly backups of several state folders in one folder", () => {
  it("are made, counted and removed by each on its own", async () => {
    const target = temporaryFolder();
    const first = await someNight(copy, { target });
    const second = await someNight(copy, { target });
    for (let days = 0; days < 3; days += 1) {
      for (const { backups, clock } of [first, second]) {
        await backups.look(never);
        clock.nowMs += DAY_MS;
      }
    }
    const nights = [night + DAY_MS, night + 2 * DAY_MS].map(backupName);
    expect(backupsIn(target)).toEqual(nights.flatMap((name) => [name, name]));
    expect(first.backups.figures()).toMatchObject({ succeeded: 3, failed: 0 });
    expect(second.backups.figures()).toMatchObject({ succeeded: 3, failed: 0 });
  });

  it("do not remove one that another is making", async () => {
    const target = temporaryFolder();
    const running = Promise.withResolvers<void>();
    const slow = await someNight(
      async (job, signal) => {
        mkdirSync(job.target, { recursive: true });
        await running.promise;
        return copy(job, signal);
      },
      { target },
    );
    const look = slow.backups.look(never);
    await expect.poll(() => slow.jobs.length).toBe(1);
    const other = await someNight(copy, { target });
    await other.backups.look(never);
    expect(existsSync(slow.jobs[0] ?? "")).toBe(true);
    running.resolve();
    await look;
    expect(readdirSync(target)).toHaveLength(2);
  });

  it("keep their id over a restart, and count those of a Steward without ids as theirs", async () => {
    const directory = temporaryFolder();
    await makeStore(directory);
    const target = temporaryFolder();
    const old = { directory: "", derived: [], version: "" };
    await copy({ ...old, target: join(target, backupName(night - DAY_MS)) }, never);
    await copy({ ...old, target: join(target, backupName(night - 2 * DAY_MS)) }, never);
    await (await someNight(copy, { target, directory })).backups.look(never);
    expect(backupsIn(target)).toEqual([backupName(night - DAY_MS), backupName(night)]);
    const again = await someNight(copy, { target, directory });
    await again.backups.look(never);
    expect([again.jobs, again.backups.figures().newestMs]).toEqual([[], night]);
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

  it("makes the missing folder of the backups, which this process does not wait for", async () => {
    const target = join(temporaryFolder(), "share/backups");
    const before: boolean[] = [];
    const { backups, jobs } = await someNight(
      (job, signal) => (before.push(existsSync(target)), runBackupProcess(job, signal)),
      { target },
    );
    await backups.look(never);
    expect([before, backups.health?.()]).toEqual([[false], { ok: true }]);
    expect(jobs.map((job) => existsSync(join(job, MANIFEST)))).toEqual([true]);
    expect(statSync(target).mode & 0o777).toBe(0o700);
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
