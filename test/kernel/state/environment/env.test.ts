import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import type { Snapshot, Tx } from "../../../../src/kernel/state/types.ts";
import { defineTable } from "../../../../src/kernel/state/table.ts";
import { numberKey, stringKey } from "../../../../src/kernel/state/keys.ts";
import { bytesCodec } from "../../../../src/kernel/state/values.ts";
import { allTables, numbers, openEnv, pairs, people, temporaryFolder } from "../fixtures/tables.ts";

const ada = { name: "Ada", age: 36, tags: ["maths", "engines"] };
const bob = { name: "Bob", age: 20, tags: ["maths"] };

function codeOf(error: unknown): string {
  return error instanceof StewardError ? error.code : `not ours: ${String(error)}`;
}

describe("an environment", () => {
  it("gives back after a reopen what was written", async () => {
    const directory = temporaryFolder();
    const env = await openEnv(directory);
    await env.write((tx) => {
      tx.put(people, "a", ada);
      tx.put(pairs, ["x", 7], Uint8Array.of(1, 2));
    });
    await env.close();
    const again = await openEnv(directory);
    expect(again.read((snapshot) => snapshot.get(people, "a"))).toEqual(ada);
    expect(again.read((snapshot) => [...snapshot.range(pairs)])).toEqual([
      [["x", 7], Uint8Array.of(1, 2)],
    ]);
    expect(again.status()).toMatchObject({
      rows: { people: 1, numbers: 0, pairs: 1 },
      healthy: true,
      queuedWrites: 0,
    });
  });

  it("stores nothing of a change that throws and everything of its neighbours", async () => {
    const env = await openEnv(temporaryFolder());
    const own = new Error("my own");
    const results = await Promise.allSettled([
      env.write((tx) => tx.put(people, "a", ada)),
      env.write((tx) => {
        tx.put(people, "b", bob);
        tx.delete(people, "a");
        throw own;
      }),
      env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1))),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((results[1] as PromiseRejectedResult).reason).toBe(own);
    expect(
      env.read((snapshot) => [
        [...snapshot.range(people)],
        snapshot.count(people),
        snapshot.find(people, "name", ["Bob"]),
      ]),
    ).toEqual([[["a", ada]], 1, []]);
    expect(env.status().rows).toEqual({ people: 1, numbers: 1, pairs: 0 });
  });

  it("refuses a change that caught the refusal of one of its own puts", async () => {
    const env = await openEnv(temporaryFolder());
    const change = env.write((tx) => {
      tx.put(numbers, 1, Uint8Array.of(1));
      try {
        tx.put(numbers, -1, Uint8Array.of(1));
      } catch {
        // the point of this test
      }
    });
    await expect(change).rejects.toMatchObject({ code: "invalid" });
    expect(env.read((snapshot) => snapshot.count(numbers))).toBe(0);
  });

  it("keeps indexes with their rows through puts over a row and deletions", async () => {
    const env = await openEnv(temporaryFolder());
    await env.write((tx) => {
      tx.put(people, "a", ada);
      tx.put(people, "b", bob);
    });
    expect(
      env.read((snapshot) => [
        snapshot.find(people, "tag", ["maths"]),
        snapshot.find(people, "tag", ["maths", 36]),
      ]),
    ).toEqual([["b", "a"], ["a"]]);
    await env.write((tx) => tx.put(people, "a", { ...ada, tags: ["engines"] }));
    expect(env.read((snapshot) => snapshot.find(people, "tag", ["maths"]))).toEqual(["b"]);
    await env.write((tx) => expect(tx.delete(people, "a")).toBe(true));
    await env.write((tx) => expect(tx.delete(people, "a")).toBe(false));
    expect(
      env.read((snapshot) => [
        snapshot.find(people, "tag", ["engines"]),
        snapshot.find(people, "name", ["Ada"]),
        snapshot.count(people),
      ]),
    ).toEqual([[], [], 1]);
  });

  it("refuses a second row with a unique index key, and takes the key over within one change", async () => {
    const env = await openEnv(temporaryFolder());
    await env.write((tx) => tx.put(people, "a", ada));
    await expect(
      env.write((tx) => tx.put(people, "b", { ...bob, name: "Ada" })),
    ).rejects.toMatchObject({ code: "conflict", field: "name" });
    await env.write((tx) => {
      tx.delete(people, "a");
      tx.put(people, "b", { ...bob, name: "Ada" });
    });
    expect(env.read((snapshot) => snapshot.find(people, "name", ["Ada"]))).toEqual(["b"]);
  });

  it("sees its own writes in a change and only stored ones in a read", async () => {
    const env = await openEnv(temporaryFolder());
    const seen = await env.write((tx) => {
      tx.put(people, "a", ada);
      return [
        tx.get(people, "a"),
        tx.count(people),
        [...tx.range(people)].length,
        tx.find(people, "name", ["Ada"]),
      ];
    });
    expect(seen).toEqual([ada, 1, 1, ["a"]]);
    await expect(
      env.write(() => env.read((snapshot) => snapshot.count(people))),
    ).rejects.toMatchObject({ code: "internal" });
  });

  it("refuses every use of a snapshot or transaction after its end", async () => {
    const env = await openEnv(temporaryFolder());
    let tx: Tx | undefined;
    await env.write((given) => {
      tx = given;
      given.put(people, "a", ada);
    });
    const rows = env.read((snapshot) => snapshot.range(people)[Symbol.iterator]());
    expect(() => rows.next()).toThrow("a snapshot is used only while");
    expect(() => tx?.get(people, "a")).toThrow("a snapshot is used only while");
    await expect(env.write(async () => {})).rejects.toThrow("a change is synchronous");
  });

  it("runs effects after their write in commit order, none of a failed change, and survives one that throws", async () => {
    const env = await openEnv(temporaryFolder());
    const effects: string[] = [];
    const results = await Promise.allSettled([
      env.write((tx) => tx.after(() => effects.push("first"))),
      env.write((tx) => {
        tx.after(() => effects.push("never"));
        throw new Error("no");
      }),
      env.write((tx) => {
        tx.after(() => {
          throw new Error("an effect");
        });
        tx.after(() => effects.push("second"));
      }),
      env.write((tx) => {
        tx.put(people, "a", ada);
        tx.after(() =>
          effects.push(`third sees ${env.read((snapshot) => snapshot.count(people))}`),
        );
      }),
    ]);
    expect(results.map((result) => result.status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(effects).toEqual(["first", "second", "third sees 1"]);
  });

  it("reads a consistent snapshot while writes go on", async () => {
    const env = await openEnv(temporaryFolder());
    const writers = Array.from({ length: 50 }, (_, at) =>
      env.write((tx) => {
        tx.put(numbers, at, Uint8Array.of(1));
        tx.put(pairs, ["n", at], Uint8Array.of(1));
      }),
    );
    const look = (snapshot: Snapshot): number =>
      [...snapshot.range(numbers)].length -
      [...snapshot.range(pairs)].length +
      snapshot.count(numbers) -
      snapshot.count(pairs);
    for (const write of writers) {
      expect(env.read(look)).toBe(0);
      await write;
    }
  });

  it("takes a larger change where a table of it declares one, and refuses that, too, beyond", async () => {
    const large = defineTable({
      name: "large",
      key: numberKey,
      value: bytesCodec,
      limit: { rows: 10, changeBytes: 3 * 2 ** 20 },
    });
    const env = await openEnv(temporaryFolder(), { tables: [large, numbers] });
    const put = (bytes: number) => (tx: Tx) => tx.put(large, 1, new Uint8Array(bytes));
    await env.write(put(2 * 2 ** 20));
    expect(env.read((snapshot) => snapshot.get(large, 1)?.length)).toBe(2 * 2 ** 20);
    await expect(env.write(put(3 * 2 ** 20))).rejects.toMatchObject({ code: "too_large" });
  });

  it("refuses a change of more than a mebibyte and a table over its limit of rows", async () => {
    const env = await openEnv(temporaryFolder());
    await expect(
      env.write((tx) => tx.put(numbers, 1, new Uint8Array(2 ** 20 + 1))),
    ).rejects.toMatchObject({ code: "too_large" });
    await env.write((tx) => tx.put(numbers, 1, new Uint8Array(2 ** 20 - 100)));
    for (let row = 0; row < 100; row += 1)
      await env.write((tx) => tx.put(pairs, ["n", row], Uint8Array.of(1)));
    await expect(
      env.write((tx) => tx.put(pairs, ["n", 100], Uint8Array.of(1))),
    ).rejects.toMatchObject({ code: "disk_full", rule: "limit.rows" });
    await env.write((tx) => tx.put(pairs, ["n", 0], Uint8Array.of(2)));
  });

  it("refuses puts of a table that has its bytes, while others take them, until rows are deleted", async () => {
    const bounded = defineTable({
      name: "bounded",
      key: numberKey,
      value: bytesCodec,
      limit: { rows: 1_000, bytes: 2 ** 20 },
    });
    const env = await openEnv(temporaryFolder(), { tables: [bounded, numbers] });
    let stored = 0;
    const fill = async (): Promise<void> => {
      for (; stored < 1_000; stored += 1)
        await env.write((tx) => tx.put(bounded, stored, new Uint8Array(30_000)));
    };
    await expect(fill()).rejects.toMatchObject({ code: "disk_full", rule: "limit.bytes" });
    expect(stored * 30_000).toBeGreaterThan(900_000);
    expect(stored * 30_000).toBeLessThan(1_100_000);
    await env.write((tx) => tx.put(numbers, 1, new Uint8Array(30_000)));
    await env.write((tx) => [0, 1].forEach((row) => tx.delete(bounded, row)));
    await env.write((tx) => tx.put(bounded, 0, new Uint8Array(30_000)));
  });

  it("answers disk_full at its ceiling, goes on reading, and takes writes again after deletions", async () => {
    const env = await openEnv(temporaryFolder(), { maxBytes: 4 * 2 ** 20 });
    const value = new Uint8Array(100_000).fill(7);
    let stored = 0;
    const failure: unknown = await (async () => {
      for (; stored < 100; stored += 1) await env.write((tx) => tx.put(numbers, stored, value));
    })().catch((error: unknown) => error);
    expect(codeOf(failure)).toBe("disk_full");
    expect(env.status().bytes).toBeLessThan(5 * 2 ** 20);
    expect(env.read((snapshot) => snapshot.get(numbers, stored - 1))).toEqual(value);
    await env.write((tx) => {
      for (let row = 0; row < stored - 5; row += 1) tx.delete(numbers, row);
    });
    await vi.waitFor(() => env.write((tx) => tx.put(numbers, 1_000, value)), { timeout: 60_000 });
  });

  it("refuses writes and reads once closed, after storing what was queued", async () => {
    const directory = temporaryFolder();
    const env = await openEnv(directory);
    const queued = Array.from({ length: 200 }, (_, row) =>
      env.write((tx) => tx.put(numbers, row, Uint8Array.of(1))),
    );
    const closed = env.close();
    await expect(env.write((tx) => tx.put(numbers, 999, Uint8Array.of(1)))).rejects.toMatchObject({
      code: "not_ready",
    });
    expect(() => env.read(() => 1)).toThrow("is closed");
    await Promise.all(queued);
    await closed;
    expect((await openEnv(directory)).status().rows["numbers"]).toBe(200);
  });
});

describe("ranges", () => {
  it("honours start, end, prefix, limit and direction, and may be left early or changed meanwhile", async () => {
    const env = await openEnv(temporaryFolder());
    await env.write((tx) => {
      for (let row = 0; row < 1_000; row += 1) tx.put(numbers, row, Uint8Array.of(row % 256));
      for (const name of ["a", "ab", "b"])
        for (let row = 0; row < 3; row += 1) tx.put(pairs, [name, row], Uint8Array.of(row));
    });
    const keys = (bounds: Parameters<Snapshot["range"]>[1]): number[] =>
      env.read((snapshot) => Array.from(snapshot.range(numbers, bounds), ([key]) => key));
    expect(keys({ start: [5], end: [8] })).toEqual([5, 6, 7]);
    expect(keys({ start: [5], end: [8], reverse: true })).toEqual([7, 6, 5]);
    expect(keys({ start: [5], end: [8], reverse: true, limit: 2 })).toEqual([7, 6]);
    expect(keys({ reverse: true, limit: 3 })).toEqual([999, 998, 997]);
    expect(keys({ reverse: true })).toEqual(Array.from({ length: 1_000 }, (_, row) => 999 - row));
    expect(keys({ start: [8], end: [5] })).toEqual([]);
    expect(keys({ start: [997] })).toEqual([997, 998, 999]);
    expect(keys({ limit: 0 })).toEqual([]);
    expect(
      env.read((snapshot) => Array.from(snapshot.range(pairs, { prefix: ["a"] }), ([key]) => key)),
    ).toEqual([
      ["a", 0],
      ["a", 1],
      ["a", 2],
    ]);
    expect(
      env.read((snapshot) =>
        Array.from(snapshot.range(pairs, { prefix: ["ab"], reverse: true }), ([key]) => key),
      ),
    ).toEqual([
      ["ab", 2],
      ["ab", 1],
      ["ab", 0],
    ]);
    expect(
      env.read((snapshot) => {
        for (const [key] of snapshot.range(numbers)) if (key === 3) return key;
        return undefined;
      }),
    ).toBe(3);
    await env.write((tx) => {
      for (const [key] of tx.range(numbers)) if (key % 2 === 1) tx.delete(numbers, key);
    });
    expect(keys({ start: [0], end: [6] })).toEqual([0, 2, 4]);
  });
});

describe("scan", () => {
  it("never takes a change that is being stored for damage", async () => {
    const env = await openEnv(temporaryFolder());
    for (let row = 0; row < 300; row++) {
      const stored = env.write((tx) => tx.put(numbers, row, Uint8Array.of(1)));
      // From every moment of the store, as far as the loop's turns divide it.
      for (let turn = 0; turn < row % 5; turn++) await setImmediate();
      await Promise.all([
        stored,
        env.scan(numbers, () => {}, { sliceMs: 1, signal: new AbortController().signal }),
      ]);
    }
    expect(env.status().healthy).toBe(true);
  });

  it("walks every row once in order, in slices, and lets other work run between them", async () => {
    const env = await openEnv(temporaryFolder());
    await env.write((tx) => {
      for (let row = 0; row < 2_000; row += 1) tx.put(numbers, row, new Uint8Array(100));
    });
    const seen: number[] = [];
    let slices = 0;
    await env.scan(
      numbers,
      async (batch) => {
        slices += 1;
        seen.push(...batch.map(([key]) => key));
        await env.write((tx) => tx.delete(numbers, 1_999 - slices)); // each slice has its own snapshot
      },
      { sliceMs: 5, signal: new AbortController().signal },
    );
    expect(slices).toBeGreaterThan(4);
    expect(seen).toEqual(
      Array.from({ length: 2_000 }, (_, row) => row).filter((row) => seen.includes(row)),
    );
    expect(seen.length).toBeGreaterThan(1_950);
    const last: number[] = [];
    await env.scan(numbers, (batch) => void last.push(...batch.map(([key]) => key)), {
      sliceMs: 5,
      signal: new AbortController().signal,
      bounds: { reverse: true, start: [2], limit: 300 },
    });
    expect(last).toEqual([...last].sort((left, right) => right - left));
    expect(last.length).toBe(300);
  });

  it("stops with the signal's reason", async () => {
    const env = await openEnv(temporaryFolder());
    await env.write((tx) => {
      for (let row = 0; row < 1_000; row += 1) tx.put(numbers, row, Uint8Array.of(1));
    });
    const stop = new AbortController();
    const reason = new StewardError("cancelled", "enough");
    await expect(
      env.scan(numbers, () => stop.abort(reason), { sliceMs: 5, signal: stop.signal }),
    ).rejects.toBe(reason);
  });
});

describe("the shape of a store", () => {
  it("refuses a newer and an older schema, naming both numbers", async () => {
    const directory = temporaryFolder();
    await (await openEnv(directory, { schema: 2 })).close();
    await expect(openEnv(directory, { schema: 1 })).rejects.toThrow(/schema 2 .* reads schema 1/);
    await expect(openEnv(directory, { schema: 3 })).rejects.toMatchObject({
      code: "unsupported",
      rule: "schema",
    });
    await (await openEnv(directory, { schema: 2 })).close();
  });

  it("makes a derived store of another schema anew", async () => {
    const directory = temporaryFolder();
    const env = await openEnv(directory, { schema: 2, derived: true });
    await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
    await env.close();
    expect((await openEnv(directory, { schema: 1, derived: true })).status().rows["numbers"]).toBe(
      0,
    );
  });

  it("takes a new table, and refuses an index that its rows were written without", async () => {
    const directory = temporaryFolder();
    const plain = defineTable({
      name: "plain",
      key: stringKey,
      value: bytesCodec,
      limit: { rows: 10 },
    });
    const env = await openEnv(directory, { tables: [plain] });
    await env.write((tx) => tx.put(plain, "a", Uint8Array.of(1)));
    await env.close();
    await (await openEnv(directory, { tables: [plain, ...allTables] })).close();
    const indexed = defineTable({
      name: "plain",
      key: stringKey,
      value: bytesCodec,
      limit: { rows: 10 },
      indexes: [{ name: "size", unique: false, of: (row) => [[row.length]] }],
    });
    await expect(openEnv(directory, { tables: [indexed] })).rejects.toThrow(
      "written without its index size",
    );
  });
});
