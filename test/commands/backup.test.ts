import {
  chownSync,
  readdirSync,
  readFileSync,
  truncateSync,
  mkdtempSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it, onTestFinished } from "vitest";
import { backup } from "../../src/commands/backup.ts";
import { check } from "../../src/commands/check.ts";
import { mainStore, sketchStore, textStore } from "../../src/dedup/stores.ts";
import { texts } from "../../src/dedup/tables.ts";
import { TextRowSchema } from "../../src/gen/steward/state/v1/dedup_pb.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { createStateFactory } from "../../src/kernel/state/state-factory.ts";
import type { Env } from "../../src/kernel/state/types.ts";

const none = { config: undefined, demo: false };

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "steward-backup-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** The stores of a daemon with one text in them, open. */
async function openStores(directory: string): Promise<Env[]> {
  const log = createLog({ level: "error", format: "text", write: () => {}, now: () => 0 });
  const state = createStateFactory({ directory, clock: systemClock, log });
  const envs = [
    await state.open(mainStore),
    await state.open(textStore),
    await state.open(sketchStore),
  ];
  await envs[1]?.write((tx) => tx.put(texts, 1, create(TextRowSchema, {})));
  return envs;
}

async function close(envs: readonly Env[]): Promise<void> {
  for (const env of envs) await env.close();
}

async function run(
  command: typeof backup | typeof check,
  options: { target: string; directory: string | undefined },
  stateFolder: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const seen = { stdout: "", stderr: "" };
  const code = await command(
    { ...none, ...options },
    { HOME: "/nonexistent", STEWARD_STATE__DIRECTORY: stateFolder },
    { stdout: (text) => void (seen.stdout += text), stderr: (text) => void (seen.stderr += text) },
  );
  return { code, ...seen };
}

describe("steward backup", () => {
  it.skipIf(process.geteuid?.() !== 0)(
    "as root leaves the folders it makes in a state folder to the daemon's user",
    async () => {
      const state = folder();
      await close(await openStores(state));
      chownSync(state, 65_534, 65_534);
      const target = join(state, "backups/manual");
      expect(await run(backup, { target, directory: undefined }, state)).toMatchObject({ code: 0 });
      for (const path of [join(state, "backups"), target])
        expect(statSync(path)).toMatchObject({ uid: 65_534, gid: 65_534 });
    },
  );

  it("copies what cannot be made anew, says what it did, and gives a folder that check finds sound", async () => {
    const state = folder();
    await close(await openStores(state));
    const target = join(folder(), "2026-02-03");
    const made = await run(backup, { target, directory: undefined }, state);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toMatch(/^dedup-text\.mdb: 0\.\d MiB, 1 rows$/m);
    expect(made.stdout).toMatch(/^dedup-sketch\.mdb: not included, Steward rebuilds it$/m);
    expect(made.stdout).toMatch(
      new RegExp(`^backup of ${state} complete: 2 stores, 0\\.\\d MiB in ${target}$`, "m"),
    );
    expect(readdirSync(target).sort()).toEqual([
      "dedup-text.mdb",
      "dedup-text.mdb.json",
      "dedup.mdb",
      "dedup.mdb.json",
      "manifest.json",
    ]);
    expect(statSync(target).mode & 0o077).toBe(0);
    const checked = await run(check, { target: "", directory: target }, state);
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    expect(checked.stdout).toContain("dedup-text.mdb: SOUND");
    await close(await openStores(target));
  });

  it("refuses a folder that holds anything", async () => {
    const state = folder();
    await close(await openStores(state));
    await expect(run(backup, { target: state, directory: undefined }, state)).rejects.toMatchObject(
      { code: "conflict", message: `${state} is not empty` },
    );
  });
});

describe("steward check", () => {
  it("ends 0 on sound stores, 3 on what is made anew and 1 on what needs a backup, naming it", async () => {
    const state = folder();
    await close(await openStores(state));
    expect(await run(check, { target: "", directory: undefined }, state)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${state}: all 3 stores are intact\n`) as string,
    });
    truncateSync(join(state, "dedup-sketch.mdb"), 5_000);
    const sketch = await run(check, { target: "", directory: undefined }, state);
    expect(sketch.code).toBe(3);
    expect(sketch.stdout).toMatch(/^dedup-sketch\.mdb: REPAIRABLE.*\n {2}problem: .*is damaged/m);
    expect(sketch.stdout).toContain("dedup-sketch: the next start rebuilds it");
    truncateSync(join(state, "dedup.mdb"), 5_000);
    const before = readFileSync(join(state, "dedup.mdb"));
    const main = await run(check, { target: "", directory: undefined }, state);
    expect(main.code).toBe(1);
    expect(main.stdout).toContain(`${state}: dedup: restore a backup`);
    expect(readFileSync(join(state, "dedup.mdb")).equals(before)).toBe(true);
  });
});
