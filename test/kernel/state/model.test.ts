import { setImmediate } from "node:timers/promises";
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  option,
  record,
  string,
} from "fast-check";
import type { Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import type { Bounds, Env, KeyPart, Table } from "../../../src/kernel/state/types.ts";
import { tupleKey } from "../../../src/kernel/state/keys.ts";
import { defineTable } from "../../../src/kernel/state/table.ts";
import { jsonCodec, openEnv, temporaryFolder } from "./fixtures/tables.ts";

type Key = readonly [string, number];
interface Row {
  readonly owner: string;
  readonly size: number;
}

const owned: Table<Key, Row> = defineTable({
  name: "owned",
  key: tupleKey<Key>(),
  value: jsonCodec<Row>(),
  limit: { rows: 60 },
  indexes: [
    { name: "owner", unique: true, of: (row) => (row.owner === "" ? [] : [[row.owner]]) },
    { name: "size", unique: false, of: (row) => [[row.size], [row.size]] },
  ],
});

type Step =
  | { readonly kind: "put"; readonly key: Key; readonly row: Row }
  | { readonly kind: "delete"; readonly key: Key }
  | {
      readonly kind: "fail";
      readonly writes: readonly { readonly key: Key; readonly row: Row | undefined }[];
    }
  | { readonly kind: "reopen" }
  | { readonly kind: "range"; readonly bounds: Bounds };

const key: Arbitrary<Key> = record({
  text: constantFrom("", "a", "a\0", "a\0b", "ab", "é", "\u{1f600}", "\uffff"),
  number: constantFrom(0, 1, 255, 256, 2 ** 48, Number.MAX_SAFE_INTEGER),
}).map(({ text, number }) => [text, number] as const);
const row: Arbitrary<Row> = record({
  owner: constantFrom("", "x", "y", "z"),
  size: integer({ min: 0, max: 3 }),
});
const parts: Arbitrary<readonly KeyPart[]> = oneof(
  key,
  key.map(([text]) => [text]),
);
const bounds: Arbitrary<Bounds> = record(
  {
    start: parts,
    end: parts,
    prefix: parts,
    reverse: boolean(),
    limit: integer({ min: 0, max: 9 }),
  },
  { requiredKeys: [] },
);
const step: Arbitrary<Step> = oneof(
  { weight: 6, arbitrary: record({ kind: constant("put" as const), key, row }) },
  { weight: 2, arbitrary: record({ kind: constant("delete" as const), key }) },
  {
    weight: 2,
    arbitrary: record({
      kind: constant("fail" as const),
      writes: array(record({ key, row: option(row, { nil: undefined }) }), {
        minLength: 1,
        maxLength: 8,
      }),
    }),
  },
  { weight: 2, arbitrary: record({ kind: constant("range" as const), bounds }) },
  { weight: 1, arbitrary: constant({ kind: "reopen" as const }) },
);

/** Numbers before strings, strings by code point, shorter before longer. */
function compareParts(left: readonly KeyPart[], right: readonly KeyPart[]): number {
  for (const [at, part] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    const order =
      typeof part === "number" && typeof other === "number"
        ? part - other
        : Buffer.compare(Buffer.from(String(part)), Buffer.from(String(other)));
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** What a store must say, kept in the plainest way. */
class Model {
  readonly rows = new Map<string, { readonly key: Key; readonly row: Row }>();

  sorted(): { readonly key: Key; readonly row: Row }[] {
    return [...this.rows.values()].sort((left, right) => compareParts(left.key, right.key));
  }

  put(key: Key, row: Row): boolean {
    const id = JSON.stringify(key);
    const taken =
      row.owner !== "" &&
      [...this.rows].some(([other, held]) => other !== id && held.row.owner === row.owner);
    if (!taken) this.rows.set(id, { key, row });
    return !taken;
  }

  range({ start, end, prefix, reverse, limit }: Bounds): Key[] {
    const inside = this.sorted()
      .map((entry) => entry.key)
      .filter(
        (key) =>
          (start === undefined || compareParts(key, start) >= 0) &&
          (end === undefined || compareParts(key, end) < 0) &&
          (prefix === undefined || prefix.every((part, at) => key[at] === part)),
      );
    return (reverse === true ? inside.toReversed() : inside).slice(0, limit);
  }
}

function same(env: Env, model: Model): void {
  env.read((snapshot) => {
    expect([...snapshot.range(owned)]).toEqual(model.sorted().map(({ key, row }) => [key, row]));
    expect(snapshot.count(owned)).toBe(model.rows.size);
    for (const owner of ["x", "y", "z"])
      expect(snapshot.find(owned, "owner", [owner])).toEqual(
        model
          .sorted()
          .filter(({ row }) => row.owner === owner)
          .map(({ key }) => key),
      );
    for (const size of [0, 1, 2, 3])
      expect(snapshot.find(owned, "size", [size])).toEqual(
        model
          .sorted()
          .filter(({ row }) => row.size === size)
          .map(({ key }) => key),
      );
  });
}

describe("tables", () => {
  it("behave like a sorted map with indexes, over any steps and reopens", async () => {
    await assert(
      asyncProperty(array(step, { maxLength: 40 }), async (steps) => {
        const directory = temporaryFolder();
        const model = new Model();
        let env = await openEnv(directory, { tables: [owned] });
        for (const one of steps) {
          if (one.kind === "put") {
            const stored = await env
              .write((tx) => tx.put(owned, one.key, one.row))
              .then(
                () => true,
                (error: unknown) => (error as { code: string }).code,
              );
            expect(stored).toBe(model.put(one.key, one.row) ? true : "conflict");
          } else if (one.kind === "delete") {
            expect(await env.write((tx) => tx.delete(owned, one.key))).toBe(
              model.rows.delete(JSON.stringify(one.key)),
            );
          } else if (one.kind === "fail") {
            // In one transaction with the change behind it.
            const failed = expect(
              env.write((tx) => {
                for (const { key, row } of one.writes) {
                  if (row === undefined) tx.delete(owned, key);
                  else tx.put(owned, key, row);
                }
                throw new Error("no");
              }),
            ).rejects.toThrow();
            await Promise.all([failed, env.write(() => undefined)]);
          } else if (one.kind === "range") {
            expect(
              env.read((snapshot) => Array.from(snapshot.range(owned, one.bounds), ([key]) => key)),
            ).toEqual(model.range(one.bounds));
            expect(env.read((snapshot) => [...snapshot.keys(owned, one.bounds)])).toEqual(
              model.range(one.bounds),
            );
          } else {
            await env.close();
            env = await openEnv(directory, { tables: [owned] });
          }
          same(env, model);
        }
        await env.close();
      }),
      { numRuns: 40 },
    );
  });
});

describe("changes that are not waited for", () => {
  it("see what those before them wrote, stored or not, and end as if each had been waited for", async () => {
    const pause = constantFrom("none" as const, "turn" as const, "stored" as const);
    await assert(
      asyncProperty(array(record({ step, pause }), { maxLength: 60 }), async (steps) => {
        const model = new Model();
        const env = await openEnv(temporaryFolder(), { tables: [owned] });
        const under: Promise<unknown>[] = [];
        for (const { step: one, pause: after } of steps) {
          const work = env
            .write((tx) => {
              const bounds =
                one.kind === "range" ? one.bounds : { reverse: model.rows.size % 2 === 1 };
              expect(Array.from(tx.range(owned, bounds), ([key]) => key)).toEqual(
                model.range(bounds),
              );
              expect([...tx.keys(owned, bounds)]).toEqual(model.range(bounds));
              expect(tx.count(owned)).toBe(model.rows.size);
              for (const owner of ["x", "y", "z"])
                expect(tx.find(owned, "owner", [owner])).toEqual(
                  model
                    .sorted()
                    .filter(({ row }) => row.owner === owner)
                    .map(({ key }) => key),
                );
              if (one.kind === "delete")
                expect(tx.delete(owned, one.key)).toBe(model.rows.delete(JSON.stringify(one.key)));
              else if (one.kind === "put") {
                const fits = model.put(one.key, one.row);
                if (!fits)
                  expect(() => tx.put(owned, one.key, one.row)).toThrow("already has this owner");
                else tx.put(owned, one.key, one.row);
                if (fits) expect(tx.get(owned, one.key)).toEqual(one.row);
              } else if (one.kind === "fail") {
                for (const { key, row } of one.writes) {
                  if (row === undefined) tx.delete(owned, key);
                  else tx.put(owned, key, row);
                }
                throw new Error("taken back");
              }
            })
            .catch((error: unknown) => {
              if (!/taken back|already has this owner/.test(String(error))) throw error;
            });
          under.push(work);
          if (after === "turn") await setImmediate();
          if (after === "stored") await work;
        }
        await Promise.all(under);
        same(env, model);
        await env.close();
      }),
      { numRuns: 60 },
    );
  });
});

it("a prefix takes in its own keys alone, not those of a longer string with a zero where it ends", async () => {
  const env = await openEnv(temporaryFolder(), { tables: [owned] });
  const keys: Key[] = [
    ["a", 0],
    ["a", Number.MAX_SAFE_INTEGER],
    ["a\0", 0],
    ["a\0b", 1],
    ["a\uffff", 0],
    ["ab", 0],
  ];
  await env.write((tx) => {
    for (const key of keys) tx.put(owned, key, { owner: "", size: 0 });
  });
  const under = (prefix: readonly KeyPart[]): Key[] =>
    env.read((snapshot) => Array.from(snapshot.range(owned, { prefix }), ([key]) => key));
  expect([under(["a"]), under(["a\0"]), under([])]).toEqual([
    keys.slice(0, 2),
    [keys[2]],
    [...keys.slice(0, 4), keys[5], keys[4]],
  ]);
  expect(
    env.read((snapshot) =>
      Array.from(snapshot.range(owned, { prefix: ["a"], reverse: true }), ([key]) => key),
    ),
  ).toEqual(keys.slice(0, 2).toReversed());
});

describe("keys", () => {
  it("keep the order of their parts as bytes and come back whole", async () => {
    const { decodeKey, encodeKey } = await import("../../../src/kernel/state/codec/key-bytes.ts");
    const part = oneof(
      string({ unit: "binary", maxLength: 20 }).filter((text) => text.isWellFormed()),
      integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    );
    await assert(
      asyncProperty(
        array(part, { maxLength: 4 }),
        array(part, { maxLength: 4 }),
        async (left, right) => {
          expect(decodeKey(encodeKey(left))).toEqual(left);
          if (left.every((one, at) => right[at] === undefined || typeof one === typeof right[at])) {
            expect(Math.sign(Buffer.compare(encodeKey(left), encodeKey(right)))).toBe(
              Math.sign(compareParts(left, right)),
            );
          }
          return Promise.resolve();
        },
      ),
    );
  });

  it("refuse what has no place in a key", async () => {
    const { encodeKey } = await import("../../../src/kernel/state/codec/key-bytes.ts");
    for (const bad of [
      [-1],
      [1.5],
      [2 ** 53],
      ["\ud800"],
      ["x".repeat(1_501)],
      ["x".repeat(1_000), "y".repeat(1_000)],
    ])
      expect(() => encodeKey(bad)).toThrow("not a key");
  });
});
