/**
 * Killed at each step while the store's key is replaced: the store opens by the key file, nothing
 * is lost, and another run ends it.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CodeHost } from "../../../src/demo/code-host/code-host.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { AnyTable, Env } from "../../../src/kernel/state/types.ts";
import { tokensStore } from "../../../src/tokens/stores.ts";
import { parseKey } from "../../../src/tokens/vault/seal/root-key.ts";
import {
  cleanEnvironment,
  removeTemporaryFolders,
  runSteward,
  temporaryFolder,
} from "../../contract/daemon.ts";
import { configure, startCodeHost, startVault } from "../../contract/vault.ts";
import { quietLog } from "../../kernel/state/fixtures/tables.ts";
import { LAUNCHER } from "../../support/launcher.ts";
import { spawn } from "../../support/spawn.ts";
import { isLongRun } from "../../support/long-run.ts";

const KILLS = isLongRun ? 40 : 4;
const LEASES = 60;
const rotator = join(import.meta.dirname, "fixtures/key-rotator.ts");

let host: CodeHost;
let root: string;
let lease: string;
/** A state folder with leases, and nobody running on it. */
let original: string;
let formerKey: string;
let formerRows: unknown;

beforeAll(async () => {
  host = await startCodeHost();
  const vault = await startVault();
  await configure(vault, host);
  const minted = await Promise.all(
    Array.from({ length: LEASES }, () =>
      vault.ask("POST", "github/token", { body: { installation_id: 1001 } }),
    ),
  );
  lease = minted[0]?.json.lease_id as string;
  expect(await vault.daemon.stop()).toEqual({ code: 0, signal: null });
  [root, original, formerKey] = [vault.root, vault.state, keyOf(vault.state)];
  formerRows = await look(original, formerKey, rowsOf);
  expect((formerRows as unknown[]).length).toBeGreaterThan(2 * LEASES);
});

afterAll(async () => {
  await host.stop();
  removeTemporaryFolders();
});

function keyOf(state: string): string {
  return readFileSync(join(state, "tokens.key"), "utf8").trim();
}

async function look<T>(state: string, key: string, view: (env: Env) => T): Promise<T> {
  const env = await createStateFactory({
    directory: state,
    clock: systemClock,
    log: quietLog,
  }).open(tokensStore);
  try {
    await env.keyring?.unseal(parseKey(key) ?? new Uint8Array());
    return view(env);
  } finally {
    await env.close();
  }
}

function rowsOf(env: Env): unknown {
  const rows = (table: AnyTable): unknown[] =>
    env.read((snapshot) => [...snapshot.range(table)].map((row) => [table.name, row]));
  return tokensStore.tables.flatMap(rows);
}

function copyOf(state: string): string {
  const folder = join(temporaryFolder(), "state");
  cpSync(state, folder, { recursive: true });
  return folder;
}

/** The steps that were made, and whether the process was killed. */
function rotate(
  state: string,
  killAt: number,
): { readonly steps: readonly string[]; readonly killed: boolean } {
  const { stdout, signal, status, stderr } = spawnSync(
    process.execPath,
    [rotator, state, String(killAt)],
    { encoding: "utf8", env: cleanEnvironment },
  );
  if (signal === null && status !== 0) throw new Error(stderr);
  return { steps: stdout.trim().split("\n"), killed: signal === "SIGKILL" };
}

function wrappedKeys(state: string): readonly string[] {
  return readFileSync(join(state, "tokens.mdb"), "latin1").match(/"wrapped":"[^"]+"/g) ?? [];
}

/**
 * After a run that ended: only the new key opens, nothing of the former one is in the file, and no
 * leftovers lie about.
 */
async function expectReplaced(state: string): Promise<void> {
  const key = keyOf(state);
  expect(key).not.toBe(formerKey);
  await expect(look(state, formerKey, () => undefined)).rejects.toMatchObject({ code: "denied" });
  expect(await look(state, key, (env) => env.keyring?.status())).toMatchObject({
    sealed: false,
    keys: 1,
    replacing: false,
  });
  const former = wrappedKeys(original);
  expect([
    former.length > 0,
    wrappedKeys(state).some((wrapped) => former.includes(wrapped)),
  ]).toEqual([true, false]);
  expect(readdirSync(state).filter((name) => /rotate-key|\.new$|\.part$/.test(name))).toEqual([]);
}

it("at every step", async () => {
  const whole = rotate(copyOf(original), 0);
  expect(whole.killed).toBe(false);
  expect(whole.steps.length).toBeGreaterThanOrEqual(9);
  for (let step = 1; step <= whole.steps.length; step += 1) {
    const state = copyOf(original);
    const { steps, killed } = rotate(state, step);
    expect([step, killed, steps.length]).toEqual([step, true, step]);
    expect(await look(state, keyOf(state), rowsOf), steps.at(-1)).toEqual(formerRows);
    const again = rotate(state, 0);
    expect(again.killed).toBe(false);
    expect(await look(state, keyOf(state), rowsOf), steps.at(-1)).toEqual(formerRows);
    await expectReplaced(state);
  }
});

it(`at any moment of the real command, ${KILLS} times on one folder; a daemon starts on it, and its leases are revoked`, async () => {
  const state = copyOf(original);
  const config = join(temporaryFolder(), "steward.yaml");
  writeFileSync(config, `state: { directory: ${state} }\n`);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = spawn(LAUNCHER, ["rotate-key", "--config", config], {
      env: cleanEnvironment,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    // From the first step on, so that it is no kill of a start alone.
    child.stderr.once("data", () => setTimeout(() => child.kill("SIGKILL"), randomInt(150)));
    await ended;
    expect(await look(state, keyOf(state), rowsOf)).toEqual(formerRows);
  }
  expect(await runSteward(["rotate-key", "--config", config])).toMatchObject({ code: 0 });
  await expectReplaced(state);
  expect(existsSync(join(state, "audit.log"))).toBe(true);
  const vault = await startVault({ state, root });
  expect((await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: lease } })).status).toBe(
    204,
  );
  expect(
    (await vault.ask("POST", "github/token", { body: { installation_id: 1001 } })).status,
  ).toBe(200);
  expect(await vault.daemon.stop()).toEqual({ code: 0, signal: null });
});
