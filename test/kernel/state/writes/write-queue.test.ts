import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import type { Clock } from "../../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../../src/kernel/state/state-factory.ts";
import { QUEUE_CHANGES } from "../../../../src/kernel/state/writes/change-queue.ts";
import type { Tx } from "../../../../src/kernel/state/types.ts";
import { openHeldQueue } from "../fixtures/held-queue.ts";
import { numbers, openEnv, quietLog, temporaryFolder } from "../fixtures/tables.ts";

/** A clock whose timers run when the test says so. */
function handClock(): Clock & { fire(): void } {
  const timers = new Set<() => void>();
  return {
    now: () => 0,
    monotonic: () => 0,
    timer(_, run) {
      timers.add(run);
      return { [Symbol.dispose]: () => void timers.delete(run) };
    },
    fire: () => timers.forEach((run) => run()),
  };
}

it("takes ten thousand changes, lets as many wait, refuses the next at once and the waiting ones after five seconds", async () => {
  const clock = handClock();
  const env = await createStateFactory({ directory: temporaryFolder(), clock, log: quietLog }).open(
    { name: "full", tables: [numbers], schema: 1, derived: false, maxBytes: 2 ** 30 },
  );
  const change = (at: number): Promise<void> =>
    env.write((tx) => tx.put(numbers, at % 10, Uint8Array.of(1)));
  const taken = Array.from({ length: QUEUE_CHANGES }, (_, at) => change(at));
  const waiting = Array.from({ length: QUEUE_CHANGES }, (_, at) => change(at));
  await expect(change(0)).rejects.toMatchObject({ code: "exhausted", rule: "write queue" });
  expect(env.status().queuedWrites).toBe(2 * QUEUE_CHANGES);
  clock.fire();
  const results = await Promise.allSettled([...taken, ...waiting]);
  expect(results.slice(0, QUEUE_CHANGES).every((result) => result.status === "fulfilled")).toBe(
    true,
  );
  expect(results.slice(QUEUE_CHANGES).every((result) => result.status === "rejected")).toBe(true);
  await env.close();
});

it("lets those that wait in as room comes, in order", async () => {
  const env = await openEnv(temporaryFolder());
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: QUEUE_CHANGES + 500 }, (_, at) =>
      env.write((tx) => tx.after(() => order.push(at))),
    ),
  );
  expect(order).toEqual(Array.from({ length: QUEUE_CHANGES + 500 }, (_, at) => at));
});

it("counts large changes by their bytes: few of them fill the line", async () => {
  const clock = handClock();
  const env = await createStateFactory({ directory: temporaryFolder(), clock, log: quietLog }).open(
    { name: "large", tables: [numbers], schema: 1, derived: false, maxBytes: 2 ** 30 },
  );
  const large = (at: number): Promise<void> =>
    env.write((tx) => tx.put(numbers, at % 4, new Uint8Array(1_000_000)));
  for (let at = 0; at < 40; at += 1) await large(at);
  const line = Array.from({ length: 100 }, (_, at) => large(at));
  clock.fire();
  const results = await Promise.allSettled(line);
  const refused = results.filter((result) => result.status === "rejected").length;
  expect(refused).toBeGreaterThan(60);
  expect(refused).toBeLessThan(70);
  await env.close();
});

describe("a guarded change", () => {
  it("is not stored when its guard throws after it, and neither are its effects, its rows or its count; its neighbours are", async () => {
    const env = await openEnv(temporaryFolder());
    let leads = true;
    const effects: string[] = [];
    const guard = (): void => {
      if (!leads) throw new Error("leadership is lost");
    };
    await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)), { guard });
    const lost = env.write(
      (tx) => {
        leads = false; // e.g. its lease ends while it runs
        tx.put(numbers, 2, Uint8Array.of(2));
        tx.after(() => effects.push("lost"));
      },
      { guard },
    );
    const beside = env.write((tx) => tx.put(numbers, 3, Uint8Array.of(3)));
    await expect(lost).rejects.toThrow("leadership is lost");
    await beside;
    expect(effects).toEqual([]);
    expect(env.read((snapshot) => [...snapshot.range(numbers)].map(([number]) => number))).toEqual([
      1, 3,
    ]);
    expect(env.status()).toMatchObject({ healthy: true, rows: { numbers: 2 } });
    await env.close();
  });
});

describe("changes behind one that is being stored", () => {
  it("run meanwhile, and are told after it", async () => {
    const { queue, hold, release, stored, turn } = openHeldQueue();
    const order: string[] = [];
    hold();
    const first = queue.push((tx) => {
      tx.put(numbers, 1, Uint8Array.of(1));
      tx.after(() => order.push("first is stored"));
    });
    await turn();
    const second = queue
      .push((tx) => {
        order.push("second runs");
        tx.put(numbers, 2, tx.get(numbers, 1) ?? Uint8Array.of(0));
      })
      .then(() => order.push("second is told"));
    await turn();
    expect([queue.busy, queue.length, [...stored().range(numbers)]]).toEqual([true, 1, []]);
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(["second runs", "first is stored", "second is told"]);
    expect([...stored().range(numbers)]).toEqual([
      [1, Uint8Array.of(1)],
      [2, Uint8Array.of(1)],
    ]);
  });

  it("wait with their guard until they are next, and what is behind them waits, too", async () => {
    const { queue, hold, release, turn } = openHeldQueue();
    const order: string[] = [];
    const put = (at: number, guard?: () => void): Promise<void> =>
      queue.push(
        (tx) => {
          order.push(`${at} runs`);
          tx.put(numbers, at, Uint8Array.of(1));
          tx.after(() => order.push(`${at} is stored`));
        },
        guard === undefined ? {} : { guard },
      );
    hold();
    const first = put(1);
    await turn();
    const behind = [put(2, () => order.push("guard")), put(3)];
    await turn();
    release();
    await Promise.all([first, ...behind]);
    expect(order).toEqual([
      "1 runs",
      "1 is stored",
      "2 runs",
      "guard",
      "3 runs",
      "2 is stored",
      "3 is stored",
    ]);
  });

  it("wait with their guard until the writer has rested: it speaks for the moment in which the group goes", async () => {
    const { given, queue, turn } = openHeldQueue({ restMs: 400 });
    await queue.push((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
    const storedAtMs = performance.now();
    let guardedAtMs = 0;
    let told = 0;
    const guarded = queue.push(
      (tx) => {
        tx.put(numbers, 2, Uint8Array.of(2));
        queueMicrotask(() => (told = given()));
      },
      { guard: () => void (guardedAtMs = performance.now()) },
    );
    await turn();
    await guarded;
    expect(guardedAtMs - storedAtMs).toBeGreaterThan(200);
    expect(told).toBe(2);
  });

  it("form one group at most, bounded in bytes, writes and changes; the others wait in line", async () => {
    const row = new Uint8Array(100_000);
    const waves: [changes: number, most: number, change: (tx: Tx, at: number) => void][] = [
      [20, 11, (tx, at) => tx.put(numbers, at, row)],
      [
        20,
        5,
        (tx, at) => {
          for (let key = at * 1_000; key < (at + 1) * 1_000; key += 1)
            tx.put(numbers, key, Uint8Array.of(1));
          for (let key = at * 1_000; key < (at + 1) * 1_000; key += 1) tx.delete(numbers, key);
        },
      ],
      [15_000, 10_000, () => undefined],
    ];
    for (const [changes, most, change] of waves) {
      const { given, queue, hold, release, stored, turn } = openHeldQueue();
      hold();
      const first = queue.push((tx) => tx.put(numbers, 99_999, Uint8Array.of(1)));
      await turn();
      const before = given();
      let ran = 0;
      const behind = Array.from({ length: changes }, (_, at) =>
        queue.push((tx) => {
          ran += 1;
          change(tx, at);
        }),
      );
      for (let turns = 0; turns < 60; turns += 1) await turn();
      expect([ran <= most, queue.busy, given()]).toEqual([true, true, before]);
      release();
      await Promise.all([first, ...behind]);
      expect(ran).toBe(changes);
      expect([...stored().range(numbers)].length).toBe(queue.rows.get("numbers"));
    }
  });

  it("of which one throws leave no trace of it, in rows, counts and what comes after", async () => {
    const { queue, hold, release, turn } = openHeldQueue();
    hold();
    const first = queue.push((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
    await turn();
    const lost = queue.push((tx) => {
      tx.delete(numbers, 1);
      tx.put(numbers, 1, Uint8Array.of(7));
      tx.put(numbers, 2, Uint8Array.of(7));
      tx.delete(numbers, 1);
      throw new Error("no");
    });
    const after = queue.push((tx) => [tx.get(numbers, 1), tx.get(numbers, 2), tx.count(numbers)]);
    const refused = expect(lost).rejects.toThrow("no");
    release();
    await refused;
    expect(await after).toEqual([Uint8Array.of(1), undefined, 1]);
    await first;
    expect([...queue.rows]).toEqual([["numbers", 1]]);
  });

  it("that throw are told when what they saw can be read, or is refused", async () => {
    const { queue, hold, release, stored, turn } = openHeldQueue();
    const put = (): Promise<void> => queue.push((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
    const take = (): Promise<unknown> =>
      queue
        .push((tx) => {
          if (tx.get(numbers, 1) !== undefined) throw new Error("taken");
        })
        .catch((error: unknown) => [String(error), [...stored().range(numbers)].length]);
    hold();
    const first = put();
    const inTheSameGroup = take();
    await turn();
    const behind = take();
    await turn();
    release();
    await first;
    expect(await Promise.all([inTheSameGroup, behind])).toEqual([
      ["Error: taken", 1],
      ["Error: taken", 1],
    ]);
    await queue.push((tx) => tx.delete(numbers, 1));
    hold();
    const failing = [put(), take()];
    await turn();
    release(new StewardError("disk_full", "the disk is full"));
    await expect(failing[0]).rejects.toMatchObject({ code: "disk_full" });
    expect(await failing[1]).toEqual(["StewardError: the disk is full", 0]);
  });

  it("are refused with a group that was not stored, but for what is urgent, which runs again upon what there is", async () => {
    let short = false;
    const { queue, hold, release, turn } = openHeldQueue({
      reserve: {
        prepare: () => Promise.resolve(),
        release: () => (short = true),
        shortage: () => (short ? new StewardError("disk_full", "no room") : undefined),
      },
    });
    const seen: unknown[] = [];
    const put = (at: number, urgent = false): Promise<void> =>
      queue.push(
        (tx) => {
          seen.push([at, [...tx.range(numbers)].map(([number]) => number), tx.count(numbers)]);
          tx.put(numbers, at, Uint8Array.of(at));
        },
        { urgent },
      );
    hold();
    const tries = [put(1), put(2, true)];
    await turn();
    tries.push(put(3), put(4, true));
    await turn();
    release(new StewardError("disk_full", "the disk is full"));
    await Promise.all(
      [0, 2].map((at) => expect(tries[at]).rejects.toMatchObject({ code: "disk_full" })),
    );
    await Promise.all([tries[1], tries[3]]);
    expect(seen).toEqual([
      [1, [], 0],
      [2, [1], 1],
      [3, [1, 2], 2],
      [4, [1, 2, 3], 3],
      [2, [], 0],
      [4, [2], 1],
    ]);
    expect([...queue.rows]).toEqual([["numbers", 2]]);
  });
});

it("stores what waits while a bulk writer rests, also when it is closed meanwhile", async () => {
  const factory = createStateFactory({
    directory: temporaryFolder(),
    clock: systemClock,
    log: quietLog,
  });
  const spec = { tables: [numbers], schema: 1, derived: false, maxBytes: 2 ** 30 };
  const [busy, bulk] = [
    await factory.open({ name: "busy", ...spec }),
    await factory.open({ name: "bulk", ...spec }),
  ];
  for (let round = 0; round < 20; round += 1) {
    for (let at = 0; at < 10; at += 1)
      await busy.write((tx) => tx.put(numbers, at, Uint8Array.of(round)));
    await bulk.write((tx) => tx.put(numbers, round, new Uint8Array(500_000)));
  }
  const last = bulk.write((tx) => tx.put(numbers, 99, new Uint8Array(500_000)));
  await bulk.close();
  await last;
  const again = await factory.open({ name: "bulk", ...spec });
  expect(again.status().rows["numbers"]).toBe(21);
  await again.close();
  await busy.close();
});
