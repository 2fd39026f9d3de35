import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { lockStateDirectory } from "../../../../src/kernel/state/folder/directory-lock.ts";
import {
  adoptFlows,
  type Adoption,
  type AdoptionStep,
} from "../../../../src/monitor/flowstore/adoption/adopt.ts";
import { flowStoreName } from "../../../../src/monitor/flowstore/disk/names.ts";
import { silent } from "../../../demo/control-plane/support.ts";
import { temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { openStore } from "../disk/open-store.ts";
import { noFilter } from "../sample-flow.ts";
import { legacyDatabase } from "./legacy-database.ts";

const signal = new AbortController().signal;
const qualified = `${flowStoreName("lab")}.mdb`;

function adopt(
  directory: string,
  {
    network = "lab",
    diesAfter,
    ends = signal,
  }: {
    readonly network?: string;
    readonly diesAfter?: AdoptionStep;
    readonly ends?: AbortSignal;
  } = {},
): Promise<Adoption> {
  return adoptFlows(
    {
      clock: systemClock,
      log: silent,
      version: "0.1.0",
      signal: ends,
      reached(step) {
        if (step === diesAfter) throw new Error(`died after ${step}`);
      },
    },
    { directory, maxRows: 1_000_000, network },
  );
}

async function rowsIn(directory: string) {
  const { store } = await openStore(directory);
  const query = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, limit: 100_000, before: undefined };
  const { rows } = await store.select({ ...query, filter: noFilter }, signal);
  await store.close();
  return rows;
}

describe("An adoption", () => {
  it("keeps every row with all its fields, and the former file with its content", async () => {
    const directory = temporaryFolder();
    const nowMs = 1_700_000_000_000;
    const legacy = legacyDatabase(directory, { nowMs, rows: 5_000 });
    const content = readFileSync(legacy);
    expect(await adopt(directory)).toEqual({
      legacy,
      file: join(directory, qualified),
      rows: 5_000,
    });
    expect(
      readdirSync(directory)
        .filter((name) => name.startsWith("flows-"))
        .sort(),
    ).toEqual(
      [qualified, `${qualified}-lock`, "flows-lab.db.adopted"]
        .filter((name) => existsSync(join(directory, name)))
        .sort(),
    );
    expect(readFileSync(`${legacy}.adopted`).equals(content)).toBe(true);
    const rows = await rowsIn(directory);
    expect(rows).toHaveLength(5_000);
    expect(rows[1]).toEqual({
      timeMs: nowMs - 1_000,
      seq: 4_999,
      trafficType: "virtual",
      transport: "tcp",
      srcNode: "n1",
      dstNode: "beta",
      srcUser: "ada@corp.test",
      reversed: true,
      rule: 0,
      txBytes: 10,
      rxBytes: 0,
      txPackets: 0,
      rxPackets: 0,
      ...Object.fromEntries(
        "srcAddr dstAddr dstPort dstService dstUser srcTags dstTags srcOs dstOs reporterNodeId reporterTrust reporterConsistency path derpRegion verdict policyVersion"
          .split(" ")
          .map((name) => [name, ""]),
      ),
    });
  });

  it("keeps every row of a network with a few connections an hour", async () => {
    const directory = temporaryFolder();
    const rows = 64 * 257;
    legacyDatabase(directory, { rows, everyMs: 3_600_000 / 64, varied: true });
    expect((await adopt(directory)).rows).toBe(rows);
    const seqs = (await rowsIn(directory)).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: rows }, (_, index) => rows - index));
  });

  it.each(["rows", "stamped", "placed", "renamed"] as const)(
    "that died after %s is finished by another run, and a third one has nothing to do",
    async (step) => {
      const directory = temporaryFolder();
      const legacy = legacyDatabase(directory, { rows: 20 });
      await expect(adopt(directory, { diesAfter: step })).rejects.toThrow("died");
      expect((await adopt(directory)).rows).toBe(20);
      expect([existsSync(legacy), existsSync(`${legacy}.adopted`)]).toEqual([false, true]);
      expect(readdirSync(directory).filter((name) => name.startsWith("adopting"))).toEqual([]);
      expect((await adopt(directory)).rows).toBeUndefined();
      expect(await rowsIn(directory)).toHaveLength(20);
    },
  );

  it("ends when it is interrupted, and the next run begins anew", async () => {
    const directory = temporaryFolder();
    legacyDatabase(directory);
    const ended = AbortSignal.abort(new Error("interrupted"));
    await expect(adopt(directory, { ends: ended })).rejects.toThrow("interrupted");
    expect((await adopt(directory)).rows).toBe(10);
  });

  it("without a former file does nothing", async () => {
    const directory = temporaryFolder();
    expect((await adopt(directory)).rows).toBeUndefined();
    expect(readdirSync(directory).filter((name) => name.endsWith(".mdb"))).toEqual([]);
  });

  it.each<[string, (directory: string) => void, RegExp]>([
    [
      "a file of another owner",
      (directory) => legacyDatabase(directory, { owner: "office", version: 2 }),
      /belongs to the network "office", not to "lab"/,
    ],
    [
      "a log that was not written back",
      (directory) => writeFileSync(`${legacyDatabase(directory)}-wal`, "x"),
      /-wal is not empty: the database was not closed/,
    ],
    [
      "a journal that was not rolled back",
      (directory) => writeFileSync(`${legacyDatabase(directory)}-journal`, "x"),
      /-journal is not empty/,
    ],
    [
      "a newer version",
      (directory) => legacyDatabase(directory, { version: 3 }),
      /has the version 3/,
    ],
    [
      "a file that is no database",
      (directory) =>
        writeFileSync(join(directory, "flows-lab.db"), "no database at all".repeat(99)),
      /cannot be read as a SQLite database/,
    ],
    [
      "another table",
      (directory) => {
        const database = new DatabaseSync(join(directory, "flows-lab.db"));
        database.exec("CREATE TABLE flows (seq INTEGER, time INTEGER)");
        database.close();
      },
      /the table flows of .* lacks reversed, traffic_type/,
    ],
    [
      "a time that is a text",
      (directory) => {
        const database = new DatabaseSync(legacyDatabase(directory));
        database.exec("UPDATE flows SET time = 'noon' WHERE seq = 3");
        database.close();
      },
      /row 3 of .* has a time of the wrong type/,
    ],
    [
      "a file that was renamed already",
      (directory) =>
        renameSync(legacyDatabase(directory), join(directory, "flows-lab-0123456789ab.db")),
      /was renamed by a later version/,
    ],
    [
      "a file that was renamed already with a longer digest",
      (directory) =>
        renameSync(legacyDatabase(directory), join(directory, "flows-lab-0123456789abcdef.db")),
      /was renamed by a later version/,
    ],
  ])("refuses %s and changes nothing", async (_, prepare, message) => {
    const directory = temporaryFolder();
    prepare(directory);
    const names = (): string[] =>
      readdirSync(directory).filter((name) => name.startsWith("flows-"));
    const before = names();
    await expect(adopt(directory)).rejects.toThrow(message);
    expect(names()).toEqual(before);
  });

  it("has nothing to do beside the renamed files of networks whose names begin alike", async () => {
    const directory = temporaryFolder();
    const others = ["flows-lab-2-0123456789ab.db", "flows-lab-2-0123456789abcdef.db"];
    for (const name of others) renameSync(legacyDatabase(directory), join(directory, name));
    expect((await adopt(directory)).rows).toBeUndefined();
    expect(readdirSync(directory).filter((name) => name.startsWith("flows-"))).toEqual(others);
  });

  it("takes the file of its own owner", async () => {
    const directory = temporaryFolder();
    legacyDatabase(directory, { owner: "lab", version: 2 });
    expect((await adopt(directory)).rows).toBe(10);
  });

  it("refuses when both files are there, also after an adoption", async () => {
    const directory = temporaryFolder();
    const { store } = await openStore(directory);
    await store.close();
    legacyDatabase(directory);
    await expect(adopt(directory)).rejects.toThrow(/are both there/);
    const other = temporaryFolder();
    legacyDatabase(other);
    await adopt(other);
    legacyDatabase(other);
    await expect(adopt(other)).rejects.toThrow(/are both there/);
  });

  it("refuses a folder that a process has", async () => {
    const directory = temporaryFolder();
    const lock = lockStateDirectory(directory, "flows.store.directory");
    await expect(adopt(directory)).rejects.toThrow(/is in use by process/);
    lock.release();
  });
});
