/**
 * Sealing and the key of the store: nothing answers while sealed, nothing is lost by it, and a key
 * that is missing, wrong or badly kept is told with its remedy (RESOLUTIONS T21, T22).
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { CodeHostOptions } from "../../../src/demo/code-host/types.ts";
import type { CodeHost } from "../../../src/demo/code-host/code-host.ts";
import {
  cleanEnvironment,
  type Daemon,
  removeTemporaryFolders,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "../../contract/daemon.ts";
import {
  configure,
  startCodeHost,
  startVault,
  type VaultAnswer,
  type VaultDaemon,
  vaultRequest,
} from "../../contract/vault.ts";
import { LAUNCHER } from "../../support/launcher.ts";
import { spawn } from "../../support/spawn.ts";
import { isLongRun } from "../../support/long-run.ts";

const KILLS = isLongRun ? 50 : 5;
const ROOT_LINE = /root token[^:]*: (\S+)/;

afterAll(removeTemporaryFolders);

async function startHost(options: Partial<CodeHostOptions> = {}): Promise<CodeHost> {
  const host = await startCodeHost(options);
  onTestFinished(() => host.stop());
  return host;
}

async function start(options: Parameters<typeof startVault>[0] = {}): Promise<VaultDaemon> {
  const vault = await startVault(options);
  onTestFinished(async () => void (await vault.daemon.stop()));
  return vault;
}

const keyOf = (state: string): string => readFileSync(join(state, "tokens.key"), "utf8").trim();
const mint = (vault: VaultDaemon): Promise<VaultAnswer> =>
  vault.ask("POST", "github/token", { body: { installation_id: 1001 } });
const unseal = (vault: VaultDaemon, key: string): Promise<VaultAnswer> =>
  vault.ask("PUT", "sys/unseal", { token: "", body: { key } });
const lookup = async (vault: VaultDaemon, id: string): Promise<number> =>
  (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).status;

/** A start that nobody waits for. */
function launch(file: string): {
  readonly child: ChildProcess;
  readonly lines: () => readonly string[];
} {
  const child = spawn(LAUNCHER, ["-config", file], {
    env: { ...cleanEnvironment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => (text += part));
  return { child, lines: () => text.split("\n") };
}

/** What is asked of a sealed store, beside the five paths that answer. */
const CLOSED = [
  ["GET", "github/info"],
  ["GET", "github/metrics"],
  ["GET", "github/config"],
  ["POST", "github/token"],
  ["GET", "sys/mounts"],
  ["PUT", "sys/seal"],
  ["GET", "auth/token/lookup-self"],
  ["POST", "sys/wrapping/unwrap"],
  ["GET", "sys/internal/ui/mounts"],
  ["GET", "sys/internal/specs/openapi"],
  ["LIST", "sys/leases/lookup/github"],
  ["GET", "nope"],
  ["GET", "sys/health/"],
  ["GET", "sys/seal-status/x"],
] as const;

async function expectSealed(vault: VaultDaemon): Promise<void> {
  for (const [method, path] of CLOSED) {
    for (const token of [vault.root, ""]) {
      const answer = await vault.ask(method, path, {
        token,
        ...(method === "POST" || method === "PUT" ? { body: {} } : {}),
      });
      expect([path, answer.status, answer.json]).toEqual([
        path,
        503,
        { errors: ["Vault is sealed"] },
      ]);
    }
  }
  expect((await vault.ask("GET", "sys/health", { token: "" })).status).toBe(503);
  expect((await vault.ask("GET", "sys/health?sealedcode=299", { token: "" })).status).toBe(299);
  expect((await vault.ask("GET", "sys/seal-status", { token: "" })).json).toMatchObject({
    sealed: true,
    initialized: true,
    type: "static",
  });
  expect((await vault.ask("GET", "sys/init", { token: "" })).json).toEqual({ initialized: true });
  expect((await vault.ask("GET", "sys/leader", { token: "" })).status).toBe(200);
}

describe("sys/seal", () => {
  it("under load lets those inside finish, closes to all others, and loses nothing", async () => {
    const [host, vault] = [await startHost({ latencyMs: 30 }), await start()];
    expect((await configure(vault, host)).status).toBe(204);
    const leases: string[] = [];
    const seen = new Set<number>();
    let sealed = false;
    const client = async (): Promise<void> => {
      for (let after = 0; after < 3; after += sealed ? 1 : 0) {
        const { status, json } = await mint(vault);
        seen.add(status);
        if (status === 200) leases.push(json.lease_id as string);
      }
    };
    const load = Promise.all(Array.from({ length: 16 }, client));
    await vi.waitFor(() => expect(leases.length).toBeGreaterThan(50), { timeout: 60_000 });
    expect((await vault.ask("PUT", "sys/seal")).status).toBe(204);
    sealed = true;
    await load;
    expect(seen).toEqual(new Set([200, 503]));
    await expectSealed(vault);
    for (const [key, status] of [
      ["", 400],
      ["nonsense", 400],
      [randomBytes(32).toString("base64"), 403],
    ] as const)
      expect([key, (await unseal(vault, key)).status]).toEqual([key, status]);
    expect((await unseal(vault, keyOf(vault.state))).json).toMatchObject({ sealed: false });
    for (const id of leases) expect([id, await lookup(vault, id)]).toEqual([id, 200]);
    const count = (await vault.ask("GET", "sys/leases/count")).json.data.lease_count as number;
    const orphans = (await vault.ask("GET", "sys/leases/orphans")).json.data.orphans
      .length as number;
    expect(host.counts().live).toBeLessThanOrEqual(count + orphans);
    expect(count).toBe(leases.length);
    expect((await mint(vault)).status).toBe(200);
    expect((await vault.ask("PUT", "sys/leases/revoke-prefix/github")).status).toBe(204);
    expect(host.counts().live).toBeLessThanOrEqual(orphans);
  });

  it("while a mint hangs waits no longer than it must, and what came of the mint is on record", async () => {
    const [host, vault] = [await startHost(), await start()];
    await configure(vault, host);
    host.faults.next("mint", { kind: "hang", effect: true }, 4);
    const pending = Promise.all(Array.from({ length: 4 }, () => mint(vault)));
    await vi.waitFor(() => expect(host.counts().minted).toBe(4), { timeout: 60_000 });
    expect((await vault.ask("PUT", "sys/seal")).status).toBe(204);
    await expectSealed(vault);
    expect(
      (await pending).every(({ status }) => status === 504 || status === 502 || status === 503),
    ).toBe(true);
    expect((await unseal(vault, keyOf(vault.state))).json).toMatchObject({ sealed: false });
    expect((await vault.ask("GET", "sys/leases/orphans")).json.data.orphans).toHaveLength(4);
    expect((await mint(vault)).status).toBe(200);
  });

  it("does not keep a lease from ending: one whose time comes meanwhile is revoked after", async () => {
    const [host, vault] = [await startHost({ tokenLifetimeMs: 8_000 }), await start()];
    await configure(vault, host);
    const id = (await mint(vault)).json.lease_id as string;
    expect(id).toMatch(/^github\/token\//);
    expect((await vault.ask("PUT", "sys/seal")).status).toBe(204);
    // None, unless its time came before.
    const before = host.requests().revoke;
    await vi.waitFor(() => expect(host.counts().live).toBe(0), { timeout: 60_000, interval: 100 });
    expect(host.requests().revoke).toBe(before);
    expect((await unseal(vault, keyOf(vault.state))).status).toBe(200);
    await vi.waitFor(async () => expect(await lookup(vault, id)).toBe(400), {
      timeout: 60_000,
      interval: 100,
    });
    expect(host.requests().revoke).toBe(1);
  });

  it("again and again, with unseals at once, ends in one state or the other", async () => {
    const [host, vault] = [await startHost(), await start()];
    await configure(vault, host);
    const key = keyOf(vault.state);
    for (let round = 0; round < 5; round++)
      await Promise.all([
        vault.ask("PUT", "sys/seal"),
        unseal(vault, key),
        mint(vault),
        unseal(vault, key),
        vault.ask("PUT", "sys/seal"),
        unseal(vault, key),
      ]);
    expect((await unseal(vault, key)).json).toMatchObject({ sealed: false });
    expect((await mint(vault)).status).toBe(200);
    expect(
      vault.daemon.stderr.filter((line) =>
        /assertion|sealing the store failed|TypeError/.test(line),
      ),
    ).toEqual([]);
  });
});

describe("the key of the store", () => {
  /** A state folder with a configured engine and a lease, and nobody running on it. */
  async function used(
    host: CodeHost,
    options: Parameters<typeof startVault>[0] = {},
  ): Promise<{ state: string; root: string; lease: string }> {
    const vault = await startVault(options);
    await configure(vault, host);
    const lease = (await mint(vault)).json.lease_id as string;
    expect(await vault.daemon.stop()).toEqual({ code: 0, signal: null });
    return { state: vault.state, root: vault.root, lease };
  }

  const spoiled: Readonly<Record<string, readonly [(path: string) => void, RegExp]>> = {
    missing: [
      (path) => renameSync(path, `${path}.away`),
      /tokens\.key is missing, and the store of tokens cannot be read without it.*sys\/unseal/,
    ],
    "another one": [
      (path) => writeFileSync(path, `${randomBytes(32).toString("base64")}\n`),
      /tokens\.key does not hold the key.*restore the key file/,
    ],
    "cut short": [(path) => writeFileSync(path, "c2hvcnQ=\n"), /does not hold 32 bytes/],
    empty: [(path) => writeFileSync(path, ""), /does not hold 32 bytes/],
    "readable for others": [
      (path) => chmodSync(path, 0o644),
      /has mode 0644: others can use it.*chmod 600/,
    ],
  };

  it.each(Object.entries(spoiled))(
    "%s: the daemon runs, sealed, says why, and opens with the key by hand",
    async (_name, [spoil, says]) => {
      const host = await startHost();
      const { state, root, lease } = await used(host);
      const [path, key] = [join(state, "tokens.key"), keyOf(state)];
      spoil(path);
      const vault = await start({ state, root });
      expect(vault.daemon.stderr.join("\n")).toMatch(says);
      expect(vault.daemon.stderr.join("\n")).not.toContain(key);
      await expectSealed(vault);
      expect((await unseal(vault, key)).json).toMatchObject({ sealed: false });
      expect(
        (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: lease } })).status,
      ).toBe(204);
      expect(host.counts().live).toBe(0);
      expect((await mint(vault)).status).toBe(200);
    },
  );

  it("is taken from tokens.seal.key_file, or from a systemd credential, and none is made beside the data then", async () => {
    const host = await startHost();
    const folder = temporaryFolder();
    const file = join(folder, "tokens.key");
    writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
    for (const options of [
      { config: `tokens: { seal: { key_file: ${file} } }` },
      { env: { CREDENTIALS_DIRECTORY: folder } },
    ]) {
      const { state, root, lease } = await used(host, options);
      expect(readdirSync(state)).not.toContain("tokens.key");
      const vault = await startVault({ ...options, state, root });
      expect(await lookup(vault, lease)).toBe(200);
      expect(vault.daemon.stderr.join("\n")).not.toContain("in the same folder as the data");
      await vault.daemon.stop();
      const without = await startVault({ state, root });
      expect((await without.ask("GET", "sys/seal-status")).json).toMatchObject({
        sealed: true,
        initialized: true,
      });
      expect(readdirSync(state)).not.toContain("tokens.key");
      await without.daemon.stop();
    }
  });

  it("that is named and not there at the first start: nothing is initialised, the remedy is told, and the next start finds it", async () => {
    const file = join(temporaryFolder(), "tokens.key");
    const [state, config] = [temporaryFolder(), `tokens: { seal: { key_file: ${file} } }`];
    const before = await startVault({ state, config });
    expect(before.root).toBe("");
    expect(before.daemon.stderr.join("\n")).toMatch(/head -c 32 \/dev\/urandom/);
    expect((await before.ask("GET", "sys/health")).status).toBe(501);
    await before.daemon.stop();
    writeFileSync(file, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    const after = await start({ state, config });
    expect(after.root).toMatch(/^hvs\./);
    expect((await after.ask("GET", "sys/mounts")).status).toBe(200);
  });

  it("and the root token survive kills in the first start: some start shows a token that works", async () => {
    const state = temporaryFolder();
    const config = `gateway: { listen: "127.0.0.1:0" }\nstate: { directory: ${state} }\nservices: { dedup: false, monitor: false }\n`;
    const file = join(temporaryFolder(), "steward.yaml");
    writeFileSync(file, config);
    const shown: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const { child, lines } = launch(file);
      await new Promise((resolve) => setTimeout(resolve, 300 + randomInt(700)));
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("close", resolve));
      shown.push(...lines().flatMap((line) => ROOT_LINE.exec(line)?.[1] ?? []));
    }
    const last: Daemon = await startDaemon({ args: ["-config", file] });
    onTestFinished(async () => void (await last.stop()));
    shown.push(...last.stderr.flatMap((line) => ROOT_LINE.exec(line)?.[1] ?? []));
    const good = [];
    for (const token of shown)
      if ((await vaultRequest(last.url, "GET", "auth/token/lookup-self", { token })).status === 200)
        good.push(token);
    expect(good).toHaveLength(1);
    expect(statSync(join(state, "tokens.key")).mode & 0o777).toBe(0o600);
  });

  it("is one, though two daemons start on one folder at once: one of them serves, the other ends and says why", async () => {
    const state = temporaryFolder();
    const both = await Promise.allSettled([startVault({ state }), startVault({ state })]);
    const running = both.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const refused = both.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
    for (const { daemon } of running) onTestFinished(async () => void (await daemon.stop()));
    expect([running.length, refused.length]).toEqual([1, 1]);
    expect(refused[0]).toMatch(/state/);
    expect((await running[0]?.ask("GET", "auth/token/lookup-self"))?.status).toBe(200);
  });
});

describe("a backup", () => {
  it("keeps what is sealed, without the key; check finds it sound; with the key its leases can be revoked", async () => {
    const host = await startHost();
    const vault = await start();
    await configure(vault, host);
    const minted = await mint(vault);
    const [id, token] = [minted.json.lease_id as string, minted.json.data.token as string];
    const target = join(temporaryFolder(), "backup");
    const file = join(temporaryFolder(), "steward.yaml");
    writeFileSync(
      file,
      `state: { directory: ${vault.state} }\nservices: { dedup: false, monitor: false }\n`,
    );
    const made = await runSteward(["backup", target, "-config", file]);
    expect([
      made.code,
      made.stderr.replaceAll(/^.*can be read by other users.*$/gm, "").trim(),
    ]).toEqual([0, ""]);
    expect(readdirSync(target)).toContain("tokens.mdb");
    expect(readdirSync(target)).not.toContain("tokens.key");
    for (const name of readdirSync(target))
      for (const secret of [token, vault.root, "BEGIN RSA PRIVATE KEY"])
        expect([name, readFileSync(join(target, name)).includes(secret)]).toEqual([name, false]);
    const checked = await runSteward(["check", target]);
    expect([checked.code, checked.stdout]).toEqual([
      0,
      expect.stringContaining("tokens.mdb: SOUND") as string,
    ]);
    // What happens after the backup is not in it.
    expect(
      (await vault.ask("POST", "github/permissionset/later", { body: { installation_id: 1001 } }))
        .status,
    ).toBe(204);
    await vault.daemon.stop();
    expect((await runSteward(["check", vault.state])).code).toBe(0);

    const sealed = await startVault({ state: target, root: vault.root });
    expect((await sealed.ask("GET", "sys/seal-status")).json).toMatchObject({
      sealed: true,
      initialized: true,
    });
    await sealed.daemon.stop();
    expect(existsSync(join(target, "tokens.key"))).toBe(false);
    mkdirSync(target, { recursive: true });
    copyFileSync(join(vault.state, "tokens.key"), join(target, "tokens.key"));
    const restored = await start({ state: target, root: vault.root });
    expect((await restored.ask("GET", "github/config")).json.data.prv_key).toBe("<configured>");
    expect((await restored.ask("GET", "github/permissionset/later")).status).toBe(404);
    expect(await lookup(restored, id)).toBe(200);
    expect(
      (await restored.ask("PUT", "sys/leases/revoke", { body: { lease_id: id } })).status,
    ).toBe(204);
    expect(host.counts().live).toBe(0);
    expect((await mint(restored)).status).toBe(200);
  });
});
