/**
 * Runs docs/plugin.md from its first command to its last, as it stands there, against a real OpenBao
 * server: the plugin is registered, mounted, used, killed and replaced by a later version.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { makePlugin } from "../../tools/build/plugin.ts";
import { freePort } from "../support/free-port.ts";
import { spawn } from "../support/spawn.ts";
import { cleanEnvironment, removeTemporaryFolders, temporaryFolder } from "./daemon.ts";
import { type Shell, type Snippet, snippetsOf, startShell } from "./page-snippets.ts";
import { appKey, startCodeHost } from "./vault.ts";

const root = join(import.meta.dirname, "../..");
const path = `${join(root, ".cache/python/bin")}:${cleanEnvironment["PATH"] ?? ""}`;
const missing = ["bao", "curl"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: { PATH: path } }).status !== 0,
);
if (missing.length > 0)
  process.stderr.write(
    `skipped: the commands of docs/plugin.md (without ${missing.join(", ")}; \`.ci/run\` puts bao into .cache/python where Python is)\n`,
  );

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};
const NEXT = "0.2.0";
const ROOT_TOKEN = "the-root-token";
const blocks: Snippet[] = snippetsOf(readFileSync(join(root, "docs/plugin.md"), "utf8")).filter(
  ({ language }) => language === "sh",
);

describe.skipIf(missing.length > 0)("the commands of docs/plugin.md", () => {
  const work = temporaryFolder();
  const plugins = join(work, "plugins");
  let host: CodeHost;
  let server: ReturnType<typeof spawn>;
  const log: string[] = [];
  let shell: Shell;
  let nextSum = "";

  beforeAll(async () => {
    mkdirSync(plugins);
    const build = (number: string): Promise<{ readonly sha256: string }> =>
      makePlugin({
        root,
        node: process.execPath,
        manifest: { version: number },
        target: join(work, fileOf(number)),
      });
    await build(version);
    ({ sha256: nextSum } = await build(NEXT));
    writeFileSync(join(work, "my-app.private-key.pem"), appKey.privateKey);
    host = await startCodeHost({
      apps: [
        {
          id: 123_456,
          clientId: "Iv1.0123456789abcdef",
          slug: "my-app",
          publicKeys: [appKey.publicKey],
          installations: [
            {
              id: 1001,
              account: { login: "my-org", type: "Organization" },
              permissions: { metadata: "read", contents: "write" },
              repositories: [{ id: 11, name: "web" }],
            },
          ],
        },
      ],
    });
    const address = `127.0.0.1:${await freePort()}`;
    const env = { ...cleanEnvironment, PATH: path, HOME: work, TMPDIR: work };
    server = spawn(
      "bao",
      [
        "server",
        "-dev",
        "-dev-no-store-token",
        `-dev-root-token-id=${ROOT_TOKEN}`,
        `-dev-listen-address=${address}`,
        `-dev-plugin-dir=${plugins}`,
      ],
      { env, stdio: ["ignore", "pipe", "pipe"] },
    );
    for (const stream of [server.stdout, server.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => log.push(text));
    await vi.waitFor(() => expect(log.join("")).toContain("server started!"), { timeout: 60_000 });
    shell = startShell({
      cwd: work,
      env: { ...env, BAO_ADDR: `http://${address}`, BAO_TOKEN: ROOT_TOKEN },
    });
  });

  afterAll(async () => {
    await shell.close();
    server.kill();
    await host.stop();
    removeTemporaryFolders();
  });

  /** The next block of the page, with the paths, sums and addresses of this machine. */
  function next(): string {
    const block = blocks.shift();
    if (block === undefined) throw new Error("docs/plugin.md has no more blocks");
    return block.text
      .replaceAll("/etc/openbao/plugins", plugins)
      .replaceAll("SUM", nextSum)
      .replaceAll(/(app_id=\d+)/g, `$1 base_url=${host.url}`);
  }

  const mint = async (): Promise<{ readonly lease_id: string; readonly token: string }> => {
    const printed = await shell.run("bao write -format=json github/token org_name=my-org");
    const answer = JSON.parse(printed) as {
      readonly lease_id: string;
      readonly data: { readonly token: string };
    };
    return { lease_id: answer.lease_id, token: answer.data.token };
  };
  /** The server revokes after it has answered. */
  const isLive = (token: string): boolean =>
    host.find(createHash("sha256").update(token).digest("base64"))?.revokedAtMs === undefined;

  it("register, mount and configure the plugin, and mint", async () => {
    expect(next()).toContain("npm run build:plugin");
    await shell.run(next());
    expect(await shell.run(next())).toContain("Success! Registered plugin: steward");
    expect(await shell.run(next())).toMatch(/token +gh[a-z]_/);
    const { lease_id: lease, token } = await mint();
    expect(isLive(token)).toBe(true);
    await shell.run(`bao lease revoke ${lease}`);
    await expect.poll(() => isLive(token)).toBe(false);
  });

  it("leave everything else of a mount to its server: sets, policies, help, metrics", async () => {
    await shell.run("bao write github/permissionset/ci org_name=my-org permissions=contents=read");
    expect(await shell.run("bao list github/permissionsets")).toContain("ci");
    expect(await shell.run("bao read -format=json github/token/ci")).toContain(
      '"contents": "read"',
    );
    expect(await shell.run("bao read github/doctor")).toContain("config");
    expect(await shell.run("bao path-help github")).toContain("permissionset");
    expect(await shell.run("BAO_TOKEN= bao read github/info")).toContain("build_version");
    expect(await shell.run('curl -sf "$BAO_ADDR/v1/github/metrics"')).toContain("# TYPE");
    expect(await shell.run("bao read github/permissionset/none 2>&1 || true")).toContain(
      "No value found",
    );
    expect(await shell.run("bao write -force github/token 2>&1 || true")).toContain(
      "installation_id",
    );
  });

  it("have a plugin whose process was killed started again, for both of two mounts", async () => {
    await shell.run(
      `bao secrets enable -path=second steward && bao write second/config app_id=123456 base_url=${host.url} prv_key=@my-app.private-key.pem`,
    );
    const pids = pluginPids(version);
    expect(pids).toHaveLength(1);
    const { lease_id: lease, token } = await mint();
    for (const pid of pids) process.kill(pid, "SIGKILL");
    // A request that the server sends before it knows of the end fails with the process.
    for (const mount of ["github", "second"])
      await shell.run(`until bao write ${mount}/token org_name=my-org 2>/dev/null; do :; done`);
    const [started, ...others] = pluginPids(version);
    expect([pids.includes(Number(started)), others]).toEqual([false, []]);
    await shell.run(`bao lease revoke ${lease}`);
    await expect.poll(() => isLive(token)).toBe(false);
    await shell.run("bao secrets disable second");
  });

  it("replace it by a later version, which revokes the leases of the earlier", async () => {
    const { lease_id: lease, token } = await mint();
    copyFileSync(join(work, fileOf(NEXT)), join(plugins, fileOf(NEXT)));
    await shell.run(next());
    expect(blocks).toEqual([]);
    await mint();
    await vi.waitFor(
      () => expect([pluginPids(version), pluginPids(NEXT).length]).toEqual([[], 1]),
      { timeout: 60_000 },
    );
    await shell.run(`bao lease revoke ${lease}`);
    await expect.poll(() => isLive(token)).toBe(false);
  });

  it("refuse another file than was registered", async () => {
    const other = "0".repeat(64);
    await shell.run(
      `bao plugin register -sha256=${other} -command=${fileOf(NEXT)} -version=v${NEXT} secret other`,
    );
    expect(await shell.run("bao secrets enable -path=other other 2>&1 || true")).toContain(
      "checksums did not match",
    );
  });

  it("end every token of a mount that is disabled, and the process with it", async () => {
    const { token } = await mint();
    await shell.run("bao secrets disable github");
    await expect.poll(() => isLive(token)).toBe(false);
    await vi.waitFor(() => expect(pluginPids(NEXT)).toEqual([]), { timeout: 60_000 });
    // The socket of the killed process alone may be left; a start a minute later removes it.
    const sockets = readdirSync(work).filter((name) => name.endsWith(".sock"));
    expect(sockets.length).toBeLessThanOrEqual(1);
  });

  /** Processes of the plugin of this version that this test's server started. */
  function pluginPids(number: string): readonly number[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          return readlinkSync(`/proc/${pid}/exe`) === join(plugins, fileOf(number));
        } catch {
          return false;
        }
      });
  }
});

function fileOf(number: string): string {
  return `steward-plugin-${number}-linux-${process.arch}`;
}
