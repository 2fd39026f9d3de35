import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { verifyFile } from "../../../src/kernel/state/verify-file.ts";
import { numbers, openEnv, people, temporaryFolder } from "./fixtures/tables.ts";

const CASES = process.env["STEWARD_TEST_LONG"] === undefined ? 300 : 2_000;

/** A closed store with a few hundred rows of several sizes, some rewritten and some deleted; gives its file. */
async function makeStore(directory: string): Promise<string> {
  const env = await openEnv(directory);
  for (let round = 0; round < 6; round += 1) {
    await env.write((tx) => {
      for (let at = round * 40; at < round * 40 + 60; at += 1) {
        tx.put(numbers, at, new Uint8Array(at % 40 === 0 ? 6_000 : at % 200).fill(at));
        tx.put(people, `p${at}`, { name: `name ${at}`, age: at, tags: [`tag ${at % 5}`] });
      }
      for (let at = round * 40; at < round * 40 + 5; at += 1) tx.delete(numbers, at);
    });
  }
  await env.close();
  return join(directory, "test.mdb");
}

/** Everything that a store says, as text. */
function contents(env: Env): string {
  return env.read((snapshot) => {
    const keys = [...snapshot.range(people)].map(([key]) => key);
    const byKey = Array.from({ length: 300 }, (_, at) => [snapshot.get(numbers, at), snapshot.get(people, `p${at}`), snapshot.find(people, "name", [`name ${at}`])]);
    return JSON.stringify([keys, [...snapshot.range(numbers)], byKey, snapshot.find(people, "tag", ["tag 1"]), snapshot.count(people), snapshot.count(numbers)]);
  });
}

/** A repeatable source of numbers below a bound (mulberry32). */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

describe("a damaged store", () => {
  it(`is refused, or says exactly what it said before, for ${CASES} random flips, cuts and blanks`, { timeout: 300_000 }, async () => {
    const file = await makeStore(temporaryFolder());
    const whole = readFileSync(file);
    const sound = temporaryFolder();
    copyFileSync(file, join(sound, "test.mdb"));
    const healthy = await openEnv(sound);
    const before = contents(healthy);
    await healthy.close();
    const roll = dice(7);
    let refused = 0;
    for (let at = 0; at < CASES; at += 1) {
      const bytes = Buffer.from(whole);
      const directory = temporaryFolder();
      const kind = at % 10;
      const position = kind === 0 ? roll(8192) : roll(bytes.length);
      if (kind === 8) bytes.fill(0, position - (position % 4096), position - (position % 4096) + 4096);
      else bytes.writeUInt8((bytes[position] ?? 0) ^ (1 << roll(8)), position);
      writeFileSync(join(directory, "test.mdb"), kind === 9 ? bytes.subarray(0, position) : bytes);
      const seen = await openEnv(directory).then(async (env) => {
        const after = contents(env);
        await env.close();
        return after;
      }).catch((error: unknown) => error);
      if (seen instanceof StewardError) {
        expect(["corrupt", "unsupported"]).toContain(seen.code);
        refused += 1;
      } else expect(seen === before, `case ${at}, byte ${position}: ${seen instanceof Error ? String(seen.stack) : "other contents"}`).toBe(true);
    }
    expect(refused).toBeGreaterThan(CASES / 5);
  });

  it("is refused at every cut at a page's border, and named with the remedy", async () => {
    const file = await makeStore(temporaryFolder());
    const whole = readFileSync(file);
    for (let size = 0; size < whole.length; size += 4096) {
      const directory = temporaryFolder();
      const cut = join(directory, "test.mdb");
      writeFileSync(cut, whole.subarray(0, size));
      const report = await verifyFile(cut).catch((error: unknown) => error);
      if (report instanceof StewardError) expect(report).toMatchObject({ code: "corrupt", remedy: expect.stringContaining("restore") as string });
      else expect(size).toBeGreaterThan(whole.length / 2); // only free pages at the end were cut away
      if (size === 0) await expect(openEnv(directory)).rejects.toThrow(`${cut} is damaged`);
    }
  });

  it("is refused for a wrong bit in the commit numbers of its two heads, or opens without loss", async () => {
    const directory = temporaryFolder();
    const file = await makeStore(directory);
    const whole = readFileSync(file);
    const before = contents(await openEnv(directory));
    const opened: string[] = [];
    for (let bit = 0; bit < 128; bit += 1) {
      const bytes = Buffer.from(whole);
      const at = (bit < 64 ? 0 : 4096) + 152 + ((bit % 64) >> 3);
      bytes.writeUInt8((bytes[at] ?? 0) ^ (1 << (bit & 7)), at);
      const folder = temporaryFolder();
      writeFileSync(join(folder, "test.mdb"), bytes);
      const env = await openEnv(folder).catch((error: unknown) => error as StewardError);
      if (env instanceof StewardError) expect(env.code).toBe("corrupt");
      else opened.push(contents(env));
    }
    // The last commit of a clean close only takes the marker away, so the state before it says the same.
    expect(opened.length).toBeLessThanOrEqual(1);
    expect(opened.every((after) => after === before)).toBe(true);
  });

  it("stays on disk as it was when it is refused", async () => {
    const directory = temporaryFolder();
    const file = await makeStore(directory);
    truncateSync(file, statSync(file).size / 2);
    const before = readFileSync(file);
    await expect(openEnv(directory)).rejects.toMatchObject({ code: "corrupt" });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("is made anew when it is derived", async () => {
    const directory = temporaryFolder();
    const file = await makeStore(directory);
    truncateSync(file, 5_000);
    const env = await openEnv(directory, { derived: true });
    expect(env.status().rows).toMatchObject({ people: 0, numbers: 0 });
    await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
  });

  it("throws corrupt naming table and key, and says so in its status, when a row goes bad while it is open", async () => {
    const directory = temporaryFolder();
    const env = await openEnv(directory);
    await env.write((tx) => tx.put(people, "ada", { name: "Ada Lovelace", age: 36, tags: [] }));
    const file = join(directory, "test.mdb");
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf("Lovelace"); at >= 0; at = bytes.indexOf("Lovelace", at + 1)) bytes.write("lovelace", at);
    writeFileSync(file, bytes, { flag: "r+" });
    expect(() => env.read((snapshot) => snapshot.get(people, "ada"))).toThrow(/people: the row with key \["ada"\] is damaged/);
    expect(() => env.read((snapshot) => [...snapshot.range(people)])).toThrow(StewardError);
    expect(env.status()).toMatchObject({ healthy: false, reason: expect.stringContaining("people") as string });
  });

  it("is not taken for another: a file under a wrong name is refused", async () => {
    const directory = temporaryFolder();
    const file = await makeStore(directory);
    copyFileSync(file, join(directory, "other.mdb"));
    const { createStateFactory } = await import("../../../src/kernel/state/state-factory.ts");
    const { systemClock } = await import("../../../src/kernel/base/clock.ts");
    const { allTables, quietLog } = await import("./fixtures/tables.ts");
    const factory = createStateFactory({ directory, clock: systemClock, log: quietLog });
    await expect(factory.open({ name: "other", tables: allTables, schema: 1, derived: false, maxBytes: 2 ** 30 })).rejects.toThrow("is not the store other");
  });
});
