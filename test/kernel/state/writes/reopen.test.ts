import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { openLmdbFile, type LmdbFile } from "../../../../src/kernel/state/file/lmdb-file.ts";
import { lmdbError } from "../../../../src/kernel/state/file/lmdb-error.ts";
import { Recovery } from "../../../../src/kernel/state/writes/reopen.ts";
import { FileSnapshot } from "../../../../src/kernel/state/rows/snapshot.ts";
import { WriteQueue } from "../../../../src/kernel/state/writes/write-queue.ts";
import { createManualClock, type ManualClock } from "../../supervisor/manual-clock.ts";
import { memoryLog } from "../../telemetry/fixtures.ts";
import { numbers, quietLog, temporaryFolder } from "../fixtures/tables.ts";

const EIO = lmdbError(new Error("Input/output error"), "held.mdb");
const FULL = lmdbError(new Error("No space left on device"), "held.mdb");

/**
 * What becomes of a call of `storeAll`: it is stored, it fails, or it fails after it was stored.
 */
type Fate = "stored" | StewardError | { readonly late: StewardError };

interface House {
  readonly queue: WriteQueue;
  readonly recovery: Recovery;
  readonly clock: ManualClock;
  /** Log lines of the recovery. */
  readonly lines: readonly string[];
  /** What the next calls of `storeAll` come to; all after them are stored. */
  readonly fates: Fate[];
  readonly checks: { count: number; error: StewardError | undefined };
  readonly reopened: () => number;
  readonly stored: (key: number) => boolean;
}

/** A queue over a file whose writes fail as a test says. */
function openFailing(): House {
  const real = openLmdbFile(join(temporaryFolder(), "held.mdb"), {
    tables: [numbers],
    ring: undefined,
    maxBytes: 2 ** 30,
  });
  const fates: Fate[] = [];
  const checks: House["checks"] = { count: 0, error: undefined };
  const clock = createManualClock();
  const log = memoryLog();
  let reopened = 0;
  const file: LmdbFile = {
    ...real,
    store: (name) => real.store(name),
    async storeAll(writes) {
      const fate = fates.shift() ?? "stored";
      if (fate === "stored" || !(fate instanceof StewardError)) await real.storeAll(writes);
      if (fate instanceof StewardError) throw fate;
      if (fate !== "stored") throw fate.late;
    },
    async reopen() {
      reopened += 1;
      await real.reopen();
    },
  };
  const check = (): Promise<void> => {
    checks.count += 1;
    return checks.error === undefined ? Promise.resolve() : Promise.reject(checks.error);
  };
  const recovery = new Recovery({
    file,
    clock,
    log,
    check,
    unpin: () => Promise.resolve(),
  });
  const reserve = {
    prepare: () => Promise.resolve(),
    release: () => false,
    shortage: () => undefined,
  };
  const queue = new WriteQueue({
    file,
    clock,
    log: quietLog,
    maxBytes: 2 ** 30,
    rows: new Map(),
    reserve,
    recovery,
  });
  onTestFinished(async () => {
    await queue.close();
    await real.close();
  });
  return {
    queue,
    recovery,
    clock,
    lines: log.lines,
    fates,
    checks,
    reopened: () => reopened,
    stored: (key) => new FileSnapshot(real).get(numbers, key) !== undefined,
  };
}

const row = new Uint8Array(8);

describe("a group whose write fails once", () => {
  it("is stored again after the file was checked and reopened and has taken two writes, and its effects run once", async () => {
    const { queue, fates, checks, reopened, stored } = openFailing();
    let effects = 0;
    fates.push(EIO);
    await queue.push((tx) => {
      tx.put(numbers, 1, row);
      tx.after(() => (effects += 1));
    });
    expect([effects, checks.count, reopened(), stored(1), queue.trouble]).toEqual([
      1,
      1,
      1,
      true,
      undefined,
    ]);
  });

  it("is not stored again when it is in the file already", async () => {
    const { queue, fates, stored } = openFailing();
    fates.push({ late: EIO }, "stored", "stored", EIO); // the fourth would be the second try
    await queue.push((tx) => tx.put(numbers, 1, row));
    expect([stored(1), queue.trouble, fates.length]).toEqual([true, undefined, 1]);
  });

  it("carries what ran behind it", async () => {
    const { queue, fates, stored } = openFailing();
    fates.push(EIO);
    const first = queue.push((tx) => tx.put(numbers, 1, row));
    await setImmediate();
    const second = queue.push((tx) => {
      expect(tx.get(numbers, 1)).toBeDefined();
      tx.put(numbers, 2, row);
    });
    await Promise.all([first, second]);
    expect([stored(1), stored(2)]).toEqual([true, true]);
  });

  it("is refused when a guard does not hold any more, and the next write is taken", async () => {
    const { queue, fates, stored } = openFailing();
    let isLeader = true;
    fates.push(EIO);
    const guarded = queue.push(
      (tx) => {
        tx.put(numbers, 1, row);
        tx.after(() => expect.unreachable());
      },
      {
        guard: () => {
          if (!isLeader) throw new StewardError("conflict", "not the leader");
        },
      },
    );
    await setImmediate();
    isLeader = false;
    await expect(guarded).rejects.toBe(EIO);
    await queue.push((tx) => tx.put(numbers, 2, row));
    expect([stored(1), stored(2), queue.trouble]).toEqual([false, true, undefined]);
  });

  it("is refused at a full disk, which urgent changes alone would outlive", async () => {
    const { queue, fates, stored } = openFailing();
    fates.push(FULL);
    await expect(queue.push((tx) => tx.put(numbers, 1, row))).rejects.toMatchObject({
      code: "disk_full",
    });
    expect([stored(1), queue.trouble]).toEqual([false, undefined]);
  });
});

describe("a file that takes no writes", () => {
  it("refuses at once with the reason, is tried after one second, two and four, and then takes writes again and says how long it took none", async () => {
    const { queue, fates, clock, lines, reopened, stored } = openFailing();
    fates.push(EIO, EIO, EIO, EIO);
    await expect(queue.push((tx) => tx.put(numbers, 1, row))).rejects.toBe(EIO);
    let ran = false;
    await expect(queue.push(() => (ran = true))).rejects.toMatchObject({
      code: "not_ready",
      message: "held.mdb accepts no writes: its disk reports input/output errors",
      retryAfterMs: 1_000,
    });
    expect([ran, queue.trouble]).toEqual([
      false,
      "held.mdb accepts no writes: its disk reports input/output errors",
    ]);
    const before = reopened();
    for (const [waitMs, left] of [
      [999, 2],
      [1, 1],
      [1_999, 1],
      [1, 0],
      [3_999, 0],
    ] as const) {
      await clock.advance(waitMs);
      await vi.waitFor(() => expect(fates.length).toBe(left), { timeout: 60_000 });
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
      expect(queue.trouble).toBeDefined();
    }
    await clock.advance(1);
    await vi.waitFor(() => expect(queue.trouble).toBeUndefined(), { timeout: 60_000 });
    expect(lines.at(-1)).toMatch(/^info the store accepts writes again.*"failed_for":"7s"/);
    expect(reopened()).toBe(before + 2); // after each failed write once, so that readers have a file
    await queue.push((tx) => tx.put(numbers, 2, row));
    expect([stored(1), stored(2)]).toEqual([false, true]);
  });

  it("has the effects of what it stored and did not confirm, and tells the caller that it failed", async () => {
    const { queue, fates, clock, stored } = openFailing();
    let effects = 0;
    fates.push({ late: EIO }, EIO);
    await expect(
      queue.push((tx) => {
        tx.put(numbers, 1, row);
        tx.after(() => (effects += 1));
      }),
    ).rejects.toBe(EIO);
    expect([effects, stored(1), queue.rows.get("numbers")]).toEqual([1, true, 1]);
    await clock.advance(1_000);
    await vi.waitFor(() => expect(queue.trouble).toBeUndefined(), { timeout: 60_000 });
    expect(effects).toBe(1);
  });

  it("looks later whether it holds what it refused, when it could not be opened at once", async () => {
    const { queue, fates, clock, checks, stored } = openFailing();
    let effects = 0;
    checks.error = EIO;
    fates.push({ late: EIO });
    await expect(
      queue.push((tx) => {
        tx.put(numbers, 1, row);
        tx.after(() => (effects += 1));
      }),
    ).rejects.toBe(EIO);
    expect([effects, queue.rows.get("numbers")]).toEqual([0, undefined]);
    checks.error = undefined;
    await clock.advance(1_000);
    await vi.waitFor(() => expect(queue.trouble).toBeUndefined(), { timeout: 60_000 });
    expect([effects, stored(1), queue.rows.get("numbers")]).toEqual([1, true, 1]);
  });

  it("is tried no more once its check finds damage, and says so", async () => {
    const { queue, fates, clock, checks } = openFailing();
    checks.error = new StewardError("corrupt", "held.mdb is damaged");
    fates.push(EIO);
    await expect(queue.push((tx) => tx.put(numbers, 1, row))).rejects.toBe(EIO);
    await clock.advance(60_000);
    await setImmediate();
    expect([checks.count, queue.trouble]).toEqual([1, "held.mdb is damaged"]);
    await expect(queue.push((tx) => tx.put(numbers, 2, row))).rejects.toMatchObject({
      code: "corrupt",
    });
  });

  it("is closed without waiting for its disk", async () => {
    const { queue, fates, recovery } = openFailing();
    fates.push(EIO, EIO);
    await expect(queue.push((tx) => tx.put(numbers, 1, row))).rejects.toBe(EIO);
    await queue.close();
    expect(recovery.failure).toBe(EIO);
  });
});

describe("a file that is reopened", () => {
  it("gives readers what is stored, and the same sub-databases", async () => {
    const file = openLmdbFile(join(temporaryFolder(), "again.mdb"), {
      tables: [numbers],
      ring: undefined,
      maxBytes: 2 ** 30,
    });
    const store = file.store("house");
    await file.transact(() => store.db.putSync(Uint8Array.of(1), Buffer.from("a")));
    const closed = file.reopen();
    expect(() => file.store("house")).toThrow(
      expect.objectContaining({ code: "not_ready" }) as Error,
    );
    await closed;
    expect([
      file.store("house") === store,
      store.db.getBinary(Uint8Array.of(1))?.toString(),
    ]).toEqual([true, "a"]);
    await file.close();
  });
});

describe("errors of a disk", () => {
  it.each([
    ["Input/output error", "not_ready"],
    ["Read-only file system", "not_ready"],
    ["No space left on device", "disk_full"],
    ["Disk quota exceeded", "disk_full"],
    ["File too large", "disk_full"],
    ["MDB_PANIC: Update of meta page failed", "not_ready"],
    ["MDB_CORRUPTED: Located page was wrong type", "corrupt"],
  ])("%s is %s", (text, code) => {
    expect(lmdbError(new Error(text), "/x/y.mdb").code).toBe(code);
  });

  it("a quota, which Node has no name for, is a full disk", () => {
    expect(
      lmdbError(
        Object.assign(new Error("Unknown system error -122: write"), {
          errno: -122,
          code: "Unknown system error -122",
        }),
        "/x/y.mdb",
      ).code,
    ).toBe("disk_full");
  });
});
