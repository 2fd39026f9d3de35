/** Damaged files: refused, or everything in them as it was; never silently short. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { checkFolder } from "../../../src/kernel/state/backups/folder-check.ts";
import { defineTable } from "../../../src/kernel/state/table.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import {
  contents,
  damageFile,
  damages,
  dice,
  fillStore,
  makeStore,
} from "../../kernel/state/fixtures/damage.ts";
import type { Damage } from "../../kernel/state/fixtures/damage.ts";
import {
  allTables,
  numbers,
  openEnv,
  pairs,
  people,
  temporaryFolder,
} from "../../kernel/state/fixtures/tables.ts";
import { isLongRun } from "../../support/long-run.ts";

const CASES = isLongRun ? 500 : 60;
const root = Buffer.alloc(32, 9);
const sealedTables = [people, defineTable({ ...numbers, sealed: true }), pairs];

interface Kind {
  readonly make: (directory: string) => Promise<string>;
  readonly open: (directory: string) => Promise<Env>;
}

/** Closed; copied while it was open, as a crash leaves it; a backup; sealed. */
const kinds: Readonly<Record<string, Kind>> = {
  closed: { make: makeStore, open: (directory) => openEnv(directory) },
  crashed: {
    async make(directory) {
      const live = temporaryFolder();
      const env = await openEnv(live);
      await fillStore(env);
      copyFileSync(join(live, "test.mdb"), join(directory, "test.mdb"));
      await env.close();
      return join(directory, "test.mdb");
    },
    open: (directory) => openEnv(directory),
  },
  "backed up": {
    async make(directory) {
      const env = await openEnv(temporaryFolder());
      await fillStore(env);
      await env.backup(directory, new AbortController().signal);
      await env.close();
      return join(directory, "test.mdb");
    },
    open: (directory) => openEnv(directory),
  },
  sealed: {
    async make(directory) {
      const env = await openEnv(directory, { tables: sealedTables });
      await env.keyring?.unseal(root);
      await fillStore(env);
      await env.close();
      return join(directory, "test.mdb");
    },
    async open(directory) {
      const env = await openEnv(directory, { tables: sealedTables });
      await env.keyring?.unseal(root);
      return env;
    },
  },
};

/** What a damaged store says, or why it is refused. */
async function look(kind: Kind, bytes: Buffer): Promise<string | StewardError> {
  const directory = temporaryFolder();
  writeFileSync(join(directory, "test.mdb"), bytes);
  try {
    const env = await kind.open(directory);
    try {
      return contents(env);
    } finally {
      await env.close();
    }
  } catch (error) {
    if (error instanceof StewardError) return error;
    throw error;
  }
}

describe.each(Object.keys(kinds))("a %s store", (name) => {
  it(
    `is refused, or says exactly what it said before, in ${CASES} cases of damage`,
    { timeout: 600_000 },
    async () => {
      const kind = kinds[name] as Kind;
      const whole = readFileSync(await kind.make(temporaryFolder()));
      const before = await look(kind, whole);
      expect(before).toBeTypeOf("string");
      const roll = dice(name.length);
      let refused = 0;
      for (let at = 0; at < CASES; at += 1) {
        const damage = damages[at % damages.length] as Damage;
        const { bytes, position } = damageFile(whole, damage, roll);
        const seen = await look(kind, bytes);
        if (seen instanceof StewardError) {
          expect(
            ["corrupt", "unsupported", "denied"],
            `case ${at}, ${damage} at ${position}: ${seen.message}`,
          ).toContain(seen.code);
          refused += 1;
        } else
          expect(seen === before, `case ${at}, ${damage} at ${position}: other contents`).toBe(
            true,
          );
      }
      expect(refused).toBeGreaterThan(CASES / 5);
    },
  );
});

it(`check agrees with opening in ${CASES} cases of damage`, { timeout: 600_000 }, async () => {
  const whole = readFileSync(await makeStore(temporaryFolder()));
  const roll = dice(11);
  const spec = { name: "test", tables: allTables, schema: 1, derived: false, maxBytes: 2 ** 30 };
  for (let at = 0; at < CASES; at += 1) {
    const { bytes } = damageFile(whole, damages[at % damages.length] as Damage, roll);
    const directory = temporaryFolder();
    writeFileSync(join(directory, "test.mdb"), bytes);
    const [checked] = await checkFolder({
      directory,
      known: [spec],
      signal: new AbortController().signal,
      checked: () => {},
    });
    const opened = await look(kinds["closed"] as Kind, bytes);
    expect([at, checked?.severity]).toEqual([
      at,
      opened instanceof StewardError ? "damaged" : "sound",
    ]);
  }
});
