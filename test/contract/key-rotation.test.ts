/**
 * The store's key: `sys/rotate` and `sys/key-status` of the running daemon, and `steward
 * rotate-key` as an operator meets it.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import {
  type CommandResult,
  removeTemporaryFolders,
  runSteward,
  temporaryFolder,
} from "./daemon.ts";
import { configure, startCodeHost, startVault, type VaultDaemon } from "./vault.ts";

let host: CodeHost;

beforeAll(async () => {
  host = await startCodeHost();
});

afterAll(async () => {
  await host.stop();
  removeTemporaryFolders();
});

async function mint(vault: VaultDaemon): Promise<string> {
  return (await vault.ask("POST", "github/token", { body: { installation_id: 1001 } })).json
    .lease_id as string;
}

async function lookup(vault: VaultDaemon, id: string): Promise<number> {
  return (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).status;
}

function rotateKey(state: string, more: readonly string[] = [], yaml = ""): Promise<CommandResult> {
  const config = join(temporaryFolder(), "steward.yaml");
  writeFileSync(config, `state: { directory: ${state} }\n${yaml}`);
  return runSteward(["rotate-key", "--config", config, ...more]);
}

/** A stopped daemon's folder with a lease in it. */
async function used(
  config = "",
): Promise<{ readonly state: string; readonly root: string; readonly lease: string }> {
  const vault = await startVault({ config });
  await configure(vault, host);
  const lease = await mint(vault);
  await vault.daemon.stop();
  return { state: vault.state, root: vault.root, lease };
}

describe("sys/rotate", () => {
  it("makes a new data key, told by sys/key-status as Vault tells it; older rows stay readable and get the new key, over a restart too", async () => {
    const vault = await startVault();
    await configure(vault, host);
    const lease = await mint(vault);
    const before = (await vault.ask("GET", "sys/key-status")).json;
    expect(before.data).toEqual({
      term: 1,
      install_time: expect.stringMatching(/^20\d\d-.*Z$/) as string,
      encryptions: expect.any(Number) as number,
    });
    expect(before).toMatchObject(before.data); // sys/ repeats its data at the top
    expect(before.data.encryptions).toBeGreaterThan(5);
    for (const [method, path] of [
      ["PUT", "sys/rotate"],
      ["POST", "sys/rotate"],
      ["PUT", "sys/rotate/keyring"],
    ] as const) {
      const answer = await vault.ask(method, path);
      expect([path, answer.status, answer.text]).toEqual([path, 204, ""]);
    }
    const after = (await vault.ask("GET", "sys/key-status")).json.data;
    expect(after.term).toBe(4);
    expect(Date.parse(after.install_time as string)).toBeGreaterThanOrEqual(
      Date.parse(before.data.install_time as string),
    );
    await vi.waitFor(
      () =>
        expect(vault.daemon.stderr.join("\n")).toMatch(
          /rows of older data keys were re-encrypted.*term=4/,
        ),
      { timeout: 60_000 },
    );
    expect([await lookup(vault, lease), await lookup(vault, await mint(vault))]).toEqual([
      200, 200,
    ]);
    expect(
      readFileSync(join(vault.state, "audit.log"), "utf8")
        .split("\n")
        .filter((line) => line.includes('"path":"sys/rotate"')),
    ).toHaveLength(4);
    await vault.daemon.stop();
    const again = await startVault({ state: vault.state, root: vault.root });
    expect((await again.ask("GET", "sys/key-status")).json.data).toMatchObject({
      term: 4,
      install_time: after.install_time,
    });
    expect(await lookup(again, lease)).toBe(200);
    await again.daemon.stop();
  });

  it("needs sudo beside update, sys/key-status read alone; neither answers without a token, by other methods, or sealed", async () => {
    const vault = await startVault();
    const tokenFor = async (name: string, path: string, capabilities: string): Promise<string> => {
      await vault.ask("PUT", `sys/policies/acl/${name}`, {
        body: { policy: `path "${path}" { capabilities = [${capabilities}] }` },
      });
      return (await vault.ask("POST", "auth/token/create", { body: { policies: [name] } })).json
        .auth.client_token as string;
    };
    const plain = await tokenFor("plain", "sys/rotate", '"update"');
    const sudo = await tokenFor("sudo", "sys/rotate", '"update", "sudo"');
    const reader = await tokenFor("reader", "sys/key-status", '"read"');
    const status = async (method: string, path: string, token: string): Promise<number> =>
      (await vault.ask(method, path, { token })).status;
    expect([
      await status("PUT", "sys/rotate", plain),
      await status("PUT", "sys/rotate", sudo),
      await status("PUT", "sys/rotate", reader),
    ]).toEqual([403, 204, 403]);
    expect([
      await status("GET", "sys/key-status", plain),
      await status("GET", "sys/key-status", reader),
    ]).toEqual([403, 200]);
    expect([
      await status("PUT", "sys/rotate", ""),
      await status("GET", "sys/key-status", ""),
    ]).toEqual([403, 403]);
    expect([
      await status("GET", "sys/rotate", vault.root),
      await status("PUT", "sys/key-status", vault.root),
    ]).toEqual([405, 405]);
    const paths = (await vault.ask("GET", "sys/internal/specs/openapi", { token: "" })).json.paths;
    expect([
      paths["/sys/rotate"]["x-vault-sudo"],
      paths["/sys/key-status"].get === undefined,
    ]).toEqual([true, false]);
    await vault.ask("PUT", "sys/seal");
    expect([
      await status("PUT", "sys/rotate", vault.root),
      await status("GET", "sys/key-status", vault.root),
    ]).toEqual([503, 503]);
    await vault.daemon.stop();
  });
});

describe("steward rotate-key", () => {
  it("puts another key in place: the daemon opens by it, a copy of the former key opens nothing, an older backup opens by the former", async () => {
    const { state, root, lease } = await used();
    const [key, saved] = [join(state, "tokens.key"), join(temporaryFolder(), "former.key")];
    copyFileSync(key, saved);
    const backup = join(temporaryFolder(), "backup");
    const config = join(temporaryFolder(), "steward.yaml");
    writeFileSync(config, `state: { directory: ${state} }\n`);
    expect((await runSteward(["backup", "--config", config, backup])).code).toBe(0);

    const done = await rotateKey(state);
    expect([done.code, done.stdout]).toEqual([
      0,
      expect.stringMatching(/^the new key of .* is in .*tokens\.key; \d+ rows were re-encrypted\n/),
    ]);
    expect([done.stdout, done.stderr].join("").includes(readFileSync(key, "utf8").trim())).toBe(
      false,
    );
    expect([
      readFileSync(key, "utf8") === readFileSync(saved, "utf8"),
      statSync(key).mode & 0o777,
      statSync(join(state, "tokens.mdb")).mode & 0o777,
    ]).toEqual([false, 0o600, 0o600]);
    expect((await runSteward(["check", state])).code).toBe(0);
    const records = readFileSync(join(state, "audit.log"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; request: { path: string } });
    expect(records.slice(-2).map(({ type, request }) => [type, request.path])).toEqual([
      ["request", "sys/rotate-key"],
      ["response", "sys/rotate-key"],
    ]);

    const vault = await startVault({ state, root });
    expect([
      await lookup(vault, lease),
      (await vault.ask("GET", "sys/key-status")).json.data.term,
    ]).toEqual([200, 2]);
    expect((await vault.ask("PUT", "sys/seal")).status).toBe(204);
    const unseal = async (path: string): Promise<number> =>
      (
        await vault.ask("PUT", "sys/unseal", {
          token: "",
          body: { key: readFileSync(path, "utf8") },
        })
      ).status;
    expect([await unseal(saved), await unseal(key)]).toEqual([403, 200]);
    await vault.daemon.stop();

    copyFileSync(saved, join(backup, "tokens.key"));
    const restored = await startVault({ state: backup, root });
    expect(await lookup(restored, lease)).toBe(200);
    await restored.daemon.stop();
  });

  it("replaces the file of tokens.seal.key_file, through a link, or the one that --key-file names", async () => {
    const folder = temporaryFolder();
    const [real, link] = [join(folder, "real.key"), join(folder, "link.key")];
    writeFileSync(real, `${Buffer.alloc(32, 5).toString("hex")}\n`, { mode: 0o600 });
    const { symlinkSync } = await import("node:fs");
    symlinkSync(real, link);
    const yaml = `tokens: { seal: { key_file: ${link} } }`;
    const { state, root, lease } = await used(yaml);
    expect(await rotateKey(state, [], yaml)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(real) as string,
    });
    expect(await rotateKey(state, ["--key-file", real])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(real) as string,
    });
    expect(existsSync(join(state, "tokens.key"))).toBe(false);
    const vault = await startVault({ state, root, config: yaml });
    expect([
      await lookup(vault, lease),
      (await vault.ask("GET", "sys/key-status")).json.data.term,
    ]).toEqual([200, 3]);
    await vault.daemon.stop();
  });

  it("while the daemon runs names its process and says what to do", async () => {
    const vault = await startVault();
    const refused = await rotateKey(vault.state);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toMatch(
      new RegExp(
        `^steward: the state folder ${vault.state} is in use by process ${vault.daemon.pid}; stop the daemon, run steward rotate-key`,
      ),
    );
    await vault.daemon.stop();
  });

  it("with a key that is missing, wrong, of another store or unreadable to be private, or no store, says which file and what to do, and changes nothing", async () => {
    const [one, other] = [await used(), await used()];
    const [key, saved] = [join(one.state, "tokens.key"), join(temporaryFolder(), "saved.key")];
    copyFileSync(key, saved);
    const refusal = async (more: readonly string[] = []): Promise<string> => {
      const { code, stdout, stderr } = await rotateKey(one.state, more);
      expect([code, stdout]).toEqual([1, ""]);
      return stderr;
    };
    renameSync(key, `${key}.away`);
    expect(await refusal()).toBe(
      `steward: the key file ${key} is missing; put it back from where it was saved, or name the file that holds the key with --key-file\n`,
    );
    expect(await refusal(["--key-file", join(other.state, "tokens.key")])).toBe(
      `steward: the key file ${join(other.state, "tokens.key")} does not hold the key of ${join(one.state, "tokens.mdb")}; restore the key file that belongs to this state folder, or name it with --key-file\n`,
    );
    writeFileSync(key, "c2hvcnQ=\n", { mode: 0o600 });
    expect(await refusal()).toContain(`the key file ${key} does not hold 32 bytes`);
    copyFileSync(saved, key);
    chmodSync(key, 0o644);
    expect(await refusal()).toContain(
      `the key file ${key} has mode 0644: others can use it; chmod 600 ${key}`,
    );
    chmodSync(key, 0o600);
    rmSync(`${key}.away`);
    const credential = await runSteward(["rotate-key"], {
      env: { CREDENTIALS_DIRECTORY: one.state, STEWARD_STATE__DIRECTORY: one.state },
    });
    expect(credential.stderr).toMatch(
      /is the systemd credential .*cannot be replaced there; name the file that the credential is made from with --key-file/,
    );
    const empty = temporaryFolder();
    expect((await rotateKey(empty)).stderr).toBe(
      `steward: ${empty} holds no store of tokens; name the daemon's configuration with --config\n`,
    );
    expect(await runSteward(["rotate-key", "now"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unexpected argument "now"') as string,
    });
    expect(readFileSync(key)).toEqual(readFileSync(saved));
    const vault = await startVault({ state: one.state, root: one.root });
    expect([
      await lookup(vault, one.lease),
      (await vault.ask("GET", "sys/key-status")).json.data.term,
    ]).toEqual([200, 1]);
    await vault.daemon.stop();
  });

  it("that cannot write beside the key leaves key and store as they are", async () => {
    const { state, root, lease } = await used();
    const key = join(state, "tokens.key");
    const before = readFileSync(key);
    mkdirSync(`${key}.new`); // what also a user that may do everything cannot replace by a file
    const refused = await rotateKey(state);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /the key file .*tokens\.key cannot be replaced \(E\w+\); it still opens the store; let this user write to its folder/,
      ),
    ]);
    expect(readFileSync(key)).toEqual(before);
    const vault = await startVault({ state, root });
    expect(await lookup(vault, lease)).toBe(200);
    await vault.daemon.stop();
  });
});
