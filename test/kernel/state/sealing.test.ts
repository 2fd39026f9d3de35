import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createKeyRing, RETIRE_WRITES } from "../../../src/kernel/state/key-ring.ts";
import type { KeyRing } from "../../../src/kernel/state/key-ring.ts";
import { stringKey } from "../../../src/kernel/state/keys.ts";
import { defineTable } from "../../../src/kernel/state/table.ts";
import type { Env, Keyring, Table, Tx } from "../../../src/kernel/state/types.ts";
import { numbers, openEnv, temporaryFolder, jsonCodec } from "./fixtures/tables.ts";

const secrets: Table<string, string> = defineTable({
  name: "secrets", key: stringKey, value: jsonCodec<string>(), limit: { rows: 1_000 }, sealed: true, indexes: [{ name: "length", unique: false, of: (row) => [[row.length]] }],
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
    await expect(env.write((tx) => tx.put(secrets, "a", CANARY))).rejects.toMatchObject({ code: "sealed", remedy: "unseal it with its root key" });
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "a", CANARY));
    expect(env.read((snapshot) => [snapshot.get(secrets, "a"), [...snapshot.range(secrets)], snapshot.find(secrets, "length", [CANARY.length])])).toEqual([CANARY, [["a", CANARY]], ["a"]]);
    env.keyring.seal();
    for (const use of [() => env.read((snapshot) => snapshot.get(secrets, "a")), () => env.read((snapshot) => [...snapshot.range(secrets)])]) expect(use).toThrow(expect.objectContaining({ code: "sealed" }));
    await expect(env.write((tx) => tx.delete(secrets, "a"))).rejects.toMatchObject({ code: "sealed" });
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
    await expect(again.keyring.unseal(Buffer.alloc(32, 8))).rejects.toMatchObject({ code: "denied" });
    await expect(again.keyring.unseal(Buffer.alloc(31, 7))).rejects.toMatchObject({ code: "invalid" });
    expect(again.keyring.status().sealed).toBe(true);
    await again.keyring.unseal(root);
    expect(again.read((snapshot) => snapshot.get(secrets, "a"))).toBe(CANARY);
    await expect(again.keyring.unseal(Buffer.alloc(32, 8))).rejects.toMatchObject({ code: "denied" });
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
      expect([bytes.includes(CANARY), bytes.includes(random), bytes.includes(random.toString("base64"))]).toEqual([false, false, false]);
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
    expect(again.read((snapshot) => [snapshot.get(secrets, "old"), snapshot.get(secrets, "new")])).toEqual(["by the first key", "by the last key"]);
    expect(again.keyring.status().keys).toBe(keys);
    expect(again.keyring.status().writes).toBeGreaterThanOrEqual(1);
    again.keyring.seal();
    await expect(again.keyring.rotate()).rejects.toMatchObject({ code: "sealed" });
  });

  it("opens by its new root key alone once it was wrapped anew, with all rows and data keys, in any company of rotations", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await env.keyring.unseal(root);
    await env.write((tx) => tx.put(secrets, "old", CANARY));
    const given = Uint8Array.from(randomBytes(32));
    const next = Uint8Array.from(given);
    await Promise.all([env.keyring.rotate(), env.keyring.rewrap(given), env.keyring.rotate()]);
    given.fill(0); // the caller's copy is the caller's
    await env.write((tx) => tx.put(secrets, "new", CANARY));
    expect(env.keyring.status()).toMatchObject({ sealed: false, keys: 3, writes: 1 });
    await env.close();
    const again = await openSealed(directory);
    await expect(again.keyring.unseal(root)).rejects.toMatchObject({ code: "denied" });
    await again.keyring.unseal(next);
    expect(again.read((snapshot) => [snapshot.get(secrets, "old"), snapshot.get(secrets, "new")])).toEqual([CANARY, CANARY]);
  });

  it("without an index, too, takes neither a put over a row nor its deletion while it is sealed", async () => {
    const plain: Table<string, string> = defineTable({ name: "bare", key: stringKey, value: jsonCodec<string>(), limit: { rows: 10 }, sealed: true });
    const env = await openEnv(temporaryFolder(), { tables: [plain] });
    await env.keyring?.unseal(root);
    await env.write((tx) => tx.put(plain, "a", CANARY));
    await env.write((tx) => tx.put(plain, "a", CANARY));
    env.keyring?.seal();
    for (const change of [(tx: Tx) => void tx.delete(plain, "a"), (tx: Tx) => void tx.delete(plain, "missing"), (tx: Tx) => tx.put(plain, "a", "b")]) await expect(env.write(change)).rejects.toMatchObject({ code: "sealed" });
    await env.keyring?.unseal(root);
    expect(env.read((snapshot) => [snapshot.get(plain, "a"), snapshot.count(plain)])).toEqual([CANARY, 1]);
    expect(await env.write((tx) => [tx.delete(plain, "missing"), tx.delete(plain, "a"), tx.delete(plain, "a"), tx.count(plain)])).toEqual([false, true, false, 0]);
  });

  it("never encrypts twice with the same nonce", () => {
    const ring = openRing();
    const seen = new Set(Array.from({ length: 2_000 }, () => Buffer.from(ring.encrypt("t", Buffer.from("k"), Buffer.from("v")).subarray(4, 16)).toString("hex")));
    expect(seen.size).toBe(2_000);
  });

  it("keeps its root key when wrapping fails, is refused or finds it sealed, and stays sealed when it is sealed meanwhile", async () => {
    const directory = temporaryFolder();
    const env = await openSealed(directory);
    await expect(env.keyring.rewrap(root)).rejects.toMatchObject({ code: "sealed" });
    await env.keyring.unseal(root);
    await expect(env.keyring.rewrap(Buffer.alloc(31))).rejects.toMatchObject({ code: "invalid" });
    await env.write((tx) => tx.put(secrets, "a", CANARY));
    const next = Buffer.alloc(32, 8);
    const wrapping = env.keyring.rewrap(next);
    await env.write((tx) => tx.after(() => env.keyring.seal()));
    const wrapped = await wrapping.then(() => true, () => false);
    expect(env.keyring.status().sealed).toBe(true);
    await env.keyring.unseal(wrapped ? next : root);
    expect(env.read((snapshot) => snapshot.get(secrets, "a"))).toBe(CANARY);
  });

  it("calls a value damaged that was encrypted for another row, though its check word fits", async () => {
    const ring = openRing();
    const sealed = ring.encrypt("t:secrets", Buffer.from("a"), Buffer.from("value"));
    expect(Buffer.from(ring.decrypt("t:secrets", Buffer.from("a"), sealed) ?? []).toString()).toBe("value");
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
    for (let at = bytes.indexOf("a-key-to-find"); at >= 0; at = bytes.indexOf("a-key-to-find", at + 1)) bytes.writeUInt8((bytes[at + 30] ?? 0) ^ 1, at + 30);
    writeFileSync(file, bytes, { flag: "r+" });
    expect(() => env.read((snapshot) => snapshot.get(secrets, "a-key-to-find"))).toThrow(StewardError);
    expect(env.status().healthy).toBe(false);
  });
});

function openRing(name = "test"): KeyRing {
  const ring = createKeyRing(name);
  ring.open(root, undefined, 0);
  ring.fresh().adopt();
  return ring;
}

describe("a key ring", () => {
  it("gives back any value, never twice the same bytes, and undefined for any changed byte", () => {
    const ring = openRing();
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (value, position, flip) => {
      const key = Buffer.from("key");
      const sealed = ring.encrypt("t", key, value);
      expect(Buffer.compare(ring.decrypt("t", key, sealed) ?? Buffer.from("x"), value)).toBe(0);
      expect(Buffer.compare(sealed, ring.encrypt("t", key, value))).not.toBe(0);
      sealed[position % sealed.length] = (sealed[position % sealed.length] ?? 0) ^ flip;
      expect(ring.decrypt("t", key, sealed)).toBeUndefined();
    }), { numRuns: 200 });
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
  const { createKeyring } = await import("../../../src/kernel/state/keyring.ts");
  const { quietLog } = await import("./fixtures/tables.ts");
  const ring = createKeyRing("test");
  const wrapped = openRing();
  const row = wrapped.fresh().row;
  ring.open(root, row, RETIRE_WRITES);
  const push = vi.fn(() => Promise.resolve());
  const keyring = createKeyring({ file: undefined as never, ring, queue: { push } as never, log: quietLog });
  keyring.worn();
  keyring.worn();
  await setImmediate();
  expect(push).toHaveBeenCalledTimes(1);
  ring.open(root, row, RETIRE_WRITES - 1);
  keyring.worn();
  await setImmediate();
  expect(push).toHaveBeenCalledTimes(1);
});
