/** `steward backup` beside a running daemon, which makes the copy and hands it over on its socket. */
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { mountSmallDisk, noSmallDisk } from "../kernel/state/fixtures/small-disk.ts";
import {
  type CommandResult,
  type Daemon,
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

let state = "";
let daemon: Daemon;

async function start(directory: string): Promise<Daemon> {
  return await startDaemon({
    config: JSON.stringify({
      gateway: { listen: "127.0.0.1:0" },
      state: { directory },
      services: { monitor: false, tokens: false },
    }),
  });
}

function backup(target: string, directory = state): Promise<CommandResult> {
  return runSteward(["backup", target], { env: { STEWARD_STATE__DIRECTORY: directory } });
}

/** Asks as the command does, and leaves the answer open. */
function ask(method = "POST", path = "/backup"): Promise<IncomingMessage> {
  return new Promise((resolve, reject) =>
    request({ socketPath: join(state, "steward.sock"), method, path }, resolve)
      .once("error", reject)
      .end(),
  );
}

async function firstEvent(answer: IncomingMessage): Promise<any> {
  for await (const chunk of answer.iterator({ destroyOnReturn: false }))
    return JSON.parse(String(chunk).replace(/^data: /, ""));
}

const staged = (): boolean => existsSync(join(state, "backup-staged"));

beforeEach(async () => {
  state = temporaryFolder();
  daemon = await start(state);
});
afterEach(async () => void (await daemon.stop()));
afterAll(removeTemporaryFolders);

describe("steward backup beside a running daemon", () => {
  it("copies what the daemon copied, compared with its checksums, and leaves nothing in the state folder", async () => {
    const target = join(temporaryFolder(), "made");
    const made = await backup(target);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toMatch(/^dedup\.mdb: .* MiB, \d+ rows$/m);
    expect(made.stdout).toMatch(/^dedup-sketch\.mdb: not included, Steward rebuilds it$/m);
    expect(made.stdout).toContain(`backup of ${state} complete: 3 stores`);
    expect(readdirSync(target).sort()).toEqual([
      "dedup-text.mdb",
      "dedup-text.mdb.json",
      "dedup.mdb",
      "dedup.mdb.json",
      "history.mdb",
      "history.mdb.json",
      "manifest.json",
    ]);
    for (const file of readdirSync(target))
      expect(statSync(join(target, file)).mode & 0o077, file).toBe(0);
    expect(statSync(join(state, "steward.sock")).mode & 0o777).toBe(0o600);
    await expect.poll(staged).toBe(false);
    expect((await runSteward(["check", target])).code).toBe(0);
    const copy = await start(target);
    expect((await rest(copy, "GET", "/readyz")).status).toBe(200);
    await copy.stop();
  });

  it("refuses a folder that holds anything, and removes none of it", async () => {
    const target = temporaryFolder();
    mkdirSync(join(target, "notes"));
    writeFileSync(join(target, "manifest.json"), "mine");
    const refused = await backup(target);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`${target} is not empty; choose a new or an empty folder`);
    expect(readdirSync(target)).toEqual(["manifest.json", "notes"]);
  });

  it("is one at a time, and the copy goes when the command leaves", async () => {
    const held = await ask();
    expect(await firstEvent(held)).toMatchObject({ directory: join(state, "backup-staged") });
    const target = join(temporaryFolder(), "made");
    const refused = await backup(target);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("a backup is being made");
    held.destroy();
    await expect.poll(staged).toBe(false);
    expect((await backup(target)).code).toBe(0);
  });

  it("is served on the owner's socket alone", async () => {
    expect((await ask("GET", "/backup")).statusCode).toBe(405);
    expect((await rest(daemon, "POST", "/backup")).status).toBe(404);
  });
});

describe("a state folder on a disk without space for a copy", () => {
  it.skipIf(noSmallDisk !== undefined)(
    "is not backed up by the daemon, and the refusal says what helps: without the daemon the copy goes to another disk",
    async () => {
      const small = mountSmallDisk(64);
      const other = await start(small);
      onTestFinished(async () => void (await other.stop()));
      const target = join(temporaryFolder(), "made");
      const refused = await backup(target, small);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(
        /has no space for a backup of \d+ bytes; free space on the disk of state\.directory, or stop Steward and run the command again\n$/,
      );
      await other.stop();
      expect(await backup(target, small)).toMatchObject({ code: 0, stderr: "" });
    },
  );
});

describe("steward backup after a daemon that was killed", () => {
  it("copies the folder itself; the next start removes what was left", async () => {
    const held = await ask();
    await firstEvent(held);
    await daemon.stop("SIGKILL");
    expect(staged()).toBe(true);
    const target = join(temporaryFolder(), "made");
    expect(await backup(target)).toMatchObject({ code: 0, stderr: "" });
    daemon = await start(state);
    expect(staged()).toBe(false);
    expect((await backup(join(temporaryFolder(), "again"))).code).toBe(0);
  });
});

describe("a state folder whose path is too long for a socket", () => {
  it("is used all the same; the log and the refused backup say why", async () => {
    const long = join(temporaryFolder(), "a".repeat(100));
    const other = await start(long);
    expect(other.stderr.join("\n")).toMatch(/commands cannot reach this daemon.*at most 107/);
    const refused = await backup(join(temporaryFolder(), "made"), long);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      "is longer than the 107 bytes that a Unix socket allows; stop the daemon, or give it a shorter state.directory",
    );
    await other.stop();
    expect((await backup(join(temporaryFolder(), "made"), long)).code).toBe(0);
  });
});

describe("steward backup of a stopped daemon's folder", () => {
  it.skipIf(process.geteuid?.() !== 0)(
    "by root leaves no file that the daemon's user could not open",
    async () => {
      await daemon.stop();
      for (const name of readdirSync(state)) if (/(^|-)lock$/.test(name)) rmSync(join(state, name));
      chownSync(state, 4711, 4712);
      for (const name of readdirSync(state)) chownSync(join(state, name), 4711, 4712);
      expect(await backup(join(temporaryFolder(), "made"))).toMatchObject({ code: 0, stderr: "" });
      const owners = readdirSync(state).map((name) => {
        const { uid, gid } = statSync(join(state, name));
        return [name, uid, gid];
      });
      expect(owners).toContainEqual(["dedup.mdb-lock", 4711, 4712]);
      expect(owners.filter(([, uid, gid]) => uid !== 4711 || gid !== 4712)).toEqual([]);
    },
  );
});
