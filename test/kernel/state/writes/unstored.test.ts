import {
  assert,
  array,
  boolean,
  constantFrom,
  integer,
  property,
  record,
  uint8Array,
  uniqueArray,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { createRowCheck } from "../../../../src/kernel/state/codec/row-check.ts";
import type { Store } from "../../../../src/kernel/state/file/lmdb-file.ts";
import type { FileSnapshot } from "../../../../src/kernel/state/rows/snapshot.ts";
import type { Tx } from "../../../../src/kernel/state/types.ts";
import { merged, Unstored, writeOf } from "../../../../src/kernel/state/writes/unstored.ts";
import { openHeldQueue, sealedViews } from "../fixtures/held-queue.ts";
import { numbers } from "../fixtures/tables.ts";

// Nothing here asks LMDB.
const store = { name: "s", check: createRowCheck("s") } as unknown as Store;
const bytes = uint8Array({ minLength: 1, maxLength: 3, max: 3 });

describe("unstored writes", () => {
  it("are found newest first over two groups, in order, and are gone with their group", () => {
    const step = record({
      key: bytes,
      put: boolean(),
      hand: constantFrom("no" as const, "over" as const, "settle" as const),
      undo: boolean(),
    });
    assert(
      property(
        array(step, { maxLength: 60 }),
        bytes,
        bytes,
        boolean(),
        (steps, start, end, reverse) => {
          const unstored = new Unstored();
          let [open, storing] = [new Map<string, boolean>(), new Map<string, boolean>()];
          for (const { key, put, hand, undo } of steps) {
            if (hand === "over") {
              unstored.handOver();
              [open, storing] = [new Map(), open];
            } else if (hand === "settle") {
              unstored.settle();
              storing = new Map();
            }
            const write = writeOf(store, key, put ? Uint8Array.of(1) : undefined);
            const replaced = unstored.add(write);
            if (undo) unstored.takeBack(write, replaced);
            else open.set(Buffer.from(key).toString("hex"), put);
            const all = new Map([...storing, ...open]);
            const inside = [...all.keys()]
              .sort()
              .filter(
                (text) =>
                  text >= Buffer.from(start).toString("hex") &&
                  text < Buffer.from(end).toString("hex"),
              );
            const found = unstored
              .within(store, { start, end }, reverse)
              .map((one) => Buffer.from(one.key).toString("hex"));
            expect(found).toEqual(reverse ? inside.toReversed() : inside);
            const newest = unstored.find(store, key);
            expect(newest === undefined ? undefined : newest.value !== undefined).toBe(
              all.get(Buffer.from(key).toString("hex")),
            );
          }
          unstored.clear();
          expect(unstored.has(store)).toBe(false);
        },
      ),
    );
  });

  it("stand in for entries as LMDB would show them after it stored them", () => {
    const keys = uniqueArray(integer({ min: 0, max: 20 }), { maxLength: 12 });
    assert(
      property(
        keys,
        keys,
        array(boolean(), { minLength: 12, maxLength: 12 }),
        boolean(),
        (stored, written, puts, reverse) => {
          const order = (left: number, right: number): number =>
            reverse ? right - left : left - right;
          const entries = stored
            .toSorted(order)
            .map((at) => ({ key: Uint8Array.of(at), value: Uint8Array.of(1) }));
          const writes = written
            .toSorted(order)
            .map((at, place) =>
              writeOf(
                store,
                Uint8Array.of(at),
                puts[place] === true ? Uint8Array.of(2) : undefined,
              ),
            );
          const expected = new Map(entries.map(({ key, value }) => [key[0], value[0]]));
          for (const { key, value } of writes)
            if (value === undefined) expected.delete(key[0]);
            else expected.set(key[0], value[0]);
          expect(
            merged(entries, writes, reverse).map(({ key, value }) => [key[0], value[0]]),
          ).toEqual([...expected].sort(([left], [right]) => order(left ?? 0, right ?? 0)));
        },
      ),
    );
  });
});

/**
 * Runs `change` upon 1,000 stored rows and upon what `before` wrote, which is not stored meanwhile.
 */
async function upon(before: (tx: Tx) => void, change: (tx: Tx) => void): Promise<FileSnapshot> {
  const { queue, hold, release, stored, turn } = openHeldQueue();
  await queue.push((tx) => {
    for (let at = 0; at < 1_000; at += 1) tx.put(numbers, at * 2, Uint8Array.of(1));
  });
  hold();
  const first = queue.push(before);
  await turn();
  const second = queue.push(change);
  await turn();
  release();
  await Promise.all([first, second]);
  expect([...queue.rows]).toEqual([["numbers", [...stored().range(numbers)].length]]);
  return stored();
}

describe("a walk in a change", () => {
  it("goes over rows that were removed and not stored yet, however many, and meets those that came, from both ends", async () => {
    for (const reverse of [false, true]) {
      let seen: number[] = [];
      const stored = await upon(
        (tx) => {
          for (let at = 100; at < 900; at += 1) tx.delete(numbers, at * 2);
          for (const at of [1, 1_501, 1_999, 9_999]) tx.put(numbers, at, Uint8Array.of(2));
        },
        (tx) => void (seen = Array.from(tx.range(numbers, { reverse }), ([at]) => at)),
      );
      const expected = [
        0,
        1,
        ...Array.from({ length: 99 }, (_, at) => 2 + at * 2),
        1_501,
        ...Array.from({ length: 100 }, (_, at) => 1_800 + at * 2),
        1_999,
        9_999,
      ];
      expect(seen).toEqual(reverse ? expected.toReversed() : expected);
      expect(Array.from(stored.range(numbers), ([at]) => at)).toEqual(expected);
    }
  });

  it("may write what it walks over, and stops at its limit", async () => {
    const stored = await upon(
      (tx) => tx.delete(numbers, 0),
      (tx) => {
        for (const [at] of tx.range(numbers, { limit: 700 })) {
          tx.delete(numbers, at);
          tx.put(numbers, at + 1, Uint8Array.of(3));
          if (at % 6 === 0) tx.delete(numbers, at + 2);
        }
      },
    );
    expect([...stored.range(numbers, { limit: 3 })].map(([at]) => at)).toEqual([3, 5, 7]);
  });
});

describe("a value that is not stored yet", () => {
  it("is given as a copy: who changes it changes no row", async () => {
    const { queue, hold, release, turn } = openHeldQueue();
    hold();
    const first = queue.push((tx) => tx.put(sealedViews, "a", Uint8Array.of(5)));
    await turn();
    const second = queue.push((tx) => {
      tx.get(sealedViews, "a")?.fill(9);
      for (const [, value] of tx.range(sealedViews)) value.fill(9);
      return [tx.get(sealedViews, "a"), [...tx.range(sealedViews)]];
    });
    await turn();
    release();
    expect(await second).toEqual([Uint8Array.of(5), [["a", Uint8Array.of(5)]]]);
    await first;
  });

  it("is given to nobody once its table is sealed", async () => {
    const { queue, ring, hold, release, turn } = openHeldQueue();
    hold();
    const first = queue.push((tx) => tx.put(sealedViews, "a", Uint8Array.of(5)));
    await turn();
    ring.seal();
    const reads = [
      queue.push((tx) => tx.get(sealedViews, "a")),
      queue.push((tx) => [...tx.range(sealedViews)]),
    ];
    const refused = reads.map((read) => expect(read).rejects.toMatchObject({ code: "sealed" }));
    release();
    await Promise.all([first, ...refused]);
  });
});
