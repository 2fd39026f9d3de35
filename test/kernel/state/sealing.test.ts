import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createKeyRing, RETIRE_WRITES } from "../../../src/kernel/state/codec/key-ring.ts";
import type { KeyRing } from "../../../src/kernel/state/codec/key-ring.ts";
import { stringKey } from "../../../src/kernel/state/keys.ts";
import { defineTable } from "../../../src/kernel/state/table.ts";
import type { Env, Keyring, Table, Tx } from "../../../src/kernel/state/types.ts";
import { numbers, openEnv, temporaryFolder, jsonCodec } from "./fixtures/tables.ts";

const secrets: Table<string, string> = defineTable({
  name: "secrets",
  key: stringKey,
  value: jsonCodec<string>(),
  limit: { rows: 1_000 },
  sealed: true,
  indexes: [{ name: "length", unique: false, of: (row) => [[row.length]] }],
});
const root = Buffer.alloc(32, 7);
const CANARY = "canary-4711-canary";

async function openSealed(directory: string): Promise<Env & { keyring: Keyring }> {
  const env = await openEnv(directory, { tables: [secrets, numbers] });
  const { keyring } = env;
  if (keyring === undefined) throw new Error("a sealed table gives a keyring");
  return env as Env & { keyring: Keyring };
}

describe("a sealed table", () => {
  it("can be neither read nor written before it is unsealed, while other tables can and its rows are counted", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await expect(env.write((tx) => tx.put(secrets, "a", CANARY))).rejects.toMatchObject({
      code: "sealed",
      remedy: "unseal it with its root key",
    });
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "a", CANARY));
    expect(
      env.read((snapshot) => [
        snapshot.get(secrets, "a"),
        [...snapshot.range(secrets)],
        [...snapshot.keys(secrets)],
        snapshot.find(secrets, "length", [CANARY.length]),
      ]),
    ).toEqual([CANARY, [["a", CANARY]], ["a"], ["a"]]);
    env.keyring.seal();
    for (const use of [
      () => env.read((snapshot) => snapshot.get(secrets, "a")),
      () => env.read((snapshot) => [...snapshot.range(secrets)]),
      () => env.read((snapshot) => [...snapshot.keys(secrets)]),
    ])
      expect(use).toThrow(expect.objectContaining({ code: "sealed" }));
    await expect(env.write((tx) => tx.delete(secrets, "a"))).rejects.toMatchObject({
      code: "sealed",
    });
    expect(env.read((snapshot) => snapshot.count(secrets))).toBe(1);
    await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
    expect(env.status().healthy).toBe(true);
  });

  it("survives a reopen, is sealed then, and refuses another root key and one of another length", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "a", CANARY));
    await env.close();
    const again = await openSealed(directory);
    expect(again.keyring.status()).toMatchObject({ sealed: true });
    await expect(again.keyring.unseal(Buffer.alloc(32, 8))).rejects.toMatchObject({
      code: "denied",
    });
    await expect(again.keyring.unseal(Buffer.alloc(31, 7))).rejects.toMatchObject({
      code: "invalid",
    });
    expect(again.keyring.status().sealed).toBe(true);
    await again.keyring.unseal(root);
    expect(again.read((snapshot) => snapshot.get(secrets, "a"))).toBe(CANARY);
    await expect(again.keyring.unseal(Buffer.alloc(32, 8))).rejects.toMatchObject({
      code: "denied",
    });
    expect(again.read((snapshot) => snapshot.get(secrets, "a"))).toBe(CANARY);
  });

  it("leaves neither a value nor the root key on the disk or in a backup, and the backup opens with the root key", async () => {
    const directory = temporaryFolder();
    const random = randomBytes(32);
    const env = await openSealed(directory);
    await env.keyring.unseal(random);
    await env.write((tx) => tx.put(secrets, "a", CANARY));
    const target = temporaryFolder();
    await env.backup(target, new AbortController().signal);
    await env.close();
    for (const folder of [directory, target]) {
      const bytes = readFileSync(join(folder, "test.mdb"));
      expect([
        bytes.includes(CANARY),
        bytes.includes(random),
        bytes.includes(random.toString("base64")),
      ]).toEqual([false, false, false]);
    }
    const restored = await openSealed(target);
    await restored.keyring.unseal(random);
    expect(restored.read((snapshot) => snapshot.get(secrets, "a"))).toBe(CANARY);
  });

  it("reads older rows after a rotation and counts what the new key encrypts, rounded up over a restart", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "old", "by the first key"));
    expect(env.keyring.status()).toMatchObject({ keys: 1, writes: 1 });
    await Promise.all([env.keyring.rotate(), env.keyring.rotate()]);
    const { keys } = env.keyring.status();
    expect(keys).toBeGreaterThanOrEqual(2);
    await env.write((tx) => tx.put(secrets, "new", "by the last key"));
    expect(env.keyring.status().writes).toBe(1);
    await env.close();
    const again = await openSealed(directory);
    await again.keyring.unseal(root);
    expect(
      again.read((snapshot) => [snapshot.get(secrets, "old"), snapshot.get(secrets, "new")]),
    ).toEqual(["by the first key", "by the last key"]);
    expect(again.keyring.status().keys).toBe(keys);
    expect(again.keyring.status().writes).toBeGreaterThanOrEqual(1);
    again.keyring.seal();
    await expect(again.keyring.rotate()).rejects.toMatchObject({ code: "sealed" });
  });

  it("opens by its new root key alone once that replaced the one before, with all rows and data keys, in any company of rotations", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "old", CANARY));
    const given = Uint8Array.from(randomBytes(32));
    const next = Uint8Array.from(given);
    await Promise.all([
      env.keyring.rotate(),
      env.keyring.replaceRootKey(given),
      env.keyring.rotate(),
    ]);
    given.fill(0); // the caller's copy is the caller's
    await env.write((tx) => tx.put(secrets, "new", CANARY));
    expect(env.keyring.status()).toMatchObject({ sealed: false, keys: 4, writes: 1 });
    await env.close();
    const again = await openSealed(directory);
    await expect(again.keyring.unseal(root)).rejects.toMatchObject({ code: "denied" });
    await again.keyring.unseal(next);
    expect(
      again.read((snapshot) => [snapshot.get(secrets, "old"), snapshot.get(secrets, "new")]),
    ).toEqual([CANARY, CANARY]);
  });

  it("without an index, too, takes neither a put over a row nor its deletion while it is sealed", async () => {
    const plain: Table<string, string> = defineTable({
      name: "bare",
      key: stringKey,
      value: jsonCodec<string>(),
      limit: { rows: 10 },
      sealed: true,
    });
    const env = await openEnv(temporaryFolder(), { tables: [plain] });
    await env.keyring?.unseal(root);
    await env.write((tx) => tx.put(plain, "a", CANARY));
    await env.write((tx) => tx.put(plain, "a", CANARY));
    env.keyring?.seal();
    for (const change of [
      (tx: Tx) => void tx.delete(plain, "a"),
      (tx: Tx) => void tx.delete(plain, "missing"),
      (tx: Tx) => tx.put(plain, "a", "b"),
    ])
      await expect(env.write(change)).rejects.toMatchObject({ code: "sealed" });
    await env.keyring?.unseal(root);
    expect(env.read((snapshot) => [snapshot.get(plain, "a"), snapshot.count(plain)])).toEqual([
      CANARY,
      1,
    ]);
    expect(
      await env.write((tx) => [
        tx.delete(plain, "missing"),
        tx.delete(plain, "a"),
        tx.delete(plain, "a"),
        tx.count(plain),
      ]),
    ).toEqual([false, true, false, 0]);
  });

  it("never encrypts twice with the same nonce", () => {
    const ring = openRing();
    const seen = new Set(
      Array.from({ length: 2_000 }, () =>
        Buffer.from(ring.encrypt("t", Buffer.from("k"), Buffer.from("v")).subarray(4, 16)).toString(
          "hex",
        ),
      ),
    );
    expect(seen.size).toBe(2_000);
  });

  it("keeps its root key when the replacement fails, is refused or finds it sealed, and stays sealed when it is sealed meanwhile", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await expect(env.keyring.replaceRootKey(root)).rejects.toMatchObject({ code: "sealed" });
    await env.keyring.unseal(root);
    await expect(env.keyring.replaceRootKey(Buffer.alloc(31))).rejects.toMatchObject({
      code: "invalid",
    });
    await env.write((tx) => tx.put(secrets, "a", CANARY));
    const next = Buffer.alloc(32, 8);
    const wrapping = env.keyring.replaceRootKey(next);
    await env.write((tx) => tx.after(() => env.keyring.seal()));
    const wrapped = await wrapping.then(
      () => true,
      () => false,
    );
    expect(env.keyring.status().sealed).toBe(true);
    await env.keyring.unseal(wrapped ? next : root);
    expect(env.read((snapshot) => snapshot.get(secrets, "a"))).toBe(CANARY);
  });

  it("calls a value damaged that was encrypted for another row, though its check word fits", async () => {
    const ring = openRing();
    const sealed = ring.encrypt("t:secrets", Buffer.from("a"), Buffer.from("value"));
    expect(Buffer.from(ring.decrypt("t:secrets", Buffer.from("a"), sealed) ?? []).toString()).toBe(
      "value",
    );
    expect(ring.decrypt("t:secrets", Buffer.from("b"), sealed)).toBeUndefined();
    expect(ring.decrypt("t:others", Buffer.from("a"), sealed)).toBeUndefined();
    const elsewhere = openRing("other");
    expect(elsewhere.decrypt("t:secrets", Buffer.from("a"), sealed)).toBeUndefined();
  });

  it("throws corrupt for a damaged value while it is open", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "a-key-to-find", CANARY));
    const file = join(directory, "test.mdb");
    const bytes = readFileSync(file);
    for (
      let at = bytes.indexOf("a-key-to-find");
      at >= 0;
      at = bytes.indexOf("a-key-to-find", at + 1)
    )
      bytes.writeUInt8((bytes[at + 30] ?? 0) ^ 1, at + 30);
    writeFileSync(file, bytes, { flag: "r+" });
    expect(() => env.read((snapshot) => snapshot.get(secrets, "a-key-to-find"))).toThrow(
      StewardError,
    );
    expect(env.status().healthy).toBe(false);
  });
});

function openRing(name = "test"): KeyRing {
  const ring = createKeyRing(name);
  ring.open(root, undefined, 0);
  ring.fresh(0).adopt();
  return ring;
}

describe("re-encryption", () => {
  const never = new AbortController().signal;
  const wrappedKeys = (directory: string): string[] =>
    readFileSync(join(directory, "test.mdb"), "latin1").match(/"wrapped":"[^"]+"/g) ?? [];

  it("re-encrypts rows that nearly fill a change of their own, each apart from its neighbours", async () => {
    const env = await openSealed(temporaryFolder());
    await env.keyring.unseal(root);
    const sizes = [100_000, 1_040_000, 1_040_000, 100_000, 10];
    for (const [at, size] of sizes.entries())
      await env.write((tx) => tx.put(secrets, `row-${at}`, "x".repeat(size)));
    await env.keyring.rotate();
    expect(await env.keyring.reencrypt(never)).toBe(sizes.length);
    expect(env.keyring.status()).toMatchObject({ keys: 1, term: 2 });
    expect(
      env.read((snapshot) => [...snapshot.range(secrets)].map(([, { length }]) => length)),
    ).toEqual(sizes);
  });

  it("gives each row of an older data key the newest, removes the older ones, and the rows are what they were", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    const rows = Array.from({ length: 300 }, (_, at): [string, string] => [
      `row-${String(at).padStart(3, "0")}`,
      CANARY.repeat(at % 100),
    ]);
    for (const part of [rows.slice(0, 150), rows.slice(150, 290), rows.slice(290)]) {
      await env.write((tx) => part.forEach(([key, value]) => tx.put(secrets, key, value)));
      await env.keyring.rotate();
    }
    expect(env.keyring.status()).toMatchObject({ keys: 4, term: 4, writes: 0 });
    const seen: number[] = [];
    expect(await env.keyring.reencrypt(never, (count) => seen.push(count))).toBe(300);
    expect([seen.at(-1), seen.length > 3]).toEqual([300, true]);
    expect(env.keyring.status()).toMatchObject({ keys: 1, term: 4, writes: 300 });
    expect(await env.keyring.reencrypt(never)).toBe(0);
    const whole = (): unknown =>
      env.read((snapshot) => [
        [...snapshot.range(secrets)],
        snapshot.count(secrets),
        snapshot.find(secrets, "length", [CANARY.length]),
      ]);
    expect(whole()).toEqual([rows, 300, ["row-001", "row-101", "row-201"]]);
    await env.close();
    const again = await openSealed(directory);
    await again.keyring.unseal(root);
    expect(again.keyring.status()).toMatchObject({ keys: 1, term: 4 });
    expect(again.read((snapshot) => [...snapshot.range(secrets)])).toEqual(rows);
  });

  it("leaves nothing behind that was written or deleted meanwhile, in whatever order it reaches the disk", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    const expected = new Map<string, string>();
    const put = (key: string, value: string): Promise<void> => {
      expected.set(key, value);
      return env.write((tx) => tx.put(secrets, key, value));
    };
    await Promise.all(Array.from({ length: 400 }, (_, at) => put(`row-${at}`, `first ${at}`)));
    for (let round = 0; round < 10; round += 1) {
      const writes = [env.keyring.rotate()];
      for (let at = 0; at < 40; at += 1) {
        writes.push(put(`row-${(at * 7 + round) % 500}`, `round ${round}`));
        if (at % 4 === 0) {
          expected.delete(`row-${at * 10}`);
          writes.push(env.write((tx) => void tx.delete(secrets, `row-${at * 10}`)));
        }
        if (at % 10 === 0) await setImmediate();
      }
      const done = env.keyring.rotate().then(() => env.keyring.reencrypt(never));
      writes.push(
        ...Array.from({ length: 40 }, (_, at) => put(`new-${round}-${at}`, "beside it")),
        put("a", `first of all ${round}`),
      );
      await Promise.all([...writes, done]);
      expect(env.keyring.status().keys).toBe(1);
    }
    expect(new Map(env.read((snapshot) => [...snapshot.range(secrets)]))).toEqual(expected);
    await env.close();
    const again = await openSealed(directory);
    await again.keyring.unseal(root);
    expect(new Map(again.read((snapshot) => [...snapshot.range(secrets)]))).toEqual(expected);
  });

  it("waits for a change that was encrypted before the newest key came into use and is not stored yet", async () => {
    const env = await openSealed(temporaryFolder());
    await env.keyring.unseal(root);
    for (let round = 0; round < 30; round += 1) {
      const rotated = env.keyring.rotate();
      await setImmediate(); // its group is on its way to the disk, and the next one forms behind it
      const written = env.write((tx) => tx.put(secrets, "a", `round ${round}`));
      await rotated;
      await Promise.all([written, env.keyring.reencrypt(never)]);
      expect(env.keyring.status().keys).toBe(1);
      expect(env.read((snapshot) => snapshot.get(secrets, "a"))).toBe(`round ${round}`);
    }
  });

  it("ends with its signal and goes on later; a row that cannot be read keeps the older keys", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    await env.write((tx) =>
      Array.from({ length: 200 }, (_, at) => tx.put(secrets, `row-${at}`, CANARY)),
    );
    await env.keyring.rotate();
    const stop = new AbortController();
    await expect(
      env.keyring.reencrypt(stop.signal, () => stop.abort(new StewardError("cancelled", "enough"))),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect(env.keyring.status().keys).toBe(2);
    expect(await env.keyring.reencrypt(never)).toBe(200 - 64);
    await env.keyring.rotate();
    const file = join(directory, "test.mdb");
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf("row-77"); at >= 0; at = bytes.indexOf("row-77", at + 1))
      bytes.writeUInt8((bytes[at + 30] ?? 0) ^ 1, at + 30);
    writeFileSync(file, bytes, { flag: "r+" });
    await expect(env.keyring.reencrypt(never)).rejects.toMatchObject({ code: "corrupt" });
    expect(env.keyring.status().keys).toBe(2);
    env.keyring.seal();
    await expect(env.keyring.reencrypt(never)).rejects.toMatchObject({ code: "sealed" });
  });

  it("after a root key was replaced leaves a compacted copy that the old one opens nothing of", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "a", CANARY));
    const before = wrappedKeys(directory);
    await env.keyring.replaceRootKey(Buffer.alloc(32, 8));
    expect(env.keyring.status()).toMatchObject({ replacing: true, term: 2 });
    await env.keyring.reencrypt(never);
    await env.keyring.settleRootKey();
    const target = temporaryFolder();
    await env.backup(target, never);
    const after = wrappedKeys(target);
    expect([before.length > 0, after.length, after.some((key) => before.includes(key))]).toEqual([
      true,
      1,
      false,
    ]);
  });
});

describe("a further root key", () => {
  const next = Buffer.alloc(32, 8);

  async function offered(): Promise<string> {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "a", CANARY));
    await env.keyring.offerRootKey(next);
    await env.close();
    return directory;
  }

  it("opens beside the current one; by it the environment is replacing until that is settled, and the other is out", async () => {
    const directory = await offered();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    expect(env.keyring.status().replacing).toBe(false);
    await env.keyring.unseal(next);
    expect(env.keyring.status()).toMatchObject({ replacing: true, term: 1 });
    expect(env.read((snapshot) => snapshot.get(secrets, "a"))).toBe(CANARY);
    await env.keyring.replaceRootKey(next);
    await expect(env.keyring.unseal(root)).rejects.toMatchObject({ code: "denied" });
    await env.close();
    const again = await openSealed(directory);
    await again.keyring.unseal(next);
    expect(again.keyring.status()).toMatchObject({ replacing: true, term: 2 });
    await again.keyring.settleRootKey();
    await again.close();
    const last = await openSealed(directory);
    await last.keyring.unseal(next);
    expect([
      last.keyring.status().replacing,
      last.read((snapshot) => snapshot.get(secrets, "a")),
    ]).toEqual([false, CANARY]);
  });

  it("opens no more once a keyring was stored that was opened by the current one", async () => {
    const env = await openSealed(await offered());
    await env.keyring.unseal(root);
    await env.keyring.rotate();
    await expect(env.keyring.unseal(next)).rejects.toMatchObject({ code: "denied" });
    await env.keyring.unseal(root);
    expect(env.read((snapshot) => snapshot.get(secrets, "a"))).toBe(CANARY);
  });
});

it("a ring takes no more than 100 data keys", () => {
  const ring = openRing();
  for (let key = 1; key < 100; key += 1) ring.fresh(0).adopt();
  expect(() => ring.fresh(0)).toThrow("data keys, the maximum");
  expect(
    Buffer.from(
      ring.decrypt("t", Buffer.from("k"), ring.encrypt("t", Buffer.from("k"), Buffer.from("v"))) ??
        [],
    ).toString(),
  ).toBe("v");
});

describe("a key ring", () => {
  it("gives back any value, never twice the same bytes, and undefined for any changed byte", () => {
    const ring = openRing();
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (value, position, flip) => {
          const key = Buffer.from("key");
          const sealed = ring.encrypt("t", key, value);
          expect(Buffer.compare(ring.decrypt("t", key, sealed) ?? Buffer.from("x"), value)).toBe(0);
          expect(Buffer.compare(sealed, ring.encrypt("t", key, value))).not.toBe(0);
          sealed[position % sealed.length] = (sealed[position % sealed.length] ?? 0) ^ flip;
          expect(ring.decrypt("t", key, sealed)).toBeUndefined();
        },
      ),
      { numRuns: 200 },
    );
  });

  it("counts ahead on disk, so that a crash never forgets a write", () => {
    const ring = openRing();
    expect(ring.due()).toBeUndefined();
    ring.encrypt("t", Buffer.from("k"), Buffer.from("v"));
    const ahead = ring.due();
    expect(ahead).toBe(1 + 2 ** 16);
    ring.counted(ahead ?? 0);
    ring.encrypt("t", Buffer.from("k"), Buffer.from("v"));
    expect(ring.due()).toBeUndefined();
  });

  it("forgets its keys when it is sealed", () => {
    const ring = openRing();
    const given = Uint8Array.from(root);
    ring.open(given, undefined, 0);
    expect(ring.sealed).toBe(false);
    ring.seal();
    expect(() => ring.encrypt("t", Buffer.from("k"), Buffer.from("v"))).toThrow("is sealed");
    expect(given).toEqual(Uint8Array.from(root)); // the caller's copy is the caller's
  });
});

it("a worn data key is replaced by itself, once", async () => {
  const { createKeyring } = await import("../../../src/kernel/state/environment/keyring-store.ts");
  const { quietLog } = await import("./fixtures/tables.ts");
  const ring = createKeyRing("test");
  const wrapped = openRing();
  const row = wrapped.fresh(0).row;
  ring.open(root, row, RETIRE_WRITES);
  const push = vi.fn(() => Promise.resolve());
  const keyring = createKeyring({
    file: undefined as never,
    ring,
    queue: { push } as never,
    clock: systemClock,
    log: quietLog,
    sealed: [],
  });
  keyring.worn();
  keyring.worn();
  await setImmediate();
  expect(push).toHaveBeenCalledTimes(1);
  ring.open(root, row, RETIRE_WRITES - 1);
  keyring.worn();
  await setImmediate();
  expect(push).toHaveBeenCalledTimes(1);
});
