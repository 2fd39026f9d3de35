import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { backupFolder } from "../../../src/kernel/state/backups/folder-backup.ts";
import type {
  BackupManifest,
  FolderBackupOptions,
} from "../../../src/kernel/state/backups/folder-backup.ts";
import { checkFolder } from "../../../src/kernel/state/backups/folder-check.ts";
import type {
  FolderCheckOptions,
  StoreCheck,
} from "../../../src/kernel/state/backups/folder-check.ts";
import { rowCountKey, putMetadata } from "../../../src/kernel/state/rows/store-metadata.ts";
import { openLmdbFile } from "../../../src/kernel/state/file/lmdb-file.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { numberedTable } from "./fixtures/numbered.ts";
import {
  allTables,
  numbers,
  openEnv,
  people,
  quietLog,
  temporaryFolder,
} from "./fixtures/tables.ts";
import { spawn } from "../../support/spawn.ts";
import { isLongRun } from "../../support/long-run.ts";

/** An unguarded backup lost a row about once in a hundred. Stores grow, so each writer has a few. */
const WRITERS = isLongRun ? 20 : 1;
const BACKUPS = 10;
const never = new AbortController().signal;
const spec = { name: "test", tables: allTables, schema: 1, derived: false, maxBytes: 2 ** 30 };

function backup(
  directory: string,
  target: string,
  rest: Partial<FolderBackupOptions> = {},
): Promise<BackupManifest> {
  return backupFolder({
    directory,
    target,
    derived: ["third"],
    version: "0.1.0",
    clock: systemClock,
    signal: never,
    copied: () => {},
    ...rest,
  });
}

function check(
  directory: string,
  rest: Partial<FolderCheckOptions> = {},
): Promise<readonly StoreCheck[]> {
  return checkFolder({ directory, known: [spec], signal: never, checked: () => {}, ...rest });
}

/** The number of rows of a writer's store, none of which is missing. */
async function numbersIn(directory: string, name: string): Promise<number> {
  const state = createStateFactory({ directory, clock: systemClock, log: quietLog });
  const env = await state.open({
    name,
    tables: [numberedTable],
    schema: 1,
    derived: false,
    maxBytes: 2 ** 30,
  });
  try {
    expect(env.status()).toMatchObject({ healthy: true });
    const keys = env.read((snapshot) => Array.from(snapshot.range(numberedTable), ([key]) => key));
    expect(keys).toEqual(keys.map((_, at) => at));
    return keys.length;
  } finally {
    await env.close();
  }
}

async function someStore(): Promise<string> {
  const directory = temporaryFolder();
  const env = await openEnv(directory);
  await env.write((tx) => {
    for (let row = 0; row < 300; row += 1)
      tx.put(people, `p${row}`, { name: `name ${row}`, age: row, tags: ["all"] });
    tx.put(numbers, 1, Uint8Array.of(1));
  });
  await env.close();
  return directory;
}

describe("a backup of a folder", () => {
  it("holds the stores elsewhere that belong to it, under names that are their own", async () => {
    const directory = await someStore();
    const outside = await someStore();
    const target = temporaryFolder();
    await expect(
      backup(directory, target, { elsewhere: [{ directory: outside, name: "test" }] }),
    ).rejects.toMatchObject({ code: "conflict", rule: "one file for each name in a backup" });
    const other = temporaryFolder();
    const env = await createStateFactory({
      directory: other,
      clock: systemClock,
      log: quietLog,
    }).open({ ...spec, name: "marks" });
    await env.write((tx) => tx.put(numbers, 7, Uint8Array.of(7)));
    const manifest = await backup(directory, target, {
      elsewhere: [
        { directory: other, name: "marks" },
        { directory: other, name: "missing" },
      ],
    });
    await env.close();
    expect(manifest.stores.map(({ name, rows }) => [name, rows["numbers"]])).toEqual([
      ["test", 1],
      ["marks", 1],
    ]);
    expect((await check(target)).map(({ name, severity }) => [name, severity])).toEqual([
      ["marks", "sound"],
      ["test", "sound"],
    ]);
  });

  it.each(Array.from({ length: WRITERS }, (_, at) => at + 1))(
    "of a process that writes in two threads holds all stores as they stood together, and costs no acknowledged row (%i)",
    async () => {
      const directory = temporaryFolder();
      const writer = spawn(
        process.execPath,
        [fileURLToPath(new URL("./fixtures/twin-writer.ts", import.meta.url)), directory],
        { stdio: ["pipe", "pipe", "inherit"] },
      );
      onTestFinished(() => void writer.kill("SIGKILL"));
      const lines = createInterface({ input: writer.stdout })[Symbol.asyncIterator]();
      const line = async (): Promise<string> => (await lines.next()).value ?? "ended";
      expect(await line()).toBe("going");
      for (let round = 0; round < BACKUPS; round += 1) {
        const target = join(temporaryFolder(), "made");
        writer.stdin.write(`${target}\n`);
        const manifest = JSON.parse(await line()) as BackupManifest;
        expect(manifest).toMatchObject({
          steward: "0.1.0",
          leftOut: ["third"],
          stores: [{ name: "first" }, { name: "second" }],
        });
        const [first, second] = manifest.stores.map(({ rows }) => rows["numbered"] ?? 0);
        expect([0, 1]).toContain((first ?? 0) - (second ?? 0));
        expect(await numbersIn(target, "first")).toBe(first);
      }
      writer.stdin.end();
      const acknowledged = Number(await line());
      expect(acknowledged).toBeGreaterThan(300);
      for (const name of ["first", "second"])
        expect(await numbersIn(directory, name), name).toBe(acknowledged);
    },
  );

  it("is refused into a folder that holds anything and of a folder without stores", async () => {
    const directory = await someStore();
    const target = temporaryFolder();
    writeFileSync(join(target, "photo"), "");
    await expect(backup(directory, target)).rejects.toMatchObject({
      code: "conflict",
      rule: "empty target",
    });
    expect(readdirSync(target)).toEqual(["photo"]);
    await expect(backup(temporaryFolder(), target)).rejects.toMatchObject({ code: "not_found" });
    await expect(backup(join(directory, "missing"), target)).rejects.toMatchObject({
      code: "not_found",
    });
  });

  it("is refused of a damaged store, and leaves the target empty", async () => {
    const directory = await someStore();
    copyFileSync(join(directory, "test.mdb"), join(directory, "a-sound-one.mdb"));
    const bytes = readFileSync(join(directory, "test.mdb"));
    for (let at = bytes.indexOf("name 250"); at >= 0; at = bytes.indexOf("name 250", at + 1))
      bytes.write("nom", at);
    writeFileSync(join(directory, "test.mdb"), bytes);
    const target = temporaryFolder();
    await expect(backup(directory, target)).rejects.toMatchObject({ code: "corrupt" });
    expect(readdirSync(target)).toEqual([]);
  });

  it("stops when it is told to, and leaves the target empty", async () => {
    const directory = await someStore();
    copyFileSync(join(directory, "test.mdb"), join(directory, "later.mdb"));
    const target = temporaryFolder();
    const stop = new AbortController();
    await expect(
      backup(directory, target, {
        signal: stop.signal,
        copied: () => stop.abort(new Error("enough")),
      }),
    ).rejects.toThrow("enough");
    expect(readdirSync(target)).toEqual([]);
  });
});

describe("a check of a folder", () => {
  it("finds a sound store sound and says what it holds, writing nothing", async () => {
    const directory = await someStore();
    const before = readdirSync(directory);
    expect(await check(directory)).toEqual([
      expect.objectContaining({
        name: "test",
        severity: "sound",
        schema: 1,
        problems: [],
        notes: [],
      }) as StoreCheck,
    ]);
    expect((await check(directory))[0]?.rows).toEqual({ people: 300, numbers: 1 });
    expect(readdirSync(directory)).toEqual(before);
  });

  it("is refused while a process holds the folder", async () => {
    const directory = await someStore();
    const { lockStateDirectory } =
      await import("../../../src/kernel/state/folder/directory-lock.ts");
    const lock = lockStateDirectory(directory);
    await expect(check(directory)).rejects.toMatchObject({ code: "conflict" });
    lock.release();
    expect(await check(directory)).toHaveLength(1);
  });

  it.each([
    ["a row's bytes", (bytes: Buffer) => flipAll(bytes, "name 250"), /check word/],
    [
      "a cut file",
      (bytes: Buffer) => bytes.subarray(0, bytes.length / 2),
      /shorter than|lies outside/,
    ],
    ["an empty file", () => Buffer.alloc(0), /shorter than/],
  ])("names what is wrong with %s", async (_, change, problem) => {
    const directory = await someStore();
    const file = join(directory, "test.mdb");
    writeFileSync(file, change(readFileSync(file)));
    const [found] = await check(directory);
    expect(found).toMatchObject({
      severity: "damaged",
      problems: [expect.stringMatching(problem) as string],
    });
    expect((await check(directory, { known: [{ ...spec, derived: true }] }))[0]?.severity).toBe(
      "repairable",
    );
  });

  it("finds an index entry that is missing and one that leads elsewhere, though every check word fits", async () => {
    for (const [step, problem] of [
      [
        (store: ReturnType<ReturnType<typeof openLmdbFile>["store"]>, key: Uint8Array) =>
          void store.db.removeSync(key),
        "the index tag of people has 299 entries and should have 300",
      ],
      [
        (store, key) => store.db.putSync(key, store.check.close(key, Buffer.from("elsewhere"))),
        "the index tag of people points to wrong rows",
      ],
    ] satisfies [
      (store: ReturnType<ReturnType<typeof openLmdbFile>["store"]>, key: Uint8Array) => void,
      string,
    ][]) {
      const directory = await someStore();
      const file = openLmdbFile(join(directory, "test.mdb"), {
        tables: allTables,
        ring: undefined,
        maxBytes: 2 ** 30,
      });
      const store = file.store("i:people:tag");
      const [first] = store.db.getKeys({ start: Uint8Array.of(0), limit: 1 });
      await file.transact(() => {
        step(store, first ?? Uint8Array.of(0));
      });
      await file.close();
      expect(await check(directory)).toEqual([
        expect.objectContaining({ severity: "damaged", problems: [problem] }) as StoreCheck,
      ]);
    }
  });

  it("finds a count that does not fit, a store of another name and a newer schema, and tells of a crash", async () => {
    const directory = await someStore();
    copyFileSync(join(directory, "test.mdb"), join(directory, "other.mdb"));
    const file = openLmdbFile(join(directory, "test.mdb"), {
      tables: allTables,
      ring: undefined,
      maxBytes: 2 ** 30,
    });
    await file.transact(() => putMetadata(file, rowCountKey(people), 299));
    await file.close();
    const found = await check(directory);
    expect(found.map(({ name, problems }) => [name, problems])).toEqual([
      ["other", [expect.stringContaining("is the store test")]],
      ["test", [expect.stringContaining("counted 299 rows and holds 300")]],
    ]);
    const newer = temporaryFolder();
    await (await openEnv(newer, { schema: 7, version: "0.9.0" })).close();
    expect((await check(newer))[0]?.problems).toEqual([
      expect.stringContaining("run Steward 0.9.0 or newer") as string,
    ]);
    const crashed = temporaryFolder();
    const env = await openEnv(crashed);
    mkdirSync(join(crashed, "copy"));
    copyFileSync(join(crashed, "test.mdb"), join(crashed, "copy", "test.mdb"));
    await env.close();
    expect((await check(join(crashed, "copy")))[0]).toMatchObject({
      severity: "sound",
      notes: ["was not closed cleanly"],
    });
  });

  it("holds a backup against its manifest: other bytes, a missing file and one too many", async () => {
    const target = join(temporaryFolder(), "made");
    await backup(await someStore(), target);
    expect((await check(target))[0]?.severity).toBe("sound");
    expect(existsSync(join(target, "lock"))).toBe(false);
    copyFileSync(join(target, "test.mdb"), join(target, "added.mdb"));
    writeFileSync(
      join(target, "test.mdb"),
      Buffer.concat([readFileSync(join(target, "test.mdb")), Buffer.alloc(4096)]),
    );
    const found = await check(target);
    expect(found.map(({ name, problems }) => [name, problems[0]])).toEqual([
      ["added", expect.stringContaining("is not in the manifest")],
      ["test", expect.stringContaining("is not the file that was backed up")],
    ]);
    rmSync(join(target, "test.mdb"));
    expect((await check(target)).find(({ name }) => name === "test")?.severity).toBe("damaged");
    writeFileSync(join(target, "manifest.json"), "{");
    await expect(check(target)).rejects.toMatchObject({ code: "corrupt" });
  });
});

function flipAll(bytes: Buffer, text: string): Buffer {
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
    bytes.write("nom", at);
  return bytes;
}
