/**
 * Runs docs/tokens.md from its first command to its last, as it stands there: against the daemon, a
 * simulated GitHub and OpenBao's own client. Only names of hosts and folders are replaced.
 */
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { InstallationSpec } from "../../src/demo/code-host/types.ts";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import {
  cleanEnvironment,
  type Daemon,
  removeTemporaryFolders,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { type Shell, type Snippet, snippetsOf, startShell } from "./page-snippets.ts";
import { appKey, startCodeHost, vaultRequest } from "./vault.ts";

const root = join(import.meta.dirname, "../..");
const binaries = join(root, ".cache/python/bin");
const missing = ["bao", "curl", "jq", "openssl"].filter(
  (name) =>
    spawnSync("sh", ["-c", `command -v ${name}`], {
      env: { PATH: `${binaries}:${cleanEnvironment["PATH"] ?? ""}` },
    }).status !== 0,
);
if (missing.length > 0)
  process.stderr.write(
    `skipped: the commands of docs/tokens.md (without ${missing.join(", ")}; \`.ci/run\` puts bao into .cache/python where Python is)\n`,
  );

const [APP, OTHER_APP] = [123_456, 234_567];
const page = readFileSync(join(root, "docs/tokens.md"), "utf8");
const snippets = snippetsOf(page);
/** No block is left out by mistake: each is taken once. */
const taken = new Set<Snippet>();

const newKey = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const mine: InstallationSpec = {
  id: 1001,
  account: { login: "my-org", type: "Organization" },
  permissions: { metadata: "read", contents: "write", checks: "write", issues: "write" },
  repositories: [
    { id: 11, name: "web" },
    { id: 12, name: "api" },
  ],
};
const other: InstallationSpec = {
  id: 2001,
  account: { login: "other-org", type: "Organization" },
  permissions: { metadata: "read" },
  repositories: [{ id: 21, name: "docs" }],
};
const secrets = { "secrets.STEWARD_ROLE_ID": "", "secrets.STEWARD_SECRET_ID": "" };

describe.skipIf(missing.length > 0)("the commands of docs/tokens.md", () => {
  const work = temporaryFolder();
  const state = join(work, "state");
  let host: CodeHost;
  let daemon: Daemon;
  let shell: Shell;
  let rootToken = "";

  beforeAll(async () => {
    host = await startCodeHost({
      apps: [
        {
          id: APP,
          clientId: "Iv1.0123456789abcdef",
          slug: "my-app",
          publicKeys: [appKey.publicKey],
          installations: [mine],
        },
        {
          id: OTHER_APP,
          clientId: "Iv1.fedcba9876543210",
          slug: "other-app",
          publicKeys: [newKey.publicKey],
          installations: [other],
        },
      ],
    });
    for (const folder of ["state", "etc"]) mkdirSync(join(work, folder), { mode: 0o700 });
    symlinkSync(join(root, "bin"), join(work, "bin"));
    symlinkSync(join(root, "node_modules"), join(work, "node_modules"));
    writeFileSync(join(work, "my-app.private-key.pem"), appKey.privateKey);
    writeFileSync(join(work, "other-app.private-key.pem"), newKey.privateKey);
    writeFileSync(join(work, "new.private-key.pem"), newKey.privateKey);
    shell = startShell({
      cwd: work,
      env: {
        ...cleanEnvironment,
        PATH: `${binaries}:${cleanEnvironment["PATH"] ?? ""}`,
        HOME: work,
      },
    });
  });

  afterAll(async () => {
    await shell.close();
    await daemon.stop();
    await host.stop();
    removeTemporaryFolders();
  });

  function adapted(text: string): string {
    return text
      .replaceAll("http://127.0.0.1:8400", daemon.url)
      .replaceAll("hvs.…", rootToken)
      .replaceAll("steward.example.org:8400", `localhost:${new URL(daemon.url).port}`)
      .replaceAll("steward.example.org", "localhost")
      .replaceAll("https://github.example.org", host.url)
      .replaceAll("https://api.github.com", host.url)
      .replaceAll("/var/lib/steward", state)
      .replaceAll("/etc/steward", join(work, "etc"));
  }

  /** The next block under a heading that was not taken yet. */
  function take(section: string): Snippet {
    const snippet = snippets.find((each) => each.section === section && !taken.has(each));
    if (snippet === undefined)
      throw new Error(`docs/tokens.md has no more blocks under ${section}`);
    taken.add(snippet);
    return snippet;
  }

  /** Runs the next block, or writes it to the file that it shows. */
  async function follow(section: string): Promise<string> {
    const { file, text, language } = take(section);
    if (file === undefined) {
      expect(language).toBe("sh");
      return await shell.run(adapted(text));
    }
    const path = join(work, adapted(file).replace(`${work}/`, ""));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, adapted(text));
    return path;
  }

  const live = (): number => host.liveTokens().length;

  it("lead from zero to a token", async () => {
    const section = "From zero to a token";
    expect(take(section).text).toBe("STEWARD_STATE__DIRECTORY=/var/lib/steward bin/steward\n");
    daemon = await startDaemon({
      env: {
        STEWARD_STATE__DIRECTORY: state,
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_SERVICES__DEDUP: "false",
      },
    });
    rootToken = /root token[^:]*: (\S+)/.exec(daemon.stderr.join("\n"))?.[1] ?? "";
    expect(await follow(section)).toMatch(/Sealed +false/);
    // The simulated GitHub stands where the real one would.
    await vaultRequest(daemon.url, "POST", "github/config", {
      token: rootToken,
      body: { app_id: APP, prv_key: appKey.privateKey, base_url: host.url },
    });
    expect(await follow(section)).toMatch(/^ {2}ok: true$/m);
    expect(await follow(section)).toMatch(/^token +ghs_/m);
    expect(JSON.parse(await follow(section))).toMatchObject({
      data: { org_name: "my-org", permissions: { contents: "read" } },
    });
    expect(live()).toBe(2);
    await follow(section);
    await expect.poll(() => host.counts().revoked).toBe(1);
    expect(await follow(section)).toMatch(/^token_policies +\["ci" "default"\]/m);
  });

  it("set a ceiling", async () => {
    expect(await follow("Maximum permissions of a mount")).toMatch(
      /^max_permissions +map\[checks:write contents:write\]/m,
    );
    const refused = await vaultRequest(daemon.url, "POST", "github/token", {
      token: rootToken,
      body: { org_name: "my-org", permissions: "issues=write" },
    });
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      [expect.stringContaining("issues=write is above max_permissions")],
    ]);
    const bounded = await vaultRequest(daemon.url, "POST", "github/token", {
      token: rootToken,
      body: { org_name: "my-org" },
    });
    expect(bounded.json.data.permissions).toEqual({
      metadata: "read",
      contents: "write",
      checks: "write",
    });
  });

  it("share one token among equal requests", async () => {
    const section = "One token for equal requests";
    expect(await follow(section)).toContain("Success! Data written to: github/config");
    const mint = () => vaultRequest(daemon.url, "POST", "github/token/ci", { token: rootToken });
    const [first, second] = [(await mint()).json, (await mint()).json];
    expect([first.data.reused, second.data.reused]).toEqual([false, true]);
    expect(second.data.token).toBe(first.data.token);
    await follow(section);
    await expect
      .poll(() => host.liveTokens().some(({ hash }) => hash === first.data.hashed_token))
      .toBe(false);
    await vaultRequest(daemon.url, "POST", "github/config", {
      token: rootToken,
      body: { token_cache_min_ttl: 0 },
    });
  });

  it("log a program in", async () => {
    const section = "AppRole logins for programs";
    await follow(section);
    const before = live();
    expect(await follow(section)).toContain("ghs_");
    await expect.poll(live).toBe(before);
    const spent = readFileSync(join(work, "secret-id"), "utf8");
    expect(await follow(section)).toContain("Keys");
    await follow(section);
    expect(readFileSync(join(work, "secret-id"), "utf8")).not.toBe(spent);
    secrets["secrets.STEWARD_ROLE_ID"] = readFileSync(join(work, "role-id"), "utf8");
    secrets["secrets.STEWARD_SECRET_ID"] = readFileSync(join(work, "secret-id"), "utf8");
  });

  it("reach Steward from another machine", async () => {
    const section = "From another machine";
    await follow(section);
    const file = await follow(section);
    expect(await follow(section)).toContain("config OK");
    await daemon.stop();
    daemon = await startDaemon({
      args: ["-config", file],
      env: { STEWARD_GATEWAY__LISTEN: "0.0.0.0:0", STEWARD_SERVICES__DEDUP: "false" },
    });
    expect(await follow(section)).toMatch(/Sealed +false[\s\S]*"sealed":false/);
    expect(await follow(section)).toMatch(/"tokens": "ready"/);
  });

  it("keep a token fresh with an agent", async () => {
    const section = "An agent that renews tokens";
    const before = live();
    for (let blocks = 0; blocks < 3; blocks++) await follow(section);
    expect(readFileSync(join(work, "github-token"), "utf8")).toMatch(/^ghs_\w+$/);
    expect([live(), existsSync(join(work, "agent-wrapped-secret-id"))]).toEqual([
      before + 1,
      false,
    ]);
    await follow(section);
    expect(live()).toBe(before);
  });

  interface Step {
    readonly name: string;
    readonly id?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly run: string;
  }

  it("mint in CI", async () => {
    const section = "Tokens in CI";
    const files = [await follow(section), await follow(section), await follow(section)] as const;
    const before = live();
    const common = {
      ...cleanEnvironment,
      VAULT_ADDR: daemon.url.replace("0.0.0.0", "localhost"),
      CURL_CA_BUNDLE: join(work, "etc/tls-cert.pem"),
    };
    const login = {
      ROLE_ID: secrets["secrets.STEWARD_ROLE_ID"],
      SECRET_ID: secrets["secrets.STEWARD_SECRET_ID"],
    };
    const runAs = async (
      env: Readonly<Record<string, string>>,
      script: string,
    ): Promise<string> => {
      const job = startShell({ cwd: work, env: { ...common, ...env } });
      const printed = await job.run(script);
      await job.close();
      return printed;
    };

    expect(await runAs(login, `sh ${files[0]}`)).toContain('"total_count":1');
    await expect.poll(live).toBe(before);

    const known: Record<string, string> = { ...secrets };
    const { steps, env: jobEnv } = parse(readFileSync(files[1], "utf8")).jobs.build as {
      readonly steps: readonly Step[];
      readonly env: Readonly<Record<string, string>>;
    };
    const filled = (env: Readonly<Record<string, string>> = {}): Record<string, string> =>
      Object.fromEntries(
        Object.entries(env).map(([name, value]) => [
          name,
          value.replaceAll(
            /\$\{\{ (\S+) \}\}/g,
            (_, expression: string) => known[expression] ?? "",
          ),
        ]),
      );
    const printed: string[] = [];
    for (const { name, id, env, run } of steps) {
      const outputs = join(work, `${name}.outputs`);
      writeFileSync(outputs, "");
      printed.push(await runAs({ ...filled(jobEnv), ...filled(env), GITHUB_OUTPUT: outputs }, run));
      for (const [, key = "", value = ""] of readFileSync(outputs, "utf8").matchAll(
        /^(\w+)=(.*)$/gm,
      ))
        known[`steps.${id ?? ""}.outputs.${key}`] = value;
      if (name === "Mint a token") expect(live()).toBe(before + 1);
    }
    expect(printed[1]).toContain('"total_count":1');
    await expect.poll(live).toBe(before);

    const {
      variables,
      script,
      after_script: after,
    } = parse(readFileSync(files[2], "utf8")).build as Readonly<
      Record<"script" | "after_script", readonly string[]>
    > & { readonly variables: Readonly<Record<string, string>> };
    expect(await runAs({ ...login, ...variables }, script.join("\n"))).toContain('"total_count":1');
    expect(live()).toBe(before + 1);
    await runAs({ ...variables }, after.join("\n"));
    await expect.poll(live).toBe(before);
    expect(existsSync(join(work, ".vault-header"))).toBe(false);
  });

  it("mint from a program", async () => {
    const [python, javascript] = [await follow("From a program"), await follow("From a program")];
    const before = live();
    const printed = await shell.run(
      `python ${python}; NODE_EXTRA_CA_CERTS=$VAULT_CACERT ${join(root, "bin/node")} ${javascript}`,
    );
    expect(printed.match(/Z github\/token\/\w+/g)?.length).toBe(2);
    await expect.poll(live).toBe(before);
  });

  it("add a second app", async () => {
    const section = "A second app";
    const printed = await follow(section);
    expect(printed).toContain("true");
    expect(printed).toMatch(/ghs_\w+/);
    expect(host.minted().at(-1)?.appId).toBe(OTHER_APP);
    const file = await follow(section);
    expect(await shell.run(`bin/steward -validate -config ${file}`)).toContain("config OK");
  });

  it("replace the private key", async () => {
    host.estate.replaceKeys(APP, [appKey.publicKey, newKey.publicKey]);
    expect(await follow("Replacing the app's private key")).toMatch(/^ {2}ok: true$/m);
    host.estate.replaceKeys(APP, [newKey.publicKey]);
    expect(
      await shell.run(
        "bao write -field=token github/token org_name=my-org permissions=contents=read",
      ),
    ).toMatch(/^ghs_/);
  });

  it("lead from GitHub's audit log to the requester", async () => {
    const section = "From GitHub's audit log to the requester";
    const before = live();
    const found = JSON.parse(await follow(section)) as Readonly<Record<string, unknown>>;
    expect(found).toMatchObject({
      requester: "root",
      policies: ["root"],
      address: "127.0.0.1",
      path: "github/token/ci",
      lease_id: expect.stringMatching(/^github\/token\/ci\//) as string,
    });
    expect(live()).toBe(before + 1);
    const accessors = (await follow(section)).trim().split("\n");
    expect(accessors.at(-1)).toMatch(/^\w{24}$/);
    await expect.poll(live).toBe(before);
    expect(await shell.run(`bao token lookup -accessor ${accessors.at(-1) ?? ""}`)).toMatch(
      /display_name +root/,
    );
  });

  it("make an administrator and retire the root token", async () => {
    const admin = "An administrator who is not root";
    const retire = "Retiring the root token";
    await follow(admin);
    expect(await follow(admin)).toMatch(/^true[\s\S]*token_policies +\["admin" "default"\]/m);
    expect(await follow(retire)).toMatch(/^\w{24}\ttoken\tci,default$/m);
    const children = live();
    expect(children).toBeGreaterThan(0);
    expect(await follow(retire)).toContain("Success! Revoked token");
    await expect.poll(live).toBe(0);
    expect(
      await shell.run("VAULT_TOKEN=$(cat admin-token) bao read -field=ok github/doctor"),
    ).toContain("true");
    await daemon.stop();
    // The daemon's user is the one that runs the tests.
    await shell.run('runuser() { test "$2 $4" = "steward steward" && bin/steward "${@:5}"; }');
    expect(await follow(retire)).toMatch(/^hvs\.\w{24}$/m);
  });

  it("were all run", () => {
    expect(
      snippets
        .filter((snippet) => !taken.has(snippet))
        .map(({ section, text }) => `${section}: ${text.split("\n", 1)[0] ?? ""}`),
    ).toEqual(
      snippets
        .filter(({ language }) => language === "json")
        .map(({ section, text }) => `${section}: ${text.split("\n", 1)[0] ?? ""}`),
    );
  });
});
