import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import {
  backupFolder,
  type BackupManifest,
} from "../../../../src/kernel/state/backups/folder-backup.ts";
import { copyBackup } from "../../../../src/kernel/state/backups/staged-backup.ts";
import { numbers, openEnv, temporaryFolder } from "../fixtures/tables.ts";

const never = new AbortController().signal;

let directory = "";
let manifest: BackupManifest;

beforeEach(async () => {
  const state = temporaryFolder();
  const env = await openEnv(state);
  await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
  await env.close();
  directory = temporaryFolder();
  manifest = await backupFolder({
    directory: state,
    target: directory,
    derived: [],
    version: "0.1.0",
    clock: systemClock,
    signal: never,
    copied: () => {},
  });
});

it("a copy has the manifest and every byte", async () => {
  const target = temporaryFolder();
  const copied: string[] = [];
  await copyBackup(
    { directory, manifest },
    { target, signal: never, copied: ({ file }) => copied.push(file) },
  );
  expect(copied).toEqual(["test.mdb"]);
  expect(readdirSync(target).sort()).toEqual(["manifest.json", "test.mdb", "test.mdb.json"]);
  for (const file of readdirSync(target))
    expect(readFileSync(join(target, file)).equals(readFileSync(join(directory, file))), file).toBe(
      true,
    );
});

it("a copy that differs in one byte, or that is interrupted, leaves nothing", async () => {
  const bytes = readFileSync(join(directory, "test.mdb"));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(join(directory, "test.mdb"), bytes);
  const target = temporaryFolder();
  const to = { target, copied: () => {} };
  await expect(copyBackup({ directory, manifest }, { ...to, signal: never })).rejects.toMatchObject(
    { code: "corrupt" },
  );
  await expect(
    copyBackup({ directory, manifest }, { ...to, signal: AbortSignal.abort(new Error("stop")) }),
  ).rejects.toThrow("stop");
  expect(readdirSync(target)).toEqual([]);
});
