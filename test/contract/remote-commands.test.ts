/** Commands that ask the running daemon, through the socket in its state folder and by address. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { spawn } from "../support/spawn.ts";
import { snippetsOf, startShell } from "./page-snippets.ts";
import {
  cleanEnvironment,
  type CommandResult,
  type Daemon,
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { appKey, startCodeHost, startVault } from "./vault.ts";

const TOKEN = "an-operator-token-of-32-characters";
const ROOT = { VAULT_TOKEN: "demo" };

/** The demo, which has a network, an archive and an app; its API needs a token. */
let demo: Daemon;
let state = "";
let environment: Readonly<Record<string, string>> = {};

function steward(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return runSteward([...args, "--demo"], {
    env: { ...environment, ...env },
    cwd: temporaryFolder(),
  });
}

async function jsonOf(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<any> {
  const { stdout, stderr } = await steward([...args, "--json"], env);
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

beforeAll(async () => {
  state = temporaryFolder();
  environment = {
    STEWARD_STATE__DIRECTORY: state,
    STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    STEWARD_AUTH__TOKEN: TOKEN,
    STEWARD_DEMO_ROOT_TOKEN: "demo",
  };
  demo = await startDaemon({ args: ["-demo"], env: environment });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const jsonAt = async (path: string): Promise<any> =>
    (await rest(demo, "GET", path, undefined, headers)).json;
  // Each service has done its first work: the readers of this file take it as done.
  await vi.waitFor(
    async () => {
      expect((await rest(demo, "GET", "/readyz")).status).toBe(200);
      expect((await jsonAt("/api/v1/dashboard")).data.pendingGroups).toBeGreaterThan(0);
      const jobs = (await jsonAt("/api/v1/jobs")).data as readonly { readonly status: string }[];
      expect(jobs.filter(({ status }) => !["completed", "failed"].includes(status))).toEqual([]);
      expect((await jsonAt("/api/status.json")).devices.length).toBeGreaterThan(20);
      expect((await jsonAt("/api/events.json?limit=5")).rows).toHaveLength(5);
      expect((await jsonAt("/api/tokens.json")).newest_leases.length).toBeGreaterThan(1);
    },
    { timeout: 60_000, interval: 100 },
  );
});
afterAll(async () => {
  await demo?.stop();
  removeTemporaryFolders();
});

describe("the owner's socket", () => {
  it("serves the API without the operator's token, to the owner alone", async () => {
    expect((await rest(demo, "GET", "/api/v1/dashboard")).status).toBe(401);
    expect(statSync(join(state, "demo", "steward.sock")).mode & 0o777).toBe(0o600);
    expect(await jsonOf(["duplicates"])).toMatchObject({ meta: { limit: 50, offset: 0 } });
  });

  it("does not open the Vault API: that still needs a Vault token", async () => {
    const refused = await steward(["mint", "example-org"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(
      "steward: this needs a Vault token; set VAULT_TOKEN, or write the token to ~/.vault-token\n",
    );
    expect(await steward(["leases"], { VAULT_TOKEN: "hvs.wrong" })).toMatchObject({
      code: 1,
      stderr: "steward: the daemon refuses: permission denied\n",
    });
  });
});

describe("steward status", () => {
  it("has a line for each service, and what is wrong with its remedy", async () => {
    const { code, stdout } = await steward(["status"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Steward \d+\.\d+\.\d+ \(demo\): \w+, up for /);
    expect(stdout).toMatch(/^SERVICE {2}STATE +DETAILS$/m);
    expect(stdout).toMatch(/^monitor +\w+ +1 network; 2\d devices, \d+ online; \d+ collectors/m);
    expect(stdout).toMatch(
      /^dedup +ready +260 documents; \d+ groups to review; last sync \d+ \w+ ago$/m,
    );
    expect(stdout).toMatch(/^tokens +ready +unsealed$/m);
    expect(await jsonOf(["status"])).toMatchObject({
      ready: true,
      reasons: "",
      status: { service: { demo: true } },
      dashboard: { totalDocuments: 260 },
      seal: { sealed: false },
    });
  });

  it("says how to reach a daemon that is not there", async () => {
    const folder = temporaryFolder();
    const { code, stderr } = await runSteward(["status", "--demo"], {
      env: { STEWARD_STATE__DIRECTORY: folder },
    });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `steward: no daemon answers at ${folder}/demo/steward.sock; start it, or name its configuration by --config or its address by --address\n`,
    );
  });

  it("refuses a state folder whose path is too long for a socket, with the remedy", async () => {
    const { code, stderr } = await runSteward(["status", "--demo"], {
      env: { STEWARD_STATE__DIRECTORY: `/tmp/${"long".repeat(30)}` },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /is longer than the 107 bytes .*; name the daemon's --address, or give it a shorter state\.directory\n$/,
    );
  });
});

describe("a daemon asked by its address", () => {
  it("gets the token of the file, and says when it lacks one", async () => {
    const file = join(temporaryFolder(), "token");
    writeFileSync(file, `${TOKEN}\n`);
    const asked = await runSteward(["jobs", "--address", demo.url, "--token-file", file]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked.stdout).toMatch(/^ID +TYPE +STATUS +DONE +STARTED +TOOK +MESSAGE$/m);
    const refused = await runSteward(["jobs", "--address", demo.url]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      /^steward: the daemon refuses: this needs the operator's token; .*; give the file with its auth\.token by --token-file\n$/,
    );
  });

  it("is not reached where nothing listens", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await runSteward(["status", "--address", `http://127.0.0.1:${port}`])).toMatchObject({
      code: 1,
      stderr: `steward: no daemon answers at http://127.0.0.1:${port}: ECONNREFUSED 127.0.0.1:${port}; check --address, and that the daemon runs\n`,
    });
  });

  it.each([
    [["--address", "127.0.0.1:8400"], "--address must be a URL such as http://127.0.0.1:8400"],
    [["--address", "http://user:secret@nas"], "--address must be a URL"],
    [["--token-file", "token"], "--token-file goes with --address"],
    // As written with an unset variable; the daemon of this machine is not what was meant.
    [["--address", ""], "--address must not be empty"],
    [["--address", "", "--token-file", "token"], "--address must not be empty"],
    [["--address", "http://nas", "--token-file", ""], "--token-file must not be empty"],
    [["--address", "http://nas", "--ca-file="], "--ca-file must not be empty"],
  ])("refuses %j", async (args, problem) => {
    const { code, stderr } = await runSteward(["status", ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
    expect(stderr).not.toContain("secret");
  });

  it("shows nothing raw of an answer that is not ours", async () => {
    const foreign = createServer((_, response) =>
      response.writeHead(500).end("\u001b[31mred\u0007"),
    );
    foreign.listen(0, "127.0.0.1");
    await new Promise((resolve) => foreign.once("listening", resolve));
    onTestFinished(() => void foreign.close());
    const { port } = foreign.address() as AddressInfo;
    const { code, stderr } = await runSteward(["jobs", "--address", `http://127.0.0.1:${port}`]);
    expect(code).toBe(1);
    expect(stderr).toBe("steward: the daemon refuses: \\u001b[31mred\\u0007\n");
  });
});

describe("steward sync and steward jobs", () => {
  it("follow a sync to its end and list it", async () => {
    const followed = await steward(["sync", "--follow"]);
    expect(followed).toMatchObject({ code: 0, stderr: "" });
    // A sync without changes may be over before it is followed; its last message is always told.
    expect(followed.stdout).toMatch(/^ *100 % {2}\d+ new, \d+ changed, \d+ unchanged/m);
    expect(followed.stdout).toMatch(/\nsync completed after [\d.]+ m?s\n$/);
    const { data } = await jsonOf(["jobs", "--limit", "1"]);
    const [{ id, type }] = data;
    expect(type).toBe("sync");
    expect((await steward(["jobs", id])).stdout).toMatch(
      new RegExp(`^sync ${id}: completed, 100 %\nstarted `),
    );
    expect((await steward(["jobs", "cancel", id])).stderr).toMatch(
      /^steward: the daemon refuses: /,
    );
    expect((await steward(["jobs", "--follow"])).stdout).toBe("no job is running\n");
  });

  it("prints each event as a line of JSON when it follows", async () => {
    const { code, stdout } = await steward(["sync", "--follow", "--json"]);
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ type: "sync", status: "completed" });
    expect(lines[0]).toMatchObject({ message: expect.any(String) });
  });
});

describe("steward duplicates", () => {
  it("lists, shows and decides", async () => {
    const listed = await jsonOf(["duplicates", "list", "--limit", "2"]);
    expect(listed.data).toHaveLength(2);
    const { id } = listed.data[0];
    const text = (await steward(["duplicates", "--limit", "2"])).stdout;
    expect(text).toContain(id);
    expect(text).toMatch(/groups in all; more with --offset 2\n$/);
    expect((await steward(["duplicates", "show", id])).stdout).toMatch(
      new RegExp(`^${id}: pending, \\d+ % alike\n  .*\n[^]*KEEP  DOCUMENT`),
    );
    expect((await steward(["duplicates", "status", id, "ignored"])).stdout).toBe(
      `${id}: ignored\n`,
    );
    expect(
      (await jsonOf(["duplicates", "--status", "ignored"])).data.map((group: any) => group.id),
    ).toEqual([id]);
    expect((await steward(["duplicates", "status", id, "pending"])).stdout).toBe(
      `${id}: pending\n`,
    );
    expect((await steward(["duplicates", "show", "nothing"])).stderr).toContain(
      "the daemon refuses: ",
    );
  });

  it("deletes what need not stay, and only with --yes", async () => {
    const { data } = await jsonOf(["duplicates", "--limit", "100"]);
    const { id, memberCount } = data.at(-1);
    const preview = await steward(["duplicates", "delete", id]);
    expect(preview).toMatchObject({ code: 0, stderr: "" });
    expect(preview.stdout.split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^${id}: #\\d+ would stay$`)),
      ...Array.from({ length: memberCount - 1 }, () => expect.stringMatching(/^ {2}#\d+ \S/)),
      "nothing was deleted; add --yes to move these to the trash",
      "",
    ]);
    expect((await jsonOf(["duplicates", "delete", id])).data[0]).toMatchObject({
      id,
      status: "pending",
    });
    const done = await steward(["duplicates", "delete", id, "--merge", "--yes"]);
    expect(done.stdout).toMatch(
      new RegExp(`^${memberCount - 1} documents? moved to the trash, 0 left out, 0 failed$`, "m"),
    );
    expect(done.code).toBe(0);
    expect((await jsonOf(["duplicates", "show", id])).data.status).toBe("deleted");
    const again = await steward(["duplicates", "delete", id, "--yes"]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("the daemon refuses")]);
  });

  it.each([
    [["duplicates", "shwo"], 'unknown action "shwo": list, show, status or delete'],
    [["duplicates", "show"], "show needs the ID of a group"],
    [
      ["duplicates", "status", "a", "deleted"],
      'the status must be pending, false_positive or ignored, got "deleted"',
    ],
    [["duplicates", "show", "a", "--limit", "3"], "--limit goes with list"],
    [["duplicates", "delete"], "delete needs the IDs of groups"],
    [["duplicates", "show", "a", "--yes"], "--yes goes with delete"],
    [["jobs", "cancel"], "cancel needs the ID of a job"],
    [["leases", "revoke"], "revoke needs the ID of a lease"],
    [["mint"], "one of ORGANISATION, --installation-id and --set is needed, and no other"],
    [
      ["mint", "a", "--set", "b"],
      "one of ORGANISATION, --installation-id and --set is needed, and no other",
    ],
    [
      ["mint", "a", "--permission", "contents"],
      "--permission must be NAME=LEVEL such as contents=read",
    ],
  ])("%j is wrong use", async (args, problem) => {
    const { code, stderr } = await steward(args);
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
  });
});

describe("steward devices", () => {
  it("lists them, filtered", async () => {
    const all = await jsonOf(["devices"]);
    const offline = await jsonOf(["devices", "--offline"]);
    expect(offline.length).toBeGreaterThan(0);
    expect(offline.every((device: any) => !device.online)).toBe(true);
    expect(all.length).toBeGreaterThan(offline.length);
    const [{ hostname }] = all;
    const { stdout } = await steward(["devices", hostname.toUpperCase()]);
    expect(stdout).toContain(hostname);
    expect(stdout).toMatch(/1 device, \d online\n$/);
    expect((await steward(["devices", "no such device"])).stdout).toBe("no device matches\n");
  });
});

describe("steward flows", () => {
  it("ranks what uses the network", async () => {
    // Flows that come between the two may change the rank.
    await vi.waitFor(
      async () => {
        const report = await jsonOf(["flows", "top", "-n", "3"]);
        expect(report.result.nodes).toHaveLength(3);
        expect(report.recent).toEqual([]);
        const { stdout } = await steward(["flows", "top", "-n", "3"]);
        const [head = "", first = ""] = stdout.split("\n");
        expect(head).toMatch(/^DEVICE +SENT +RECEIVED$/);
        expect(first).toMatch(new RegExp(`^${report.result.nodes[0].node} .*(KiB|MiB)$`));
        expect(stdout).toMatch(/\n[\d.]+ [KMG]iB in [\d,]+ connections within 1h of demo\n$/);
      },
      { timeout: 60_000 },
    );
    for (const [by, column] of Object.entries({
      pairs: "FROM",
      ports: "PORT",
      users: "USER",
      tags: "TAG",
      relays: "PEER",
    }))
      expect((await steward(["flows", "top", "--by", by])).stdout).toMatch(
        new RegExp(`^${column} `),
      );
  });

  it.each([
    [["flows"], 2, "top is needed"],
    [["flows", "bottom"], 2, 'the action must be top, got "bottom"'],
    [["flows", "top", "--by", "size"], 2, "--by must be "],
    [["flows", "top", "--network", "none"], 1, 'stores no flows of a network "none"'],
  ])("%j is refused", async (args, expected, problem) => {
    const { code, stderr } = await steward(args);
    expect([code, stderr]).toEqual([expected, expect.stringContaining(problem)]);
  });
});

describe("steward events", () => {
  it("shows the newest last, filtered", async () => {
    const { stdout } = await steward(["events", "-n", "5"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(line).toMatch(/^[\d-]{10} [\d:]{8}Z {2}demo {2}audit {2}\S/);
    const { stdout: errors } = await steward(["events", "--errors", "--json"]);
    const failed = errors
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(failed.length).toBeGreaterThan(1);
    for (const { error } of failed) expect(error).not.toBe("");
    const seqs = failed.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((left, right) => left - right));
    expect((await steward(["events", "--actor", "no such actor"])).stdout).toBe(
      "no event matches\n",
    );
  });

  it("follows what arrives, each once, also after the daemon counts anew", async () => {
    const stored: { seq: number; summary: string; time: string; source: string }[] = [];
    const record = (seq: number, summary: string): void =>
      void stored.unshift({ seq, summary, time: "2026-01-02T03:04:05Z", source: "audit" });
    record(1, "first");
    let asked = 0;
    const server = createServer((request, response) => {
      asked += 1;
      const limit = Number(
        new URL(request.url ?? "", "http://localhost").searchParams.get("limit"),
      );
      response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify({ rows: stored.slice(0, limit), retained: stored.length }));
    });
    server.listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const child = spawn(LAUNCHER, ["events", "-f", "--address", `http://127.0.0.1:${port}`], {
      env: cleanEnvironment,
    });
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (part: string) => (text += part));
    const exited = new Promise((resolve) => child.once("exit", resolve));
    await vi.waitFor(() => expect(asked).toBeGreaterThanOrEqual(2), { timeout: 60_000 });
    record(2, "second");
    record(3, "third");
    await vi.waitFor(() => expect(text).toContain("third"), { timeout: 60_000 });
    stored.splice(0);
    record(1, "fourth");
    await vi.waitFor(() => expect(text).toContain("fourth"), { timeout: 60_000 });
    child.kill("SIGINT");
    expect(await exited).toBe(130);
    expect(text).toBe(
      ["first", "second", "third", "fourth"]
        .map((summary) => `2026-01-02 03:04:05Z  audit  ${summary}\n`)
        .join(""),
    );
  });
});

describe("steward mint and steward leases", () => {
  it("print the token alone, list its lease and end it", async () => {
    const minted = await steward(["mint", "example-org", "--permission", "contents=read"], ROOT);
    expect(minted.code).toBe(0);
    expect(minted.stdout).toMatch(/^ghs_\w+\n$/);
    expect(minted.stderr).toMatch(
      /^expires in .*contents=read\nrevoke it: steward leases revoke github\/token\/\w+ --demo\n$/,
    );
    const id = /revoke (\S+) --demo\n$/.exec(minted.stderr)?.[1] ?? "";
    expect(
      (await jsonOf(["leases", "list", "github/token"], ROOT)).map((lease: any) => lease.id),
    ).toContain(id);
    expect((await steward(["leases", "revoke", id], ROOT)).stdout).toBe(`revoked ${id}\n`);
    expect((await jsonOf(["leases"], ROOT)).map((lease: any) => lease.id)).not.toContain(id);
    // The API confirms the end of what never was, such as an id that was pasted in part.
    const again = await steward(["leases", "revoke", id], ROOT);
    expect([again.code, again.stdout]).toEqual([1, ""]);
    expect(again.stderr).toContain(`there is no lease ${id}; steward leases lists those that live`);
  });

  it("mint from a permission set, with the token of ~/.vault-token", async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, ".vault-token"), "demo\n");
    const { lease_id: lease, data } = await jsonOf(["mint", "--set", "ci"], { HOME: home });
    expect(lease).toMatch(/^github\/token\/ci\//);
    expect(data.token).toMatch(/^ghs_/);
    const { stdout } = await steward(["leases", "--limit", "1"], { HOME: home });
    expect(stdout).toContain("1 lease; there are more: name a PREFIX, or raise --limit");
    expect((await steward(["leases", "revoke", "--prefix", "github/token/ci"], ROOT)).code).toBe(0);
    expect(await jsonOf(["leases", "list", "github/token/ci"], ROOT)).toEqual([]);
  });
});

describe("an engine mounted below a path of several segments", () => {
  it("is minted from, and examined by doctor", async () => {
    const host = await startCodeHost();
    onTestFinished(() => host.stop());
    const vault = await startVault();
    onTestFinished(async () => void (await vault.daemon.stop()));
    await vault.ask("POST", "sys/mounts/team/github", { body: { type: "github" } });
    const config = { app_id: 7, prv_key: appKey.privateKey, base_url: host.url };
    await vault.ask("POST", "team/github/config", { body: config });
    await vault.ask("POST", "team/github/permissionset/ci", { body: { org_name: "example-org" } });
    const env = { STEWARD_STATE__DIRECTORY: vault.state, VAULT_TOKEN: vault.root };
    for (const what of [["example-org"], ["--set", "ci"]]) {
      const minted = await runSteward(["mint", ...what, "--mount", "team/github/"], { env });
      expect(minted.stdout, minted.stderr).toMatch(/^ghs_\w+\n$/);
      expect(minted.stderr).toContain("steward leases revoke team/github/token/");
    }
    const { stdout } = await runSteward(["doctor"], { env });
    expect(stdout).toMatch(/^ok {6}tokens {3}team\/github key: RSA, 2048 bits, signs$/m);
  });
});

describe("steward doctor", () => {
  it("names what is wrong with its remedy, and what it could not look at", async () => {
    const checks = await jsonOf(["doctor"]);
    expect(checks).toContainEqual({
      part: "process",
      name: "readiness",
      state: "ok",
      detail: "ready",
      remedy: "",
    });
    expect(checks).toContainEqual(
      expect.objectContaining({
        part: "dedup",
        name: "archive",
        state: "ok",
        detail: expect.stringMatching(/^paperless has 25\d documents$/),
      }),
    );
    expect(checks).toContainEqual(
      expect.objectContaining({ part: "tokens", name: "apps", state: "unknown" }),
    );
    const { stdout } = await steward(["doctor"], ROOT);
    expect(stdout).toMatch(/^ok {6}tokens {3}github key: RSA, 2048 bits, signs$/m);
  });
});

describe("steward support-bundle", () => {
  it("writes a new file that only its owner reads, and never over another", async () => {
    const file = join(temporaryFolder(), "bundle.zip");
    expect((await steward(["support-bundle", file])).stdout).toMatch(
      /bundle\.zip: [\d.]+ KiB, without devices\n$/,
    );
    expect(readFileSync(file).subarray(0, 2).toString()).toBe("PK");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await steward(["support-bundle", file])).toMatchObject({
      code: 1,
      stderr: `steward: ${file} exists already; name another FILE\n`,
    });
  });
});

const missing = ["bash", "jq"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
);

describe.skipIf(missing.length > 0)(
  `docs/commands.md${missing.length > 0 ? ` (skipped without ${missing.join(", ")})` : ""}`,
  () => {
    it("has commands that run as they stand there", async () => {
      const page = readFileSync(join(import.meta.dirname, "../../docs/commands.md"), "utf8");
      const cwd = temporaryFolder();
      writeFileSync(join(cwd, "operator-token"), TOKEN);
      const shell = startShell({
        cwd,
        env: { ...cleanEnvironment, ...environment, ...ROOT, STEWARD_URL: demo.url },
      });
      onTestFinished(() => shell.close());
      // `--demo` stands for a configuration of the reader's own.
      await shell.run(
        `steward() { case "$*" in *--address*) env -u STEWARD_URL ${LAUNCHER} "$@" ;; *) env -u STEWARD_URL ${LAUNCHER} "$@" --demo ;; esac; }`,
      );
      const commands = snippetsOf(page).filter(({ language }) => language === "sh");
      expect(commands.length).toBeGreaterThan(4);
      for (const { text } of commands) await shell.run(text);
      expect(existsSync(join(cwd, "steward.zip"))).toBe(true);
    });
  },
);

describe("a daemon without an archive", () => {
  it("has nothing wrong for doctor", async () => {
    const directory = temporaryFolder();
    const daemon = await startDaemon({
      config: `gateway: { listen: "127.0.0.1:0" }\nstate: { directory: ${directory} }\n`,
    });
    onTestFinished(async () => void (await daemon.stop()));
    const env = { STEWARD_STATE__DIRECTORY: directory };
    const { code, stdout } = await runSteward(["doctor"], { env });
    expect(stdout).toMatch(/^- {7}dedup {4}archive: none configured$/m);
    expect(stdout).not.toContain("FAILED");
    expect(code).toBe(0);
  });
});

describe("a daemon with one service", () => {
  it("tells of that one, and that the others are off", async () => {
    const folder = join(temporaryFolder(), "documents");
    writeFiles(folder, smallArchive);
    const directory = temporaryFolder();
    const daemon = await startDaemon({
      config: folderConfig(directory, folder, "services:\n  monitor: false\n  tokens: false\n"),
    });
    onTestFinished(async () => void (await daemon.stop()));
    const env = { STEWARD_STATE__DIRECTORY: directory };
    const { code, stdout } = await runSteward(["status"], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^monitor {2}off/m);
    expect(stdout).toMatch(/^tokens +off$/m);
    expect((await runSteward(["devices"], { env })).stderr).toContain(
      "this daemon does not show a monitored network",
    );
    expect(await runSteward(["support-bundle"], { env, cwd: temporaryFolder() })).toMatchObject({
      code: 1,
      stderr:
        "steward: this daemon makes no support bundle; services.monitor, admin.enabled and admin.landing_page must be true\n",
    });
    const { stdout: checks } = await runSteward(["doctor", "--json"], { env });
    expect(JSON.parse(checks)).toContainEqual(
      expect.objectContaining({ part: "tokens", detail: "off" }),
    );
    expect(existsSync(join(directory, "steward.sock"))).toBe(true);
    await daemon.stop();
    expect(existsSync(join(directory, "steward.sock"))).toBe(false);
  });
});
