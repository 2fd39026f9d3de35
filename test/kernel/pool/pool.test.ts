import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createPool, defaultThreads } from "../../../src/kernel/pool/pool.ts";
import type { Pool, Task } from "../../../src/kernel/pool/types.ts";
import { fastest } from "../../support/fastest.ts";
import { log, task } from "./fixture-tasks.ts";

const pools: Pool[] = [];

const double = task<number, number>("double");
const spin = task<{ deaf: boolean; rounds: number }, string>("spin");
const fail = task<{ how: string; code?: string }, never>("fail");
const move = task<Uint8Array, Uint8Array>("move");
const once = task<Int32Array, number>("once");
const never = new AbortController().signal;

function open(threads = 2, heapMb = 64): Pool {
  const pool = createPool({ threads, heapMb, clock: systemClock, log });
  pools.push(pool);
  return pool;
}

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
});

async function settle<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const result of results) all.push(result);
  return all;
}

describe("a run", () => {
  const pool = open();

  it("answers with what the task returns", async () => {
    expect(await pool.run(double, 21, { signal: never })).toBe(42);
  });

  it("moves buffers both ways without leaving a copy", async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const reply = await pool.run(move, bytes, { signal: never, transfer: [bytes.buffer] });
    expect([...reply]).toEqual([2, 3, 4]);
    expect(bytes.byteLength).toBe(0);
  });

  it("keeps the code and the message of a task's error", async () => {
    await expect(
      pool.run(fail, { how: "code", code: "too_large" }, { signal: never }),
    ).rejects.toMatchObject({
      name: "StewardError",
      code: "too_large",
      message: "it failed: code",
    });
  });

  it("keeps an error of unknown kind inside", async () => {
    await expect(
      pool.run(fail, { how: "plain", code: "ERR_FOO" }, { signal: never }),
    ).rejects.toMatchObject({ code: "internal", message: "internal error" });
  });

  it("fails when the file exports no run, or when the input cannot be sent", async () => {
    await expect(pool.run(task("empty"), 1, { signal: never })).rejects.toMatchObject({
      code: "internal",
    });
    await expect(
      pool.run(double as Task<unknown, number>, () => 1, { signal: never }),
    ).rejects.toMatchObject({
      code: "internal",
      message: expect.stringContaining("double") as string,
    });
    expect(await pool.run(double, 1, { signal: never })).toBe(2);
  });

  it("reports units done at most every 100 ms", async () => {
    const seen: { units: number; atMs: number }[] = [];
    const stop = new AbortController();
    const onProgress = (units: number): void => {
      seen.push({ units, atMs: performance.now() });
      if (seen.length === 3) stop.abort(new Error("enough"));
    };
    const running = pool.run(
      spin,
      { deaf: false, rounds: 1e9 },
      { signal: stop.signal, onProgress },
    );
    await expect(running).rejects.toThrow("enough");
    expect(seen).toHaveLength(3);
    for (let i = 1; i < seen.length; i += 1) {
      expect(seen[i]?.units).toBeGreaterThan(seen[i - 1]?.units ?? 0);
      expect((seen[i]?.atMs ?? 0) - (seen[i - 1]?.atMs ?? 0)).toBeGreaterThanOrEqual(99);
    }
  });
});

describe("a cancelled run", () => {
  for (const deaf of [false, true]) {
    // At once is less than the grace of a task.
    it(`rejects at once with the signal's reason when the task is ${deaf ? "deaf" : "attentive"}, and the pool works on`, async () => {
      const pool = open(1);
      expect(await pool.run(double, 1, { signal: never })).toBe(2);
      expect(
        await fastest(100, async () => {
          const stop = new AbortController();
          const reason = new Error("enough");
          let firedAtMs = 0;
          const running = pool.run(
            spin,
            { deaf, rounds: 1e9 },
            {
              signal: stop.signal,
              onProgress: () => {
                firedAtMs = performance.now();
                stop.abort(reason);
              },
            },
          );
          await expect(running).rejects.toBe(reason);
          const rejectedMs = performance.now() - firedAtMs;
          expect(await pool.run(double, 4, { signal: never })).toBe(8);
          return rejectedMs;
        }),
      ).toBeLessThan(100);
      expect(pool.status()).toMatchObject({ running: 0, queued: 0, crashed: 0 });
    });
  }

  it("leaves the line it waits in", async () => {
    const pool = open(1);
    const first = new AbortController();
    const second = new AbortController();
    const running = pool.run(spin, { deaf: false, rounds: 1e9 }, { signal: first.signal });
    const waiting = pool.run(double, 1, { signal: second.signal });
    expect(pool.status()).toMatchObject({ running: 1, queued: 1 });
    second.abort(new Error("no more"));
    await expect(waiting).rejects.toThrow("no more");
    expect(pool.status()).toMatchObject({ running: 1, queued: 0 });
    first.abort(new Error("over"));
    await expect(running).rejects.toThrow("over");
  });

  it("does not start when the signal has fired already", async () => {
    await expect(
      open(1).run(double, 1, { signal: AbortSignal.abort(new Error("too late")) }),
    ).rejects.toThrow("too late");
  });
});

describe("a run with a deadline", () => {
  it("rejects with deadline, frees the thread of a deaf task, and the pool works on", async () => {
    const pool = open(1);
    const stuck = pool.run(spin, { deaf: true, rounds: 1e9 }, { signal: never, deadlineMs: 200 });
    await expect(stuck).rejects.toMatchObject({
      code: "deadline",
      message: expect.stringContaining("spin") as string,
    });
    expect(await pool.run(double, 2, { signal: never, deadlineMs: 60_000 })).toBe(4);
    expect(pool.status()).toMatchObject({ running: 0, queued: 0, crashed: 0 });
  });

  it("counts no time in the queue", async () => {
    const pool = open(1);
    const first = new AbortController();
    const running = pool.run(spin, { deaf: false, rounds: 1e9 }, { signal: first.signal });
    const waiting = pool.run(double, 3, { signal: never, deadlineMs: 5_000 });
    const limited = pool.run(spin, { deaf: false, rounds: 1e9 }, { signal: never, deadlineMs: 1 });
    expect(pool.status()).toMatchObject({ running: 1, queued: 2 });
    first.abort(new Error("over"));
    await expect(running).rejects.toThrow("over");
    expect(await waiting).toBe(6);
    await expect(limited).rejects.toMatchObject({ code: "deadline" });
  });
});

describe("a worker that dies", () => {
  it("fails only the input that killed two of them, and the pool lives on", async () => {
    const pool = open(2);
    const others = settle(pool.map(double, [1, 2, 3, 4, 5, 6, 7, 8], { signal: never }));
    await expect(pool.run(fail, { how: "exit" }, { signal: never })).rejects.toMatchObject({
      code: "internal",
      message: expect.stringContaining("task fail ended 2 workers") as string,
    });
    expect(await others).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
    expect(pool.status().crashed).toBe(2);
  });

  it("fails the input at once when it may cost only one", async () => {
    const pool = open(1);
    await expect(
      pool.run(fail, { how: "exit" }, { signal: never, tries: 1 }),
    ).rejects.toMatchObject({
      code: "internal",
      message: expect.stringContaining("task fail ended its worker") as string,
    });
    await expect(
      settle(pool.map(fail, [{ how: "exit" }], { signal: never, tries: 1 })),
    ).rejects.toMatchObject({ code: "internal" });
    expect(await pool.run(double, 2, { signal: never })).toBe(4);
    expect(pool.status().crashed).toBe(2);
  });

  it("is said unless the input may cost only one, where its caller expects it", async () => {
    const lines: string[] = [];
    const write = (line: string): number => lines.push(line);
    const told = createLog({ level: "info", format: "json", write, now: () => 0 });
    const pool = createPool({ threads: 1, heapMb: 64, clock: systemClock, log: told });
    pools.push(pool);
    const dies = (tries: 1 | 2): Promise<never> =>
      pool.run(fail, { how: "exit" }, { signal: never, tries });
    await expect(dies(1)).rejects.toThrow("ended its worker");
    expect(lines).toEqual([]);
    await expect(dies(2)).rejects.toThrow("ended 2 workers");
    expect(lines.join("")).toContain("a worker died");
  });

  it("is forgiven once", async () => {
    expect(
      await open(1).run(once, new Int32Array(new SharedArrayBuffer(4)), { signal: never }),
    ).toBe(2);
  });

  it("out of heap is exhausted, naming the task and the limit", async () => {
    const pool = open(1, 16);
    await expect(pool.run(fail, { how: "heap" }, { signal: never })).rejects.toMatchObject({
      code: "exhausted",
      message: expect.stringMatching(/task fail needs more than the 16 MiB/) as string,
    });
    expect(await pool.run(double, 2, { signal: never })).toBe(4);
  });
});

describe("the line in front of the pool", () => {
  it("refuses what exceeds twice the threads with exhausted", async () => {
    const pool = open(1);
    const stop = new AbortController();
    const held = [1, 2, 3].map(() =>
      pool.run(spin, { deaf: false, rounds: 1e9 }, { signal: stop.signal }),
    );
    const ends = Promise.allSettled(held);
    await expect(pool.run(double, 1, { signal: never })).rejects.toMatchObject({
      code: "exhausted",
    });
    stop.abort(new Error("over"));
    expect((await ends).map((end) => end.status)).toEqual(["rejected", "rejected", "rejected"]);
  });
});

describe("a map", () => {
  it("answers in order and asks the source only when there is room", async () => {
    const pool = open(2);
    let pulled = 0;
    function* source(): Generator<number> {
      for (let i = 0; i < 20; i += 1) {
        pulled += 1;
        yield i;
      }
    }
    const results: number[] = [];
    for await (const result of pool.map(double, source(), { signal: never })) {
      results.push(result);
      expect(pulled).toBeLessThanOrEqual(results.length + 3);
    }
    expect(results).toEqual(Array.from({ length: 20 }, (_, i) => i * 2));
  });

  it("stops what runs and closes the source when the caller leaves", async () => {
    const pool = open(2);
    let closed = false;
    async function* source(): AsyncGenerator<{ deaf: boolean; rounds: number }> {
      try {
        yield { deaf: false, rounds: 1 };
        for (;;) yield { deaf: false, rounds: 1e9 };
      } finally {
        closed = true;
      }
    }
    for await (const result of pool.map(spin, source(), { signal: never })) {
      expect(result).toBe("done");
      break;
    }
    expect(closed).toBe(true);
    expect(await pool.run(double, 3, { signal: never })).toBe(6);
  });

  it("fails with the first failing input in order", async () => {
    const pool = open(2);
    await expect(
      settle(
        pool.map(
          fail,
          [
            { how: "code", code: "conflict" },
            { how: "code", code: "sealed" },
          ],
          { signal: never },
        ),
      ),
    ).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("closing", () => {
  it("ends what runs, refuses what comes and may be repeated", async () => {
    const pool = open(1);
    const running = pool.run(spin, { deaf: true, rounds: 1e9 }, { signal: never });
    const end = expect(running).rejects.toMatchObject({ code: "cancelled" });
    await pool.close();
    await end;
    await pool.close();
    await expect(pool.run(double, 1, { signal: never })).rejects.toMatchObject({
      code: "cancelled",
    });
  });

  it("works without a start", async () => {
    await open(1).close();
  });
});

it("sizes itself by cores and memory", () => {
  expect(defaultThreads(512, 8, 2 ** 33)).toBe(8);
  expect(defaultThreads(512, 8, 2 ** 31)).toBe(2);
  expect(defaultThreads(512, 8, 2 ** 28)).toBe(1);
});
