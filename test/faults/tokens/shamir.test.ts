/**
 * Key shares under faults: killed at each durable step of an initialisation, an unsealing or a
 * rekey, the store opens by shares that somebody has; and no share, pad or token comes out but in
 * the answer it is for.
 */
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { AnyTable } from "../../../src/kernel/state/types.ts";
import { tokensStore } from "../../../src/tokens/stores.ts";
import { openSeal } from "../../../src/tokens/vault/seal/seal.ts";
import {
  cleanEnvironment,
  removeTemporaryFolders,
  temporaryFolder,
} from "../../contract/daemon.ts";
import { open, startShamir, startUnsealed, unseal } from "../../contract/shamir.ts";
import { quietLog } from "../../kernel/state/fixtures/tables.ts";
import { filesOf, found } from "../canaries.ts";
import { isLongRun } from "../../support/long-run.ts";

const holder = join(import.meta.dirname, "fixtures/share-holder.ts");
const KILLS = isLongRun ? 40 : 4;

let holders: readonly string[];
/** The folder of a store in use, and nobody running on it. */
let original: string;
let rows: unknown;

beforeAll(async () => {
  const { vault, holders: made } = await startUnsealed({ shares: 3, threshold: 2 });
  await vault.ask("PUT", "sys/policies/acl/kept", {
    body: { policy: 'path "github/token" { capabilities = ["create"] }' },
  });
  await vault.daemon.stop();
  [original, holders] = [vault.state, made.keys];
  rows = await rowsBy(original, holders.slice(0, 2));
  expect((rows as unknown[]).length).toBeGreaterThan(3);
});

afterAll(removeTemporaryFolders);

function copyOf(state: string): string {
  const folder = join(temporaryFolder(), "state");
  cpSync(state, folder, { recursive: true });
  return folder;
}

/** What the store holds, when these shares open it; else undefined. */
async function rowsBy(state: string, shares: readonly string[]): Promise<unknown> {
  const env = await createStateFactory({
    directory: state,
    clock: systemClock,
    log: quietLog,
  }).open(tokensStore);
  try {
    const seal = await openSeal(
      { env, directory: state, ids: systemIds, log: quietLog },
      { type: "shamir", keyFile: undefined, credentials: undefined },
    );
    let isOpen = false;
    for (const share of shares) isOpen = await seal.unseal(share).catch(() => false);
    if (!isOpen) return undefined;
    const all = (table: AnyTable): unknown[] =>
      env.read((snapshot) => [...snapshot.range(table)].map((row) => [table.name, row]));
    return tokensStore.tables.filter(({ sealed }) => sealed).flatMap(all);
  } finally {
    await env.close();
  }
}

interface Run {
  readonly steps: readonly string[];
  readonly killed: boolean;
  /** New shares, if they were answered. */
  readonly answered: readonly string[] | undefined;
}

function run(state: string, task: string, killAt: number, shares: readonly string[] = []): Run {
  const { stdout, signal, status, stderr } = spawnSync(
    process.execPath,
    [holder, state, task, String(killAt), ...shares],
    { encoding: "utf8", env: cleanEnvironment },
  );
  if (signal === null && status !== 0) throw new Error(stderr);
  const lines = stdout.trim().split("\n");
  return {
    steps: lines.filter((line) => line !== "" && !line.startsWith("shares ")),
    killed: signal === "SIGKILL",
    answered: lines
      .find((line) => line.startsWith("shares "))
      ?.split(" ")
      .slice(1),
  };
}

describe("killed at each step", () => {
  it.each(["rekey", "verified"])(
    "of a rekey (%s): the former or the new shares open the store with all that is in it, and it can be rekeyed again",
    async (task) => {
      const former = holders.slice(0, 2);
      const whole = run(copyOf(original), task, 0, former);
      expect(whole.steps.filter((step) => step === "key replaced")).toHaveLength(1);
      for (let at = 1; at <= whole.steps.length; at += 1) {
        const state = copyOf(original);
        const { steps, killed, answered } = run(state, task, at, former);
        expect([at, killed, steps.length]).toEqual([at, true, at]);
        const byFormer = await rowsBy(copyOf(state), former);
        const byNew = answered && (await rowsBy(copyOf(state), answered.slice(1)));
        expect([steps.at(-1), byFormer ?? byNew]).toEqual([steps.at(-1), rows]);
        // Shares that nobody was given must not be the only ones.
        if (answered === undefined) expect(byFormer).toEqual(rows);
        if (steps.includes("key replaced")) expect([byFormer, byNew]).toEqual([undefined, rows]);
        // Whoever opened it is the only one from then on.
        const present = byFormer === undefined ? (answered ?? []).slice(1) : former;
        const again = run(state, "rekey", 0, present);
        expect(await rowsBy(state, again.answered?.slice(0, 3) ?? [])).toEqual(rows);
        expect(await rowsBy(state, present)).toBeUndefined();
      }
    },
  );

  it("of an unsealing: the same shares open it again", async () => {
    const whole = run(copyOf(original), "unseal", 0, holders.slice(1));
    expect(whole.steps).toEqual(["keyring unsealed"]);
    const state = copyOf(original);
    expect(run(state, "unseal", 1, holders.slice(1)).killed).toBe(true);
    expect(await rowsBy(state, holders.slice(1))).toEqual(rows);
  });

  it("of the initialisation: answered shares open the store, and when none were answered it can be initialised again", async () => {
    const whole = run(temporaryFolder(), "init", 0);
    expect(whole.steps).toEqual(["row written", "answered", "row written"]);
    for (let at = 0; at <= whole.steps.length; at += 1) {
      const state = temporaryFolder();
      const { answered, steps } = run(state, "init", at);
      if (answered !== undefined)
        expect(await rowsBy(copyOf(state), answered.slice(1))).toEqual([]);
      const vault = await startShamir(state);
      onTestFinished(async () => void (await vault.daemon.stop()));
      const again = await open(vault, "PUT", "sys/init", { secret_shares: 2, secret_threshold: 2 });
      // Once the answer was sent and that was stored, nobody can take the store away.
      expect([at, again.status]).toEqual([at, at === 0 || steps.length === 3 ? 400 : 200]);
      const keys = again.status === 200 ? (again.json.keys as string[]) : (answered ?? []).slice(1);
      expect((await unseal(vault, keys)).json).toMatchObject({ sealed: false });
      await vault.daemon.stop();
    }
  });

  it(`at any moment of a rekey of the daemon, ${KILLS} times on one store: somebody's shares open it`, async () => {
    const state = copyOf(original);
    let present: readonly string[] = holders.slice(0, 2);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const vault = await startShamir(state);
      await unseal(vault, present);
      const { nonce } = (
        await open(vault, "PUT", "sys/rekey/init", { secret_shares: 2, secret_threshold: 2 })
      ).json as { nonce: string };
      const [first, last] = present;
      await open(vault, "PUT", "sys/rekey/update", { key: first, nonce });
      const asked = open(vault, "PUT", "sys/rekey/update", { key: last, nonce });
      // From before the answer to after the replacement.
      if (kill % 2 === 0) void vault.daemon.stop("SIGKILL");
      const answer = await asked.catch(() => undefined);
      await vault.daemon.stop("SIGKILL");
      const made = answer?.json?.keys as string[] | undefined;
      const again = await startShamir(state);
      const isFormer = (await unseal(again, present)).json?.sealed === false;
      if (!isFormer) {
        expect(made).toHaveLength(2);
        expect((await unseal(again, made ?? [])).json).toMatchObject({ sealed: false });
        present = made ?? [];
      }
      await again.daemon.stop();
    }
    expect(await rowsBy(state, present)).toEqual(
      expect.arrayContaining([expect.arrayContaining(["policies"])]),
    );
  });
});

it("no share, pad or root token is in logs, audit, store, metrics, pages or refusals", async () => {
  const { vault, holders: made } = await startUnsealed({ shares: 3, threshold: 2 });
  onTestFinished(async () => void (await vault.daemon.stop()));
  const outputs: Record<string, string | Buffer> = {};
  const ask = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await open(vault, "PUT", path, body);
    if (answer.status >= 400) outputs[`refusal ${Object.keys(outputs).length}`] = answer.text;
    return answer.json as Record<string, unknown>;
  };
  const [first = "", second = "", third = ""] = made.keys;
  await ask("sys/unseal", { key: `${first}!` });
  const { nonce, otp } = await ask("sys/generate-root/attempt", {});
  await ask("sys/generate-root/update", { key: first, nonce: second });
  await ask("sys/generate-root/update", { key: first, nonce });
  await ask("sys/generate-root/update", { key: first, nonce });
  await ask("sys/generate-root/update", { key: "33".repeat(33), nonce });
  await ask("sys/generate-root/update", { key: first, nonce });
  const { encoded_token: encoded = "" } = await ask("sys/generate-root/update", {
    key: third,
    nonce,
  });
  const token = Buffer.from(
    Buffer.from(String(encoded), "base64").map((byte, at) => byte ^ String(otp).charCodeAt(at)),
  ).toString("utf8");
  expect(token).toMatch(/^hvs\./);
  const rekey = await ask("sys/rekey/init", { secret_shares: 2, secret_threshold: 2 });
  await ask("sys/rekey/update", { key: first, nonce: rekey["nonce"] });
  const fresh = await ask("sys/rekey/update", { key: second, nonce: rekey["nonce"] });
  await vi.waitFor(
    () => expect(vault.daemon.stderr.join("\n")).toContain("only its new shares unseal"),
    { timeout: 60_000 },
  );
  for (const path of [
    "/",
    "/tokens",
    "/api/status.json",
    "/readyz?verbose=1",
    "/api/support-bundle",
  ])
    outputs[path] = Buffer.from(await (await fetch(`${vault.daemon.url}${path}`)).arrayBuffer());
  outputs["log"] = vault.daemon.stderr.join("\n");
  await vault.daemon.stop();
  Object.assign(outputs, filesOf(vault.state));
  const keys = [...made.keys, ...(fresh["keys"] as string[])];
  const canaries = [
    ...keys.map((value, at) => ({ where: `share ${at}`, value })),
    ...keys.map((value, at) => ({
      where: `share ${at} in base64`,
      value: Buffer.from(value, "hex").toString("base64"),
    })),
    { where: "first root token", value: made.root_token },
    { where: "generated root token", value: token },
    { where: "pad", value: String(otp) },
    { where: "encoded token", value: String(encoded) },
  ];
  expect(found(canaries, outputs)).toEqual([]);
  for (const [name, output] of Object.entries(outputs))
    for (const key of keys)
      expect([name, Buffer.from(output).includes(Buffer.from(key, "hex"))]).toEqual([name, false]);
});
