/**
 * `steward init` on a pseudo-terminal and with a file of answers, against simulated services; the
 * daemon then starts with what it wrote. The terminal needs Python 3.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import { startTailscale } from "../../src/demo/tailscale/tailscale.ts";
import type { Tailscale } from "../../src/demo/tailscale/types.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { silent } from "../demo/control-plane/support.ts";
import { startHeadscale } from "../support/headscale/headscale.ts";
import type { Headscale } from "../support/headscale/types.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { type Pty, startPty } from "../support/pty.ts";
import {
  cleanEnvironment,
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { snippetsOf, startShell } from "./page-snippets.ts";
import { fillGroups, startArchive } from "./paperless-estate.ts";
import { appKey, startCodeHost, vaultRequest } from "./vault.ts";

let headscale: Headscale;
let tailscale: Tailscale;
let paperless: Paperless;
let codeHost: CodeHost;
let paperlessToken: string;
const ptys: Pty[] = [];

beforeAll(async () => {
  const deps = { clock: systemClock, ids: systemIds, log: silent };
  headscale = await startHeadscale({ ...deps, flavour: "release" });
  tailscale = await startTailscale(deps);
  paperless = await startArchive(fillGroups(2, 2));
  paperlessToken = tokenOf(paperless, "viewer");
  codeHost = await startCodeHost();
});

afterEach(() => {
  for (const pty of ptys.splice(0)) pty.kill();
});

afterAll(async () => {
  await Promise.all([headscale, tailscale, paperless, codeHost].map((each) => each.stop()));
  removeTemporaryFolders();
});

function tokenOf({ estate }: Paperless, name: string): string {
  const user = estate.users.find(({ username }) => username === name);
  return user?.token.use((token) => token) ?? "";
}

/** A home with nothing in it, and where the files go. */
interface Home {
  readonly folder: string;
  readonly file: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
}

function home(): Home {
  const folder = temporaryFolder();
  return {
    folder,
    file: join(folder, "etc/steward.yaml"),
    state: join(folder, "state"),
    env: { HOME: folder },
  };
}

function start({ file, env }: Home, args: readonly string[] = []): Pty {
  const pty = startPty([LAUNCHER, "init", ...args, file], {
    env: { ...cleanEnvironment, TERM: "xterm-256color", ...env },
    columns: 200,
    rows: 60,
  });
  ptys.push(pty);
  return pty;
}

/** Waits until the last line is a question that begins like this, and answers. */
async function answer(pty: Pty, question: string, text: string): Promise<void> {
  await pty.shows(new RegExp(`(?:^|\\n)${question.replaceAll(/[^\w ]/g, "\\$&")}[^\\n]*:\\n*$`));
  pty.send(`${text}\r`);
}

function withAnswers(own: Home, answers: unknown, args: readonly string[] = []) {
  const path = join(own.folder, "answers.yaml");
  writeFileSync(path, stringify(answers));
  return runSteward(["init", "--answers", path, ...args, own.file], { env: own.env });
}

function modes(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );
}

describe("steward init on a terminal", () => {
  it("asks again what does not hold, and writes what the daemon starts with", async () => {
    const own = home();
    const pty = start(own);
    await answer(pty, "Monitor a private network?", "headscal");
    await pty.shows('network must be none or tailscale or headscale, got "headscal"');
    await answer(pty, "Monitor a private network?", "headscale");
    await answer(pty, "Address of Headscale", "headscale.example.org");
    await pty.shows("must be an http or https address");
    await answer(pty, "Address of Headscale", headscale.url);
    await answer(pty, "API key", "wrong-key-canary");
    await pty.shows("the credential was rejected");
    await pty.shows("Try again.");
    await answer(pty, "Address of Headscale, e.g. https://headscale.example.org [http", "");
    // Keys that edit no secret are none of its characters.
    const typed = `\u001b[D${headscale.apiKey}\u001bOD\u001b[3~`;
    await answer(pty, "API key (headscale apikeys create) [as before]", typed);
    await pty.shows(/\d+ of \d+ collectors succeeded/);
    await answer(pty, "Address at which Prometheus", "none");
    await answer(pty, "Find near-duplicates", "paperless");
    await answer(pty, "Address of Paperless-ngx", paperless.url);
    await answer(pty, "API token", paperlessToken);
    await pty.shows("Paperless-ngx 3.0.5");
    await answer(pty, "Mint GitHub tokens", "");
    await answer(pty, "Folder for all data", own.state);
    await pty.shows("config OK");
    expect(await pty.ended).toEqual({ code: 0, raw: false });
    for (const secret of ["wrong-key-canary", headscale.apiKey, paperlessToken])
      expect(pty.written()).not.toContain(secret);

    const folder = join(own.folder, "etc");
    expect(modes(folder)).toEqual({
      "headscale-api-key": "600",
      "paperless-token": "600",
      "steward.schema.json": "600",
      "steward.yaml": "600",
    });
    const text = readFileSync(own.file, "utf8");
    expect(text.split("\n")[0]).toBe("# yaml-language-server: $schema=steward.schema.json");
    expect(parse(text)).toMatchObject({
      services: { monitor: true, dedup: true, tokens: false },
      headscale: { url: headscale.url, api_key_file: "headscale-api-key" },
    });
    // As credentials of systemd, which are copies in a folder of its own.
    const copy = join(own.folder, "copy");
    cpSync(folder, copy, { recursive: true });
    const copied = await runSteward(["-validate", "-config", join(copy, "steward.yaml")], own);
    expect([copied.code, copied.stdout + copied.stderr]).toEqual([0, "config OK\n"]);

    const daemon = await startDaemon({
      args: ["-config", own.file],
      env: { ...own.env, STEWARD_GATEWAY__LISTEN: "127.0.0.1:0" },
    });
    try {
      const { json } = await rest(daemon, "GET", "/api/v1/archives");
      expect(json.data).toMatchObject([{ name: "paperless", kind: "paperless" }]);
      expect((await rest(daemon, "GET", "/api/status.json")).status).toBe(200);
    } finally {
      await daemon.stop();
    }
  });

  it("says that a secret's file exists when its service is chosen, and loses no answer", async () => {
    const own = home();
    const secret = join(own.folder, "etc/paperless-token");
    mkdirSync(dirname(secret));
    writeFileSync(secret, "mine");
    const pty = start(own);
    await answer(pty, "Monitor a private network?", "headscale");
    await answer(pty, "Address of Headscale", headscale.url);
    await answer(pty, "API key", headscale.apiKey);
    await answer(pty, "Address at which Prometheus", "none");
    await answer(pty, "Find near-duplicates", "paperless");
    await pty.shows(`archive cannot be paperless: ${secret} exists already`);
    await answer(pty, "Find near-duplicates", "folders");
    await answer(pty, "Folders with documents", own.folder);
    await answer(pty, "Mint GitHub tokens", "");
    await answer(pty, "Folder for all data", own.state);
    await pty.shows("config OK");
    expect(await pty.ended).toEqual({ code: 0, raw: false });
    expect(readFileSync(secret, "utf8")).toBe("mine");
  });

  it("takes an organisation back that was typed by mistake", async () => {
    const own = home();
    writeFileSync(join(own.folder, "app.pem"), appKey.privateKey, { mode: 0o600 });
    const pty = start(own);
    await answer(pty, "Monitor a private network?", "");
    await answer(pty, "Find near-duplicates", "");
    await answer(pty, "Mint GitHub tokens", "yes");
    await answer(pty, "Address of GitHub's API", codeHost.url);
    await answer(pty, "App id", "7");
    await answer(pty, "File with the app's private key", "~/app.pem");
    await answer(pty, "Organisation or user that the app is installed for", "nobody-org");
    await pty.shows("install the app there");
    for (const question of ["Address of GitHub's API", "App id", "File with the app's private key"])
      await answer(pty, question, "");
    await answer(pty, "Organisation or user that the app is installed for; - or empty", "-");
    await answer(pty, "Folder for all data", own.state);
    await pty.shows("config OK");
    expect(await pty.ended).toEqual({ code: 0, raw: false });
  });

  it("leaves nothing on Ctrl-C, while a secret is typed and while a service is read", async () => {
    for (const at of ["secret", "trial"]) {
      const own = home();
      const pty = start(own);
      await answer(pty, "Monitor a private network?", "headscale");
      await answer(pty, "Address of Headscale", headscale.url);
      await pty.shows("API key");
      headscale.latencyMs = 60_000;
      try {
        if (at === "secret") pty.send("half-a-key\u0003");
        else {
          await answer(pty, "API key", headscale.apiKey);
          await pty.shows("Reading the network once");
          pty.signal(2);
        }
        expect(await pty.ended).toEqual({ code: 130, raw: false });
      } finally {
        headscale.latencyMs = 0;
      }
      await pty.shows("Interrupted: nothing was written.");
      expect(readdirSync(own.folder)).toEqual([]);
    }
  });

  it("ends like Ctrl-C when the terminal gives no more lines", async () => {
    const own = home();
    const pty = start(own);
    await pty.shows("Monitor a private network?");
    pty.send("\u0004");
    expect(await pty.ended).toEqual({ code: 130, raw: false });
    expect(readdirSync(own.folder)).toEqual([]);
  });
});

describe("steward init with a file of answers", () => {
  it("sets all services up, with an app that mints at the first start", async () => {
    const own = home();
    const papers = join(own.folder, "Papers & more");
    mkdirSync(papers);
    writeFileSync(join(own.folder, "app.pem"), appKey.privateKey, { mode: 0o600 });
    writeFileSync(join(own.folder, "secret"), `${tailscale.credentials.clientSecret}\n`);
    const done = await withAnswers(own, {
      network: "tailscale",
      tailscale: {
        url: tailscale.url,
        client_id: tailscale.credentials.clientId,
        client_secret_file: "secret",
      },
      prometheus: "127.0.0.1:2113",
      archive: "folders",
      // No shell expands what is typed at a prompt.
      folders: ["~/Papers & more", `${papers}/`],
      tokens: true,
      github: {
        url: codeHost.url,
        app_id: 7,
        private_key_file: join(own.folder, "app.pem"),
        organisation: "example-org",
      },
      state: "~/state",
    });
    expect(done.code, done.stderr).toBe(0);
    expect(done.stderr).toContain("config OK");
    expect(done.stderr).toContain("installation: 1001 in example-org");
    const root = done.stdout.trim();
    expect(done.stdout).toMatch(/^hvs\.\w{24}\n$/);
    expect(modes(join(own.folder, "etc"))).toEqual({
      "steward.schema.json": "600",
      "steward.yaml": "600",
      "tailscale-client-secret": "600",
    });
    expect(parse(readFileSync(own.file, "utf8"))).toMatchObject({
      services: { monitor: true, dedup: true, tokens: true },
      scrape: { enabled: true, listen: "127.0.0.1:2113" },
      dedup: { archives: [{ name: "Papers-more", kind: "folder", path: papers }] },
    });

    const daemon = await startDaemon({
      args: ["-config", own.file],
      env: {
        ...own.env,
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_SCRAPE__LISTEN: "127.0.0.1:0",
      },
    });
    try {
      expect(daemon.stderr.join("\n")).not.toContain("root token");
      const asked = { token: root };
      const { json } = await vaultRequest(
        daemon.url,
        "GET",
        "github/doctor?org_name=example-org",
        asked,
      );
      expect(json.data).toMatchObject({ ok: true });
      const minted = await vaultRequest(daemon.url, "POST", "github/token", {
        ...asked,
        body: { org_name: "example-org", permissions: { contents: "read" } },
      });
      expect([minted.status, minted.json.lease_duration]).toEqual([200, expect.any(Number)]);
    } finally {
      await daemon.stop();
    }

    // A store with tokens in it belongs to its root token.
    const again = await withAnswers(
      own,
      {
        tokens: true,
        github: { url: codeHost.url, app_id: 7, private_key_file: join(own.folder, "app.pem") },
        state: own.state,
      },
      ["--force"],
    );
    expect([again.code, again.stdout]).toEqual([0, ""]);
    expect(again.stderr).toContain("which was not changed");
    expect(parse(readFileSync(own.file, "utf8"))).toMatchObject({
      services: { monitor: false, dedup: false, tokens: true },
    });
  });

  const refused: readonly (readonly [name: string, answers: () => object, text: string])[] = [
    [
      "a token that may not view documents",
      () => ({
        archive: "paperless",
        paperless: { url: paperless.url, token: tokenOf(paperless, "nobody") },
      }),
      "lacks the permission",
    ],
    [
      "an address where nothing listens",
      () => ({ archive: "paperless", paperless: { url: "http://127.0.0.1:9", token: "x" } }),
      "check whether Paperless-ngx runs",
    ],
    [
      "a folder that is not there",
      () => ({ archive: "folders", folders: "/nonexistent/papers" }),
      "/nonexistent/papers cannot be read: ENOENT; check the path",
    ],
    [
      "a folder of another user's home",
      () => ({ archive: "folders", folders: "~ada/papers" }),
      'folders must be a path without ~, got "~ada/papers"; write it out',
    ],
    [
      "an OAuth client that was removed",
      () => ({
        network: "tailscale",
        tailscale: { url: tailscale.url, client_id: "kNoneCNTRL", client_secret: "canary-secret" },
      }),
      "the credential was rejected",
    ],
    [
      "an OAuth client without the scope",
      () => {
        const client = { id: "kPartCNTRL", secret: "canary-secret", scopes: ["users:read"] };
        tailscale.estate.client(client);
        return {
          network: "tailscale",
          tailscale: { url: tailscale.url, client_id: client.id, client_secret: client.secret },
        };
      },
      "give the OAuth client the scope all:read",
    ],
    ["no choice at all", () => ({}), "there is nothing to do"],
    ["a missing answer", () => ({ network: "headscale" }), "lacks headscale.url"],
    [
      "an answer that nothing asks for",
      () => ({ archive: "folders", folders: "/tmp", stat: "/tmp/x" }),
      "nothing asks for: stat; state is similar to stat",
    ],
    ["a choice that is none", () => ({ tokens: "maybe" }), "tokens must be yes or no"],
  ];

  it.each(refused)("writes nothing for %s", async (_name, answers, text) => {
    const own = home();
    const done = await withAnswers(own, answers());
    expect([done.code, done.stdout]).toEqual([1, ""]);
    expect(done.stderr).toContain(text);
    expect(done.stderr).not.toContain("canary-secret");
    expect(readdirSync(own.folder)).toEqual(["answers.yaml"]);
  });

  it("names what a credential may not read, and takes it, as the daemon would", async () => {
    const own = home();
    const { clientId, clientSecret } = tailscale.credentials;
    tailscale.faults.next("contacts", { kind: "status", status: 403 }, Infinity);
    try {
      const done = await withAnswers(own, {
        network: "tailscale",
        tailscale: { url: tailscale.url, client_id: clientId, client_secret: clientSecret },
        prometheus: "none",
        state: own.state,
      });
      expect(done.code, done.stderr).toBe(0);
      expect(done.stderr).toMatch(/^ {2}contacts: .*the credential lacks the permission/m);
      expect(done.stderr).toMatch(/^ {2}13 of 14 collectors succeeded\.$/m);
    } finally {
      tailscale.faults.clear();
    }
  });

  it("refuses an app that is not installed there, and a key of another app", async () => {
    const own = home();
    const pem = join(own.folder, "app.pem");
    writeFileSync(pem, appKey.privateKey);
    const github = { url: codeHost.url, app_id: 7, private_key_file: pem };
    const elsewhere = await withAnswers(own, {
      tokens: "yes",
      github: { ...github, organisation: "nobody-org" },
    });
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining("install the app there"),
    ]);
    const other = await withAnswers(own, { tokens: "yes", github: { ...github, app_id: 8 } });
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining("check app_id, prv_key, base_url and the network"),
    ]);
    writeFileSync(pem, "no key");
    const broken = await withAnswers(own, { tokens: "yes", github });
    expect([broken.code, broken.stderr]).toEqual([
      1,
      expect.stringContaining("key is not a PEM formatted RSA private key"),
    ]);
    expect(existsSync(join(own.folder, "etc"))).toBe(false);
  });

  it("replaces no file without --force, not even one beside the configuration", async () => {
    const own = home();
    const answers = { archive: "folders", folders: own.folder, state: own.state };
    mkdirSync(join(own.folder, "etc"));
    for (const name of ["steward.schema.json", "steward.yaml"]) {
      const path = join(own.folder, "etc", name);
      writeFileSync(path, "mine");
      const done = await withAnswers(own, answers);
      expect([done.code, done.stderr]).toEqual([
        1,
        `steward: ${path} exists already; name another FILE, or replace it with --force\n`,
      ]);
      expect(readFileSync(path, "utf8")).toBe("mine");
    }
    expect((await withAnswers(own, answers, ["--force"])).code).toBe(0);
    expect(parse(readFileSync(own.file, "utf8"))).toHaveProperty("dedup.archives");
    expect(readdirSync(join(own.folder, "etc"))).toEqual(["steward.schema.json", "steward.yaml"]);

    rmSync(own.file);
    rmSync(join(own.folder, "etc/steward.schema.json"));
    const secret = join(own.folder, "etc/paperless-token");
    writeFileSync(secret, "mine");
    const done = await withAnswers(own, {
      archive: "paperless",
      paperless: { url: paperless.url, token: paperlessToken },
      state: own.state,
    });
    expect([done.code, done.stderr]).toEqual([
      1,
      expect.stringContaining(`${secret} exists already`),
    ]);
    expect(done.stderr).not.toContain("Reading");
    expect(readFileSync(secret, "utf8")).toBe("mine");
    expect(readdirSync(join(own.folder, "etc"))).toEqual(["paperless-token"]);
    // Of a service that was not chosen.
    expect((await withAnswers(own, answers)).code).toBe(0);
  });

  it("says before all questions that nothing can be written there", async () => {
    const own = home();
    writeFileSync(join(own.folder, "etc"), "a file");
    const done = await withAnswers(own, {
      archive: "paperless",
      paperless: { url: paperless.url, token: paperlessToken },
      state: own.state,
    });
    expect([done.code, done.stderr]).toEqual([
      1,
      expect.stringMatching(/^steward: \S+steward\.yaml cannot be written: .*; name a FILE/),
    ]);
  });

  it("removes the secrets that an init left which was killed", async () => {
    const own = home();
    const folder = join(own.folder, "etc");
    mkdirSync(join(folder, ".steward-init-aB3dE6"), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, ".steward-init-aB3dE6/paperless-token"), "left");
    writeFileSync(join(folder, ".steward-init-notes"), "mine");
    // Also by one that writes nothing.
    expect((await withAnswers(own, {})).code).toBe(1);
    expect(readdirSync(folder)).toEqual([".steward-init-notes"]);
  });

  it("works as docs/examples.md shows it", async () => {
    const own = home();
    const page = readFileSync(join(import.meta.dirname, "../../docs/examples.md"), "utf8");
    const block = snippetsOf(page).find(({ text }) => text.includes("--answers"));
    writeFileSync(join(own.folder, "headscale-key"), headscale.apiKey);
    const commands = (block?.text ?? "false")
      .replaceAll("https://headscale.example.org", headscale.url)
      .replaceAll("/srv/papers", own.folder);
    const env = { ...own.env, PATH: `${dirname(LAUNCHER)}:${cleanEnvironment["PATH"] ?? ""}` };
    const shell = startShell({ cwd: own.folder, env: { ...cleanEnvironment, ...env } });
    try {
      await shell.run(commands);
    } finally {
      await shell.close();
    }
    expect(parse(readFileSync(join(own.folder, "steward.yaml"), "utf8"))).toMatchObject({
      provider: "headscale",
      dedup: { archives: [{ kind: "folder", path: own.folder }] },
    });
  });

  it("is a usage error without answers and without a terminal", async () => {
    const own = home();
    const done = await runSteward(["init", own.file], { env: own.env });
    expect([done.code, done.stderr]).toEqual([
      2,
      "steward init: needs a terminal for its questions; without one give --answers FILE; see steward init --help\n",
    ]);
  });
});
