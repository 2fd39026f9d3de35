/** Key shares with the clients that people use: hvac, node-vault, OpenBao's own. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import nodeVault from "node-vault";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { cleanEnvironment, removeTemporaryFolders } from "../daemon.ts";
import { initialize, startShamir } from "../shamir.ts";
import type { VaultDaemon } from "../vault.ts";

const binaries = join(import.meta.dirname, "../../../.cache/python/bin");
const python = join(binaries, "python");
const hasHvac = existsSync(python) && spawnSync(python, ["-c", "import hvac"]).status === 0;
const bao = join(binaries, "bao");
const hasBao = existsSync(bao);
if (!hasHvac || !hasBao)
  process.stderr.write(
    "skipped: key shares with hvac or bao (not in .cache/python; `.ci/run` puts them there where Python is)\n",
  );

afterAll(removeTemporaryFolders);

async function start(): Promise<VaultDaemon> {
  const vault = await startShamir();
  onTestFinished(async () => void (await vault.daemon.stop()));
  return vault;
}

it.skipIf(!hasHvac)("hvac initialises, unseals, rekeys and generates a root token", async () => {
  const vault = await start();
  const { stdout } = await promisify(execFile)(
    python,
    [join(import.meta.dirname, "python/hvac_shamir.py")],
    { env: { ...cleanEnvironment, VAULT_ADDR: vault.daemon.url } },
  );
  expect(stdout.trim().split("\n")).toEqual(
    ["initialise", "unseal", "rekey", "verification", "generate root", "rotate and seal"].map(
      (name) => `held: ${name}`,
    ),
  );
});

it("node-vault initialises, unseals, seals and generates a root token", async () => {
  const { daemon } = await start();
  const client = nodeVault({ endpoint: daemon.url });
  expect(await client.initialized()).toEqual({ initialized: false });
  const made = (await client.init({ secret_shares: 3, secret_threshold: 2 })) as {
    keys: string[];
    root_token: string;
  };
  await expect(client.init({ secret_shares: 3, secret_threshold: 2 })).rejects.toThrow(
    "Vault is already initialized",
  );
  const [first = "", , third = ""] = made.keys;
  expect(await client.unseal({ secret_shares: 3, key: first })).toMatchObject({ progress: 1 });
  expect(await client.unseal({ secret_shares: 3, key: third })).toMatchObject({ sealed: false });
  client.token = made.root_token;
  expect((await client.mounts()).data["github/"]).toMatchObject({ type: "github" });
  const begun = await client.generateRootInit({});
  await client.generateRootCancel();
  expect(await client.read("sys/generate-root/attempt")).toMatchObject({ started: false });
  const again = await client.generateRootInit({});
  expect(again.nonce).not.toBe(begun.nonce);
  await client.generateRootUpdate({ key: first, nonce: again.nonce });
  const done = await client.generateRootUpdate({ key: third, nonce: again.nonce });
  const token = Buffer.from(
    Buffer.from(done.encoded_root_token as string, "base64").map(
      (byte, at) => byte ^ (again.otp as string).charCodeAt(at),
    ),
  ).toString("utf8");
  expect(
    (await nodeVault({ endpoint: daemon.url, token }).tokenLookupSelf()).data.policies,
  ).toEqual(["root"]);
  await client.seal();
  await vi.waitFor(async () => expect((await client.status()).sealed).toBe(true), {
    timeout: 60_000,
  });
});

it.skipIf(!hasBao)("bao asks for the status with the exit code of a sealed store", async () => {
  const vault = await start();
  await initialize(vault);
  const { status, stdout } = spawnSync(bao, ["status", "-format=json"], {
    encoding: "utf8",
    env: { ...cleanEnvironment, BAO_ADDR: vault.daemon.url },
  });
  expect([status, JSON.parse(stdout)]).toEqual([
    2,
    expect.objectContaining({ type: "shamir", sealed: true, t: 3, n: 5, progress: 0 }) as object,
  ]);
});
