/**
 * A store whose file is deleted, renamed, replaced, cut or overwritten while it is open takes no
 * write and says why.
 */
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { StewardError } from "../../../../src/kernel/base/errors.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { watchFile } from "../../../../src/kernel/state/file/file-watch.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";
import { memoryLog } from "../../telemetry/fixtures.ts";
import { numbers, openEnv, temporaryFolder } from "../fixtures/tables.ts";

const row = Uint8Array.of(1);

/** What happens to the file, and the words for it. */
const losses: Readonly<
  Record<string, { readonly happens: (path: string, aside: string) => void; readonly says: string }>
> = {
  deleted: { happens: (path) => rmSync(path), says: "was deleted or renamed" },
  renamed: { happens: (path, aside) => renameSync(path, aside), says: "was deleted or renamed" },
  replaced: {
    happens: (path, aside) => (copyFileSync(path, aside), renameSync(aside, path)),
    says: "was replaced by another file",
  },
  "deleted and made anew": {
    happens: (path) => (rmSync(path), writeFileSync(path, "")),
    says: "was replaced by another file",
  },
  overwritten: {
    happens: (path) =>
      writeFileSync(path, Buffer.alloc(readFileSync(path).length, 7), { flag: "r+" }),
    says: "was overwritten",
  },
};

describe.each(Object.entries(losses))(
  "a store whose file is %s while it is open",
  (_name, { happens, says }) => {
    it("refuses writes with the reason, shows it as its status, logs it once, and leaves the folder as it is", async () => {
      const directory = temporaryFolder();
      const lines: string[] = [];
      const env = await openEnv(directory, {
        log: createLog({
          level: "info",
          format: "json",
          write: (line) => lines.push(line),
          now: () => 0,
        }),
      });
      await env.write((tx) => tx.put(numbers, 1, row));
      const path = join(directory, "test.mdb");
      happens(path, join(directory, "aside"));
      const found = says.includes("deleted") ? undefined : readFileSync(path);
      for (const key of [2, 3]) {
        await expect(env.write((tx) => tx.put(numbers, key, row))).rejects.toMatchObject({
          code: "not_ready",
          rule: "store file",
          message: expect.stringContaining(`${path} ${says}`),
        });
      }
      expect(env.status()).toMatchObject({
        healthy: false,
        rows: { numbers: 1 },
        reason: expect.stringMatching(new RegExp(`${says}.*restore a backup`)),
      });
      env.status();
      expect(
        lines.filter((line) => line.includes("the store file is missing or was replaced")),
      ).toHaveLength(1);
      await env.close();
      if (found !== undefined) expect(readFileSync(path).equals(found)).toBe(true);
    });
  },
);

it("takes writes again when its file is back, and says how long it was gone", async () => {
  const directory = temporaryFolder();
  const clock = createManualClock();
  const log = memoryLog();
  const env = await openEnv(directory, { clock, log });
  await env.write((tx) => tx.put(numbers, 1, row));
  const path = join(directory, "test.mdb");
  renameSync(path, `${path}.aside`);
  await expect(env.write((tx) => tx.put(numbers, 2, row))).rejects.toMatchObject({
    code: "not_ready",
  });
  await clock.advance(40_000);
  expect(env.status()).toMatchObject({ healthy: false });
  await clock.advance(50_000);
  renameSync(`${path}.aside`, path);
  expect(env.status()).toMatchObject({ healthy: true, reason: undefined });
  expect(log.lines.at(-1)).toMatch(/^info the store file is back; .*"failed_for":"1m30s"/);
  await env.write((tx) => tx.put(numbers, 3, row));
  await env.close();
  const again = await openEnv(directory);
  expect(again.read((snapshot) => [...snapshot.range(numbers)].map(([key]) => key))).toEqual([
    1, 3,
  ]);
});

it("has its last size while its folder cannot be looked into", async () => {
  const directory = join(temporaryFolder(), "state");
  mkdirSync(directory);
  const env = await openEnv(directory);
  await env.write((tx) => tx.put(numbers, 1, row));
  const { bytes } = env.status();
  expect(bytes).toBeGreaterThan(0);
  renameSync(directory, `${directory}.aside`);
  // A loop of links is an error that even root gets.
  symlinkSync(directory, directory);
  expect(env.status().bytes).toBe(bytes);
  unlinkSync(directory);
  renameSync(`${directory}.aside`, directory);
  expect(env.status()).toMatchObject({ healthy: true, bytes });
  await env.close();
});

it("is not lost when only its times or its mode change", async () => {
  const directory = temporaryFolder();
  const env = await openEnv(directory);
  for (let key = 0; key < 20; key += 1) {
    utimesSync(join(directory, "test.mdb"), key, key);
    await env.write((tx) => tx.put(numbers, key, row));
    expect(env.status()).toMatchObject({ healthy: true });
  }
});

it("a commit during which the file is lost is refused, and counts once the file is back", async () => {
  const directory = temporaryFolder();
  const env = await openEnv(directory);
  const path = join(directory, "test.mdb");
  await env.write((tx) => tx.put(numbers, 1, row));
  const lost = env.write((tx) => tx.put(numbers, 2, row));
  // The change has run and LMDB's thread stores it by then, in most rounds of the loop at least.
  setImmediate(() => renameSync(path, `${path}.aside`));
  const outcome = await lost.then(
    () => "stored",
    (error: unknown) => (error as StewardError).rule,
  );
  expect(["stored", "store file", "store file during a commit"]).toContain(outcome);
  await expect(env.write((tx) => tx.put(numbers, 3, row))).rejects.toMatchObject({
    code: "not_ready",
  });
  renameSync(`${path}.aside`, path);
  await vi.waitFor(() => expect(env.status()).toMatchObject({ healthy: true }), {
    timeout: 60_000,
  });
  await env.write((tx) => tx.put(numbers, 4, row));
  const keys = env.read((snapshot) => [...snapshot.range(numbers)].map(([key]) => key));
  expect(keys).toEqual(outcome === "store file" ? [1, 4] : [1, 2, 4]);
  expect(env.status().rows["numbers"]).toBe(keys.length);
});

it("a commit that ends in a renamed file is refused, and that file is not lost when it is back", async () => {
  const directory = temporaryFolder();
  await (await openEnv(directory)).close();
  const path = join(directory, "test.mdb");
  const watch = watchFile(path);
  await expect(
    watch.commit(async () => {
      writeFileSync(path, readFileSync(path), { flag: "r+" });
      renameSync(path, `${path}.aside`);
    }),
  ).rejects.toMatchObject({ rule: "store file during a commit" });
  expect(watch.lost()).toMatchObject({ rule: "store file" });
  renameSync(`${path}.aside`, path);
  expect(watch.lost()).toBeUndefined();
  watch.close();
  watch.close();
});

it("an older copy that is written over the file is noticed, also where it is larger", async () => {
  const directory = temporaryFolder();
  const env = await openEnv(directory);
  const path = join(directory, "test.mdb");
  await env.write((tx) => tx.put(numbers, 1, row));
  const older = readFileSync(path);
  await env.write((tx) => tx.put(numbers, 2, row));
  writeFileSync(path, Buffer.concat([older, Buffer.alloc(1 << 20)]), { flag: "r+" });
  await expect(env.write((tx) => tx.put(numbers, 3, row))).rejects.toMatchObject({
    message: expect.stringContaining("was overwritten"),
  });
});

it("a file that is shorter than it was is lost", async () => {
  const directory = temporaryFolder();
  await (await openEnv(directory)).close();
  const path = join(directory, "test.mdb");
  const watch = watchFile(path);
  expect(watch.lost()).toBeUndefined();
  truncateSync(path, 8192);
  expect(watch.lost()).toMatchObject({
    message: expect.stringMatching(/was cut from \d+ to 8192 bytes/),
  });
  watch.close();
});
