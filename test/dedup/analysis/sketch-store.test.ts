import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  SKETCH_SCHEMA,
  createEnvSketchStore,
  createMemorySketchStore,
  sketchTables,
} from "../../../src/dedup/analysis/sketch-store.ts";
import type { SketchStore } from "../../../src/dedup/analysis/sketch-store.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { AnyTable, Env, Table } from "../../../src/kernel/state/types.ts";
import { writeBlock } from "../../../workers/block.ts";

const log = createLog({ level: "error", format: "json", write: () => undefined, now: () => 0 });
const folder = mkdtempSync(join(tmpdir(), "steward-sketch-"));
const envs: Env[] = [];
const ours = new Uint8Array(32).fill(1);
const theirs = new Uint8Array(32).fill(2);

afterAll(async () => {
  await Promise.all(envs.map((env) => env.close().catch(() => undefined)));
  rmSync(folder, { recursive: true });
});

async function openEnv(name: string): Promise<Env> {
  const env = await createStateFactory({ directory: folder, clock: systemClock, log }).open({
    name,
    tables: sketchTables,
    schema: SKETCH_SCHEMA,
    derived: true,
    maxBytes: 2 ** 30,
  });
  envs.push(env);
  return env;
}

function block(fingerprint: Uint8Array, seed: number, classes = 1): ArrayBuffer {
  const signature = {
    hash: new Uint8Array(32).fill(seed),
    bands: new Uint32Array(2),
    sketch: new Uint8Array(4),
  };
  const signatures = Array.from({ length: classes }, () => signature);
  return writeBlock(fingerprint, { sketchSize: 4, numBands: 2 }, signatures);
}

async function all(store: SketchStore, fingerprint = ours): Promise<Map<number, Uint8Array>> {
  const found = new Map<number, Uint8Array>();
  for await (const { id, buffer } of store.load(fingerprint)) found.set(id, new Uint8Array(buffer));
  return found;
}

const kinds: readonly [string, () => Promise<SketchStore>][] = [
  ["in memory", () => Promise.resolve(createMemorySketchStore())],
  ["in an environment", async () => createEnvSketchStore(await openEnv(`kind-${envs.length}`))],
];

for (const [kind, open] of kinds) {
  describe(`a store ${kind}`, () => {
    it("gives back blocks of any size, in the order they were saved", async () => {
      const store = await open();
      const blocks = [block(ours, 1), block(ours, 2, 60_000), block(ours, 3)];
      const ids: number[] = [];
      for (const one of blocks) ids.push(await store.save(one));
      const found = await all(store);
      expect([...found.keys()]).toEqual(ids);
      for (const [i, id] of ids.entries())
        expect(
          Buffer.compare(
            new Uint8Array(await store.read(id)),
            new Uint8Array(blocks[i] ?? new ArrayBuffer(0)),
          ),
        ).toBe(0);
    });

    it("deletes what was made with other parameters", async () => {
      const store = await open();
      const id = await store.save(block(theirs, 1));
      const kept = await store.save(block(ours, 2));
      expect([...(await all(store)).keys()]).toEqual([kept]);
      await expect(store.read(id)).rejects.toMatchObject({ code: "not_found" });
    });

    it("forgets what is dropped and never uses an id again", async () => {
      const store = await open();
      const first = await store.save(block(ours, 1));
      const second = await store.save(block(ours, 2));
      await store.drop([first, 99]);
      expect([...(await all(store)).keys()]).toEqual([second]);
      expect(await store.save(block(ours, 3))).toBeGreaterThan(second);
    });
  });
}

describe("a store in an environment", () => {
  it("finds its blocks again after a restart", async () => {
    const before = await openEnv("restart");
    const id = await createEnvSketchStore(before).save(block(ours, 4, 40_000));
    await before.close();
    const store = createEnvSketchStore(await openEnv("restart"));
    expect([...(await all(store)).keys()]).toEqual([id]);
    expect(await store.save(block(ours, 5))).toBeGreaterThan(id);
  });

  it("clears away parts that a crash left without a head, and blocks with a part missing or damaged", async () => {
    const env = await openEnv("crash");
    const store = createEnvSketchStore(env);
    const [heads, parts] = sketchTables as unknown as [
      Table<number, Uint8Array>,
      Table<[number, number], Uint8Array>,
    ];
    const whole = await store.save(block(ours, 1));
    const gap = await store.save(block(ours, 2, 60_000));
    const garbage = await store.save(block(ours, 3));
    await env.write((tx) => tx.delete(parts, [gap, 1]));
    await env.write((tx) => tx.put(parts, [garbage, 0], new Uint8Array(8)));
    await env.write((tx) => tx.put(parts, [garbage + 1, 0], new Uint8Array(100)));
    expect([...(await all(store)).keys()]).toEqual([whole]);
    expect(
      env.read((snapshot) => [
        snapshot.count(heads as unknown as AnyTable),
        snapshot.count(parts as unknown as AnyTable),
      ]),
    ).toEqual([1, 1]);
  });
});
