import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createPool } from "../../../src/kernel/pool/pool.ts";
import { createWorkerProcesses } from "../../../src/kernel/pool/processes.ts";
import type { Pool, Task } from "../../../src/kernel/pool/types.ts";
import { spawn } from "../../support/spawn.ts";
import { createManualClock } from "../supervisor/manual-clock.ts";
import { log, task } from "./fixture-tasks.ts";

const HEAP_MB = 32;
const pools: Pool[] = [];

const double = task<number, number>("double");
const spin = task<{ deaf: boolean; rounds: number }, string>("spin");
const fail = task<{ how: string; code?: string }, never>("fail");
const who = task<null, { pid: number; environment: string[] }>("who");
const allocate = task<number, number>("allocate");
const move = task<Uint8Array, Uint8Array>("move");
const own = { signal: new AbortController().signal, ownProcess: true } as const;

function open(): Pool {
  const pool = createPool({ threads: 1, heapMb: HEAP_MB, clock: systemClock, log });
  pools.push(pool);
  return pool;
}

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
});

/** Nobody has yet asked how a zombie ended. */
function isThere(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const isGone = (pid: number) => expect.poll(() => isThere(pid), { interval: 10 }).toBe(false);

describe("a run in a process of its own", () => {
  const pool = open();

  it("answers with what the task returns or throws, in the same process one after the other", async () => {
    const { pid } = await pool.run(who, null, own);
    expect(pid).not.toBe(process.pid);
    expect(await pool.run(double, 21, own)).toBe(42);
    expect([...(await pool.run(move, new Uint8Array([1, 2, 3]), own))]).toEqual([2, 3, 4]);
    await expect(pool.run(fail, { how: "code", code: "too_large" }, own)).rejects.toMatchObject({
      name: "StewardError",
      code: "too_large",
      message: "it failed: code",
    });
    await expect(pool.run(task("empty"), 1, own)).rejects.toMatchObject({ code: "internal" });
    await expect(pool.run(double as Task<unknown, number>, () => 1, own)).rejects.toMatchObject({
      code: "internal",
    });
    expect((await pool.run(who, null, own)).pid).toBe(pid);
    expect(pool.status()).toMatchObject({ running: 0, queued: 0, crashed: 0 });
  });

  it("knows nothing of this process's environment", async () => {
    process.env["STEWARD_TEST_SECRET"] = "secret";
    try {
      const { environment } = await open().run(who, null, own);
      expect(environment.filter((name) => name !== "NODE_COMPILE_CACHE")).toEqual([]);
    } finally {
      delete process.env["STEWARD_TEST_SECRET"];
    }
  });

  it.each([
    ["asks for more than its heap at once", allocate, 2 ** 26, "exhausted"],
    ["asks for more than its heap bit by bit", fail, { how: "heap" }, "exhausted"],
    ["exits", fail, { how: "exit" }, "internal"],
  ] as const)("that %s fails, and the next one is served", async (_, dying, input, code) => {
    const pool = open();
    expect(await pool.run(double, 1, own)).toBe(2);
    await expect(
      pool.run(dying as Task<unknown, unknown>, input, { ...own, tries: 1 }),
    ).rejects.toMatchObject({ code });
    expect(await pool.run(double, 2, own)).toBe(4);
    expect(pool.status()).toMatchObject({ running: 0, queued: 0, crashed: 1 });
  });

  it.each([
    ["is cancelled", () => ({ signal: AbortSignal.timeout(20) }), { name: "TimeoutError" }],
    ["takes too long", () => ({ deadlineMs: 20 }), { code: "deadline" }],
  ])("that %s ends with its process, however busy it is", async (_, limit, error) => {
    const pool = open();
    const { pid } = await pool.run(who, null, own);
    await expect(
      pool.run(spin, { deaf: true, rounds: 1e12 }, { ...own, ...limit() }),
    ).rejects.toMatchObject(error);
    expect((await pool.run(who, null, own)).pid).not.toBe(pid);
    expect(isThere(pid)).toBe(false);
    expect(pool.status()).toMatchObject({ running: 0, queued: 0, crashed: 0 });
  });
});

describe("a worker process", () => {
  it.each([
    // Node says the one later and the other at once.
    ["/nonexistent/node", "ENOENT"],
    ["/no\0path", "ERR_INVALID_ARG_VALUE"],
  ])(
    "that cannot be made of %j fails the run with the way out, and the next one may have one",
    async (path, code) => {
      const pool = open();
      const { execPath } = process;
      process.execPath = path;
      try {
        await expect(pool.run(who, null, own)).rejects.toMatchObject({
          code: "not_ready",
          message: `no worker process can be started for task who (${code})`,
          remedy: expect.stringContaining("ulimit -u") as string,
        });
      } finally {
        process.execPath = execPath;
      }
      expect(await pool.run(double, 2, own)).toBe(4);
      expect(pool.status()).toMatchObject({ running: 0, queued: 0, crashed: 0 });
    },
  );

  it("that ends between two runs costs none of them", async () => {
    const pool = open();
    const { pid } = await pool.run(who, null, own);
    process.kill(pid, "SIGKILL");
    // Not even a zombie: this process knows.
    await expect.poll(() => existsSync(`/proc/${pid}`), { interval: 10 }).toBe(false);
    expect((await pool.run(who, null, own)).pid).not.toBe(pid);
    expect(pool.status().crashed).toBe(0);
  });

  it("keeps nothing of what it has served", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): number => warnings.push(warning);
    process.on("warning", warn);
    const pool = open();
    for (let run = 0; run < 20; run += 1) expect(await pool.run(double, run, own)).toBe(2 * run);
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });

  it("goes on where a terminal asks all processes to stop: the pool's one decides", async () => {
    const pool = open();
    const { pid } = await pool.run(who, null, own);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.kill(pid, signal);
    expect((await pool.run(who, null, own)).pid).toBe(pid);
  });

  it.runIf(existsSync("/proc/self/oom_score_adj"))(
    "is the first to go where the machine has no memory left",
    async () => {
      const pool = open();
      const { pid } = await pool.run(who, null, own);
      const score = (of: number): number =>
        Number(readFileSync(`/proc/${of}/oom_score_adj`, "utf8"));
      expect(score(pid)).toBeGreaterThan(score(process.pid));
    },
  );

  it("ends with the pool", async () => {
    const pool = open();
    const { pid } = await pool.run(who, null, own);
    await pool.close();
    expect(isThere(pid)).toBe(false);
  });

  it("ends after a while without work", async () => {
    const clock = createManualClock();
    const processes = createWorkerProcesses({ heapMb: HEAP_MB, youngMb: 8, idleMs: 1_000, clock });
    const pidOf = async (): Promise<number> => {
      const end = await processes.startAttempt({ file: who.file.href, input: null }).end;
      if (end.kind !== "reply" || !end.reply.ok) throw new Error(end.kind);
      return (end.reply.value as { pid: number }).pid;
    };
    const pid = await pidOf();
    await clock.advance(999);
    expect(await pidOf()).toBe(pid);
    await clock.advance(999);
    expect(isThere(pid)).toBe(true);
    await clock.advance(1);
    // It may still be there, but takes no further run.
    const next = await pidOf();
    expect(next).not.toBe(pid);
    await isGone(pid);
    await clock.advance(1_000);
    await processes.close();
    expect(isThere(next)).toBe(false);
  });

  it("ends with the pool's process, however busy it is", async () => {
    const program = new URL("fixtures/stuck-pool.ts", import.meta.url).pathname;
    const parent = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    expect(isThere(pid)).toBe(true);
    parent.kill("SIGKILL");
    await isGone(pid);
  });
});
