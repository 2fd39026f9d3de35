/**
 * Power lost in the middle of a commit: whatever part of it reached the disk, the store is what it
 * was before, to the byte of every row.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { contents, dice, fillStore } from "../../kernel/state/fixtures/damage.ts";
import { HEADS, recordCommits, tornFile } from "../../kernel/state/fixtures/lost-writes.ts";
import type { Commit, Reached } from "../../kernel/state/fixtures/lost-writes.ts";
import { numbers, openEnv, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { isLongRun } from "../../support/long-run.ts";

const SEEDS = isLongRun ? 1_000 : 60;
/** Seeds that share a store, each with a commit of its own. */
const COMMITS = 20;
const reaches: readonly Reached[] = ["some pages", "some sectors", "some sectors", "all pages"];

async function commitsOf(seed: number): Promise<Commit[]> {
  const directory = temporaryFolder();
  const env = await openEnv(directory);
  await fillStore(env);
  const commits = await recordCommits(env, directory, COMMITS, dice(seed));
  await env.close();
  return commits;
}

/** What a store with this file says; then it must store, close and open as any other. */
async function says(bytes: Buffer, seed: number): Promise<string> {
  const directory = temporaryFolder();
  writeFileSync(join(directory, "test.mdb"), bytes);
  const env = await openEnv(directory);
  const said = contents(env);
  if (seed % 5 === 0) {
    await env.write((tx) => tx.put(numbers, 299, new Uint8Array(20_000).fill(1)));
    await env.close();
    const again = await openEnv(directory);
    expect(again.read((snapshot) => snapshot.get(numbers, 299))?.length).toBe(20_000);
    await again.close();
  }
  await env.close();
  return said;
}

describe("a loss of power while a commit is written", () => {
  it(
    `leaves the state of before, and of after once the head is written, with ${SEEDS} seeds`,
    { timeout: 900_000 },
    async () => {
      let commits: Commit[] = [];
      let torn = 0;
      for (let seed = 0; seed < SEEDS; seed += 1) {
        if (seed % COMMITS === 0) commits = await commitsOf(seed);
        const commit = commits[seed % COMMITS] as Commit;
        const reached = reaches[seed % reaches.length] as Reached;
        const bytes = tornFile(commit, reached, dice(seed + 1_000_000));
        if (!bytes.equals(commit.before)) torn += 1;
        expect([seed, reached, (await says(bytes, seed)) === commit.was]).toEqual([
          seed,
          reached,
          true,
        ]);
        if (seed % 4 === 0)
          expect([seed, (await says(commit.after, seed)) === commit.is]).toEqual([seed, true]);
      }
      expect(torn).toBeGreaterThan(SEEDS * 0.8);
    },
  );

  it(
    `is noticed when the disk had said that it has everything and had not, with ${SEEDS / 2} seeds`,
    { timeout: 900_000 },
    async () => {
      let commits: Commit[] = [];
      for (let seed = 0; seed < SEEDS / 2; seed += 1) {
        if (seed % COMMITS === 0) commits = await commitsOf(seed + 77);
        const commit = commits[seed % COMMITS] as Commit;
        const bytes = tornFile(commit, "some pages", dice(seed + 2_000_000));
        commit.after.copy(bytes, 0, 0, HEADS);
        const said = await says(bytes, 1).catch((error: unknown) => error);
        if (said instanceof StewardError) expect([seed, said.code]).toEqual([seed, "corrupt"]);
        else expect([seed, said === commit.is]).toEqual([seed, true]);
      }
    },
  );
});
