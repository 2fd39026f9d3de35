import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { verifyFile } from "../../../src/kernel/state/file/verify-file.ts";
import { contents, makeStore } from "./fixtures/damage.ts";
import { numbers, openEnv, people, temporaryFolder } from "./fixtures/tables.ts";

describe("a damaged store", () => {
  it("is refused at every cut at a page's border, and named with the remedy", async () => {
    const file = await makeStore(temporaryFolder());
    const whole = readFileSync(file);
    for (let size = 0; size < whole.length; size += 4096) {
      const directory = temporaryFolder();
      const cut = join(directory, "test.mdb");
      writeFileSync(cut, whole.subarray(0, size));
      const report = await verifyFile(cut).catch((error: unknown) => error);
      if (report instanceof StewardError)
        expect(report).toMatchObject({
          code: "corrupt",
          remedy: expect.stringContaining("restore") as string,
        });
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
    // The last commit of a clean close only takes the marker away, so the state before it says the
    // same.
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
    for (let at = bytes.indexOf("Lovelace"); at >= 0; at = bytes.indexOf("Lovelace", at + 1))
      bytes.write("lovelace", at);
    writeFileSync(file, bytes, { flag: "r+" });
    // Values are not read for keys.
    expect(env.read((snapshot) => [...snapshot.keys(people)])).toEqual(["ada"]);
    expect(env.status().healthy).toBe(true);
    expect(() => env.read((snapshot) => snapshot.get(people, "ada"))).toThrow(
      /people: the row with key \["ada"\] is damaged/,
    );
    expect(() => env.read((snapshot) => [...snapshot.range(people)])).toThrow(StewardError);
    expect(env.status()).toMatchObject({
      healthy: false,
      reason: expect.stringContaining("people") as string,
    });
  });

  it("is not taken for another: a file under a wrong name is refused", async () => {
    const directory = temporaryFolder();
    const file = await makeStore(directory);
    copyFileSync(file, join(directory, "other.mdb"));
    const { createStateFactory } = await import("../../../src/kernel/state/state-factory.ts");
    const { systemClock } = await import("../../../src/kernel/base/clock.ts");
    const { allTables, quietLog } = await import("./fixtures/tables.ts");
    const factory = createStateFactory({ directory, clock: systemClock, log: quietLog });
    await expect(
      factory.open({
        name: "other",
        tables: allTables,
        schema: 1,
        derived: false,
        maxBytes: 2 ** 30,
      }),
    ).rejects.toThrow("is not the store other");
  });
});

describe("a large store that was closed cleanly", () => {
  it("opens without its rows being walked, and whole after a crash", async () => {
    const directory = temporaryFolder();
    const file = await makeStore(directory);
    const bytes = readFileSync(file);
    const changed = Buffer.from(bytes);
    for (let at = changed.indexOf("name 77"); at >= 0; at = changed.indexOf("name 77", at + 1))
      changed.write("nom", at);
    writeFileSync(file, changed);
    const env = await openEnv(directory, { wholeWalkBytes: 0 });
    expect(() => env.read((snapshot) => snapshot.get(people, "p77"))).toThrow(
      /people: the row with key \["p77"\] is damaged/,
    );
    expect(env.status().healthy).toBe(false);
    const crashed = temporaryFolder();
    copyFileSync(file, join(crashed, "test.mdb")); // the store is open: its marker says so
    await expect(openEnv(crashed, { wholeWalkBytes: 0 })).rejects.toMatchObject({
      code: "corrupt",
    });
  });

  it("is refused for every damaged page that leads to rows, cut or blanked", async () => {
    const directory = temporaryFolder();
    const file = await makeStore(directory);
    const whole = readFileSync(file);
    const branches = Array.from({ length: whole.length / 4096 }, (_, page) => page).filter(
      (page) => page > 1 && whole.readUInt16LE(page * 4096 + 18) === 1,
    );
    expect(branches.length).toBeGreaterThan(2);
    let refused = 0;
    for (const page of branches) {
      const bytes = Buffer.from(whole);
      bytes.fill(0, page * 4096, (page + 1) * 4096);
      writeFileSync(file, bytes);
      const report = await verifyFile(file, { depth: "paths" }).catch((error: unknown) => error);
      refused += Number(report instanceof StewardError);
      // A page that no tree uses any more may say anything.
      if (!(report instanceof StewardError))
        expect((await verifyFile(file)).entries.get("t:people")).toBe(260);
    }
    expect(refused).toBeGreaterThan(1);
  });

  it("says so when a walk over a table shows fewer rows than were counted", async () => {
    const directory = temporaryFolder();
    const file = await makeStore(directory);
    const bytes = readFileSync(file);
    // Takes the last entry from every leaf of the table: nothing but the count can tell.
    const { pages } = await verifyFile(file);
    expect(pages).toBeGreaterThan(10);
    for (let page = 2; page < bytes.length / 4096; page += 1) {
      const at = page * 4096;
      const text = bytes.subarray(at, at + 4096).includes('{"name":"name');
      if (text && bytes.readUInt16LE(at + 18) === 2 && bytes.readUInt16LE(at + 20) > 4)
        bytes.writeUInt16LE(bytes.readUInt16LE(at + 20) - 2, at + 20);
    }
    writeFileSync(file, bytes);
    const env = await openEnv(directory, { wholeWalkBytes: 0 });
    const options = { sliceMs: 5, signal: new AbortController().signal };
    await expect(env.scan(people, () => {}, options)).rejects.toThrow(
      /the table people counted 260 rows and shows \d+/,
    );
    expect(env.status().healthy).toBe(false);
    await env.scan(people, () => {}, { ...options, bounds: { limit: 10 } });
  });
});
