/**
 * A store that is sealed by key shares beside the rest of Steward: its type, commands, backups, and
 * what is written where.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { removeTemporaryFolders, runSteward, temporaryFolder } from "./daemon.ts";
import { open, SHAMIR, startShamir, startUnsealed, unseal } from "./shamir.ts";
import { startVault, type VaultAnswer, type VaultDaemon } from "./vault.ts";

afterAll(removeTemporaryFolders);

function stopAtEnd(vault: VaultDaemon): VaultDaemon {
  onTestFinished(async () => void (await vault.daemon.stop()));
  return vault;
}

async function start(state?: string): Promise<VaultDaemon> {
  return stopAtEnd(await startShamir(state));
}

async function unsealed(terms = {}): Promise<Awaited<ReturnType<typeof startUnsealed>>> {
  const started = await startUnsealed(terms);
  stopAtEnd(started.vault);
  return started;
}

describe("a store", () => {
  it("keeps the type of its seal: with the other one the service refuses and names key and remedy", async () => {
    const { vault } = await unsealed({ shares: 1, threshold: 1 });
    await vault.daemon.stop();
    const asFile = stopAtEnd(await startVault({ state: vault.state }));
    const refused = await asFile.ask("GET", "sys/health");
    expect([refused.status, refused.text]).toEqual([
      503,
      expect.stringMatching(
        /tokens\.seal\.type is file, but the store of tokens in .* was made with shamir/,
      ) as string,
    ]);
    const file = await startVault();
    await file.daemon.stop();
    const asShamir = await start(file.state);
    expect((await open(asShamir, "PUT", "sys/init", {})).text).toMatch(
      /tokens\.seal\.type is shamir, but the store of tokens in .* was made with file/,
    );
    expect(asShamir.daemon.stderr.join("\n")).toContain("set tokens.seal.type to file");
  });

  it("with a key file refuses rekey and generate-root, naming the commands that do it", async () => {
    const vault = stopAtEnd(await startVault());
    for (const [path, command] of [
      ["sys/rekey/init", "steward rotate-key"],
      ["sys/generate-root/attempt", "steward root-token"],
    ] as const) {
      const body = { secret_shares: 1, secret_threshold: 1 };
      expect([path, (await open(vault, "PUT", path, body)).status]).toEqual([path, 403]);
      const answer = await vault.ask("PUT", path, { body });
      expect([answer.status, answer.json.errors[0]]).toEqual([
        400,
        expect.stringContaining(command) as string,
      ]);
    }
    expect((await open(vault, "PUT", "sys/init", {})).json).toEqual({
      errors: ["Vault is already initialized"],
    });
  });

  it("with key shares is refused by the commands that need a key file; backup and check take it", async () => {
    const { vault, holders } = await unsealed({ shares: 2, threshold: 2 });
    const backup = join(temporaryFolder(), "backup");
    await vault.daemon.stop();
    const config = join(temporaryFolder(), "steward.yaml");
    writeFileSync(config, `state: { directory: ${vault.state} }\n${SHAMIR}\n`);
    for (const [command, remedy] of [
      ["rotate-key", "sys/rekey"],
      ["root-token", "sys/generate-root"],
    ] as const) {
      const { code, stderr } = await runSteward([command, "--config", config]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(remedy) as string]);
    }
    expect((await runSteward(["check", "--config", config])).code).toBe(0);
    expect((await runSteward(["backup", "--config", config, backup])).code).toBe(0);
    writeFileSync(config, `state: { directory: ${backup} }\n${SHAMIR}\n`);
    const restored = stopAtEnd(await startShamir(backup, vault.root));
    expect((await unseal(restored, holders.keys)).json).toMatchObject({ sealed: false });
    expect((await restored.ask("GET", "sys/mounts")).status).toBe(200);
  });

  it("gives nobody without a token or a share unlimited audit records or attempts, and takes a right share all the same", async () => {
    const { vault, holders } = await unsealed({ shares: 2, threshold: 2 });
    const from = "127.0.1.9";
    const send = (method: string, path: string, body?: unknown): Promise<VaultAnswer> =>
      vault.ask(method, path, { token: "", from, ...(body === undefined ? {} : { body }) });
    const records = (): string[] =>
      readFileSync(join(vault.state, "audit.log"), "utf8")
        .split("\n")
        .filter((line) => line.includes(`"remote_address":"${from}"`));
    // Two records of each of ten failures a minute, and a slow machine takes more than one.
    const startMs = performance.now();
    const mostRecords = (): number => 20 * (1 + Math.floor((performance.now() - startMs) / 60_000));
    const rekey = { secret_shares: 1, secret_threshold: 1 };
    const [key, other] = holders.keys;
    const share = "11".repeat(33);
    for (let round = 0; round < 12; round += 1)
      for (const [method, path, body] of [
        ["PUT", "sys/rekey/init", { secret_shares: 1, secret_threshold: 2 }],
        ["PUT", "sys/rekey/init", { ...rekey, pgp_keys: ["x"] }],
        ["PUT", "sys/rekey/update", { key: share, nonce: "x" }],
        ["PUT", "sys/rekey/update", {}],
        ["PUT", "sys/rekey/verify", { key: share, nonce: "x" }],
        ["GET", "sys/rekey/verify", undefined],
        ["DELETE", "sys/rekey/verify", undefined],
        ["PUT", "sys/rekey-recovery-key/init", {}],
        ["PUT", "sys/generate-root/attempt", { otp: "short" }],
        ["PUT", "sys/generate-root/update", { key: share, nonce: "x" }],
      ] as const)
        expect([path, (await send(method, path, body)).status]).toEqual([path, 400]);
    expect(records().length).toBeLessThanOrEqual(mostRecords());
    const { nonce } = (await send("PUT", "sys/rekey/init", rekey)).json as { nonce: string };
    expect((await send("PUT", "sys/rekey/update", { key, nonce })).json).toMatchObject({
      progress: 1,
    });
    const answered = records().filter((line) => line.includes('"type":"response"'));
    expect(answered.filter((line) => !line.includes('"error"'))).toHaveLength(2);
    let refused: VaultAnswer | undefined;
    for (let sent = 0; sent < 3_000 && refused?.status !== 429; sent += 25)
      [refused] = await Promise.all(
        Array.from({ length: 25 }, (_, index) =>
          send("PUT", "sys/rekey/update", index % 2 === 0 ? { key, nonce } : { key: "00", nonce }),
        ),
      );
    expect([refused?.status, refused?.json.errors[0]]).toEqual([
      429,
      expect.stringContaining("too many failed attempts from 127.0.1.9") as string,
    ]);
    expect(records().length).toBeLessThanOrEqual(mostRecords() + 4);
    expect((await send("GET", "sys/rekey/init")).json).toMatchObject({ progress: 1, nonce });
    const done = await send("PUT", "sys/rekey/update", { key: other, nonce });
    expect([done.status, done.json.complete]).toEqual([200, true]);
  });

  it("has sys/rotate: a new data key under the same shares, over a restart too", async () => {
    const { vault, holders } = await unsealed({ shares: 2, threshold: 2 });
    expect((await vault.ask("PUT", "sys/rotate")).status).toBe(204);
    expect((await vault.ask("GET", "sys/key-status")).json.data.term).toBe(2);
    await vault.daemon.stop();
    const again = stopAtEnd(await startShamir(vault.state, vault.root));
    await unseal(again, holders.keys);
    expect((await again.ask("GET", "sys/key-status")).json.data.term).toBe(2);
  });

  it("writes no share, pad or token into log, audit file or store, and says in the audit who generated a root token", async () => {
    const { vault, holders } = await unsealed({ shares: 2, threshold: 2 });
    const begun = (await open(vault, "PUT", "sys/generate-root/attempt")).json;
    for (const key of holders.keys)
      await open(vault, "PUT", "sys/generate-root/update", { key, nonce: begun.nonce });
    const { nonce } = (
      await open(vault, "PUT", "sys/rekey/init", { secret_shares: 1, secret_threshold: 1 })
    ).json as { nonce: string };
    let made: Record<string, unknown> = {};
    for (const key of holders.keys_base64)
      made = (await open(vault, "PUT", "sys/rekey/update", { key, nonce })).json;
    await vi.waitFor(
      () => expect(vault.daemon.stderr.join("\n")).toContain("only its new shares unseal"),
      { timeout: 60_000 },
    );
    const audit = readFileSync(join(vault.state, "audit.log"), "utf8");
    const kept = [
      audit,
      vault.daemon.stderr.join("\n"),
      readFileSync(join(vault.state, "tokens.mdb"), "latin1"),
    ];
    const secrets = [
      ...holders.keys,
      ...holders.keys_base64,
      ...(made["keys"] as string[]),
      ...(made["keys_base64"] as string[]),
      holders.root_token,
      begun.otp as string,
    ];
    for (const secret of secrets)
      for (const text of kept) expect(text.includes(secret)).toBe(false);
    for (const key of [...holders.keys, ...(made["keys"] as string[])])
      for (const text of kept)
        expect(text.includes(Buffer.from(key, "hex").toString("latin1"))).toBe(false);
    expect(audit).toMatch(/"path":"sys\/generate-root\/update"[^\n]*"key":"hmac-sha256:/);
    expect(audit).toMatch(/"path":"sys\/rekey\/update"/);
  });
});
