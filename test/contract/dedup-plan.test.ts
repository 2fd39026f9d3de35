/** Delete plans on the command line: made, carried out, taken back; on the built tree, with real files. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { DeletePlan } from "../../src/dedup/plan/plan-file.ts";
import { ENDLESS_WIDTHS, mail, pdf } from "../support/documents.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { startPty } from "../support/pty.ts";
import { folderConfig, writeFiles } from "./corpus.ts";
import {
  cleanEnvironment,
  analysesEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  runSteward,
  startDaemon,
  temporaryFolder,
  watchStart,
  type Daemon,
} from "./daemon.ts";
import { spawn } from "../support/spawn.ts";

afterAll(removeTemporaryFolders);

function letter(subject: string, variant = ""): string {
  const sentences = Array.from(
    { length: 24 },
    (_, at) =>
      `The ${subject} number ${at} was ${subject} ${at * 7} before the ${subject} meeting.`,
  );
  return `${sentences.join("\n")}\n${variant}\n`;
}

interface Place {
  readonly folder: string;
  readonly home: string;
  readonly plan: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A folder of files, and a home with its own trash and state. */
function place(files: Readonly<Record<string, string | Uint8Array>>): Place {
  const root = realpathSync(temporaryFolder());
  const folder = join(root, "pile");
  const home = join(root, "home");
  mkdirSync(folder);
  mkdirSync(home);
  writeFiles(folder, files);
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(home, "state"),
    XDG_DATA_HOME: join(home, "data"),
  };
  return { folder, home, plan: join(root, "plan.json"), env };
}

const copies = {
  "a/bridge.txt": letter("bridge"),
  "b/bridge.txt": letter("bridge"),
  "b/bridge-2.txt": letter("bridge", "with one more line about the bridge in spring"),
  "garden.txt": letter("garden"),
  "garden copy.txt": letter("garden"),
  "other.txt": letter("lonely"),
};

async function dedup({ env }: Place, ...args: readonly string[]) {
  return await runSteward(["dedup", ...args], { env });
}

async function makePlan(own: Place, ...args: readonly string[]): Promise<DeletePlan> {
  const result = await dedup(own, "--quiet", "--delete-plan", own.plan, ...args, own.folder);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return readPlan(own);
}

function readPlan({ plan }: Place): DeletePlan {
  return JSON.parse(readFileSync(plan, "utf8")) as DeletePlan;
}

function filesBelow(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [relative(folder, path), readFileSync(path, "utf8")]),
  );
}

const names = ({ entries }: DeletePlan, { folder }: Place): string[] =>
  entries.map(({ path }) => relative(folder, path)).sort();

describe("steward dedup --delete-plan", () => {
  it("writes what would go, with what stays for it, and touches nothing", async () => {
    const own = place(copies);
    const before = filesBelow(own.folder);
    const result = await dedup(own, "--delete-plan", own.plan, own.folder);
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/wrote .*plan\.json: 3 files \(.*KiB\) of 2 groups would go/);
    const plan = readPlan(own);
    expect(plan).toMatchObject({
      format: "steward-delete-plan",
      version: 1,
      groups: "all",
      parameters: { similarityThreshold: 0.75 },
      summary: { files: 3, groups: 2, retained: 0 },
    });
    const going = new Set(plan.entries.map(({ path }) => path));
    for (const { path, sizeBytes, sha256, keep, scores } of plan.entries) {
      expect(statSync(path).size).toBe(sizeBytes);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(going.has(keep.path)).toBe(false);
      expect(existsSync(keep.path)).toBe(true);
      expect(scores.confidence).toBeGreaterThanOrEqual(0.75);
    }
    expect(filesBelow(own.folder)).toEqual(before);
    expect(readdirSync(own.home)).toEqual([]);
  });

  it("lets go of no document of a drifting chain that is like none that stays", async () => {
    const sentence = (at: number): string =>
      `Sentence ${at * 37} tells of item ${at * 11} and person ${at * 13} in year ${1000 + at}.`;
    const chain = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `chain/${String(at).padStart(3, "0")}.txt`,
        Array.from({ length: 30 }, (_each, line) => sentence(at * 2 + line)).join("\n"),
      ]),
    );
    const own = place(chain);
    const plan = await makePlan(own);
    expect(plan.entries.length).toBeGreaterThan(5);
    expect(plan.entries.length).toBeLessThan(59);
    const going = new Set(plan.entries.map(({ path }) => path));
    for (const { keep, scores } of plan.entries) {
      expect(going.has(keep.path)).toBe(false);
      expect(scores.confidence).toBeGreaterThanOrEqual(0.75);
    }
    // Checked from outside: with only what stays and one of those that go there is a group.
    const [first] = plan.entries;
    if (!first) throw new Error("the plan is empty");
    const proof = await dedup(own, "--json", "--quiet", first.path, first.keep.path);
    expect((JSON.parse(proof.stdout) as { groups: unknown[] }).groups).toHaveLength(1);
  });

  it("leaves out what cannot be deleted as a file, with the reason", async () => {
    const own = place({
      "letter.txt": letter("bridge"),
      "lines/in.jsonl": "",
      "mail.eml": [
        "From: a@example.org",
        "Subject: Letter",
        "MIME-Version: 1.0",
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain",
        "",
        letter("garden"),
        "--b",
        "Content-Type: text/plain; name=attached.txt",
        "Content-Disposition: attachment; filename=attached.txt",
        "",
        letter("bridge"),
        "--b--",
        "",
      ].join("\r\n"),
      "packed.txt.gz": gzipSync(letter("bridge")),
      "harbour.txt": letter("harbour"),
    });
    const lines = join(own.folder, "../in.jsonl");
    writeFileSync(lines, `${JSON.stringify({ id: "line", content: letter("bridge") })}\n`);
    linkSync(join(own.folder, "letter.txt"), join(own.folder, "letter-link.txt"));
    const outside = join(own.folder, "../outside.txt");
    writeFileSync(outside, letter("harbour"));
    symlinkSync(outside, join(own.folder, "harbour-link.txt"));
    const plan = await makePlan(own, lines);
    const reasons = Object.fromEntries(
      plan.retained.map(({ id, reason }) => [id.replace(`${own.folder}/`, ""), reason]),
    );
    const all = Object.values(reasons).join("\n");
    expect(reasons["line"]).toMatch(/line of a file/);
    expect(reasons["mail.eml/attached.txt"]).toMatch(/part of a file/);
    expect(all).toMatch(/hard link|symbolic link/);
    const going = names(plan, own);
    for (const name of ["mail.eml", "harbour-link.txt"]) expect(going).not.toContain(name);
    // Of two names of one file both go or both stay.
    expect(going.includes("letter.txt")).toBe(going.includes("letter-link.txt"));
  });

  it("never has a text of which only the beginning was compared", async () => {
    const long = `${letter("bridge")}${"many words that follow one another ".repeat(20_000)}`;
    const own = place({ "one.txt": long, "two.txt": `${long}end`, "three.txt": long });
    const plan = await makePlan(own);
    expect(plan.entries).toEqual([]);
    expect(plan.retained.map(({ reason }) => reason).join()).toMatch(/beginning/);
  });

  it("is of accepted groups once there was a review, of all with --all", async () => {
    const own = place(copies);
    const pty = startPty([LAUNCHER, "dedup", "review", own.folder], {
      env: { ...cleanEnvironment, ...own.env, TERM: "xterm" },
    });
    await pty.shows("Group 1 of 2");
    await pty.shows(/bridge|garden/);
    const isBridge = pty.screen.text().includes("bridge");
    pty.send("kq");
    expect((await pty.ended).code).toBe(0);
    const accepted = await makePlan(own);
    expect(accepted).toMatchObject({ groups: "accepted", summary: { groups: 1 } });
    for (const { path } of accepted.entries) expect(path).toContain(isBridge ? "bridge" : "garden");
    expect(await makePlan(own, "--all")).toMatchObject({ groups: "all", summary: { groups: 2 } });
    const other = await makePlan(own, "--state", join(own.home, "other"));
    expect(other).toMatchObject({ groups: "accepted", entries: [] });
  });

  it("keeps the document that a person chose", async () => {
    const own = place({
      "a.txt": letter("bridge"),
      "b.txt": letter("bridge", "b was here"),
      "c.txt": letter("bridge", "c was here, too"),
    });
    const first = await makePlan(own);
    const suggested = first.entries[0]?.keep.path;
    const pty = startPty([LAUNCHER, "dedup", "review", own.folder], {
      env: { ...cleanEnvironment, ...own.env, TERM: "xterm" },
    });
    await pty.shows("Group 1 of 1");
    pty.send("p3\r");
    await pty.shows("your choice");
    pty.send("k");
    expect((await pty.ended).code).toBe(0);
    const second = await makePlan(own);
    expect(second.entries).toHaveLength(2);
    expect(second.entries[0]?.keep.path).not.toBe(suggested);
    expect(second.entries.map(({ path }) => path)).toContain(suggested);
  });

  it("refuses before it reads when the file cannot be written, or was carried out", async () => {
    const own = place(copies);
    const nowhere = await dedup(own, "--delete-plan", join(own.home, "no/plan.json"), own.folder);
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toMatch(/--delete-plan/);
    await makePlan(own);
    await dedup(own, "--apply-plan", own.plan);
    const again = await dedup(own, "--quiet", "--delete-plan", own.plan, own.folder);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/carried out.*--undo-plan/);
  });
});

describe("steward dedup --apply-plan and --undo-plan", () => {
  it("moves the files to the trash and back, and says what it did", async () => {
    const own = place(copies);
    const before = filesBelow(own.folder);
    const plan = await makePlan(own);
    const trial = await dedup(own, "--apply-plan", own.plan, "--dry-run");
    expect(trial).toMatchObject({ code: 0, stderr: "" });
    expect(trial.stdout).toMatch(/would move .*bridge/);
    expect(trial.stdout).toMatch(/Nothing was moved\. 3 files/);
    expect(filesBelow(own.folder)).toEqual(before);
    expect(readdirSync(own.home)).toEqual([]);

    const applied = await dedup(own, "--apply-plan", own.plan);
    expect(applied).toMatchObject({ code: 0, stderr: "" });
    for (const { path, keep } of plan.entries) {
      expect(applied.stdout).toContain(`moved ${path} (kept ${keep.path})`);
      expect(existsSync(path)).toBe(false);
      expect(existsSync(keep.path)).toBe(true);
    }
    expect(applied.stdout).toMatch(/3 files \(.*\) moved to the trash, 0 left/);
    expect(readdirSync(join(own.home, "data/Trash/files"))).toHaveLength(3);
    expect(readdirSync(join(own.home, "data/Trash/info"))).toHaveLength(3);

    expect((await dedup(own, "--undo-plan", own.plan, "--dry-run")).stdout).toMatch(
      /would restore/,
    );
    const undone = await dedup(own, "--undo-plan", own.plan);
    expect(undone).toMatchObject({ code: 0, stderr: "" });
    expect(filesBelow(own.folder)).toEqual(before);
    expect(filesBelow(join(own.home, "data/Trash"))).toEqual({});
    const twice = await dedup(own, "--undo-plan", own.plan);
    expect(twice.code).toBe(1);
    expect(twice.stderr).toMatch(/nothing to take back/);
  });

  it("leaves what has changed and what would lose its last copy, and ends 1", async () => {
    const own = place(copies);
    const plan = await makePlan(own);
    const garden = plan.entries.find(({ path }) => path.includes("garden"));
    const bridge = plan.entries.find(({ path }) => path.includes("bridge"));
    appendFileSync(garden?.path ?? "", "changed");
    unlinkSync(bridge?.keep.path ?? "");
    const result = await dedup(own, "--apply-plan", own.plan);
    expect(result.code).toBe(1);
    expect(result.stdout).toContain(`left ${garden?.path}: it has changed`);
    expect(result.stdout).toContain(`left ${bridge?.path}: it would have no copy`);
    expect(existsSync(join(own.home, "data/Trash/files"))).toBe(false);
  });

  it("is finished by another run after a kill, and taken back as a whole", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`copy-${at}.txt`, letter("bridge")]),
    );
    const own = place(many);
    const before = filesBelow(own.folder);
    await makePlan(own);
    const child = spawn(LAUNCHER, ["dedup", "--apply-plan", own.plan], {
      env: { ...cleanEnvironment, ...own.env },
    });
    // The first line is there, most of the files are not moved yet.
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    expect(readdirSync(own.folder).length).toBeGreaterThan(1);
    const finished = await dedup(own, "--apply-plan", own.plan);
    expect(finished).toMatchObject({ code: 0, stderr: "" });
    expect(finished.stdout).toMatch(/moved before/);
    expect(readdirSync(own.folder)).toHaveLength(1);
    expect(readdirSync(join(own.home, "data/Trash/info"))).toHaveLength(399);
    expect((await dedup(own, "--undo-plan", own.plan)).code).toBe(0);
    expect(filesBelow(own.folder)).toEqual(before);
    expect(filesBelow(join(own.home, "data/Trash"))).toEqual({});
  });

  it("takes back by the undo file alone, when the plan is lost", async () => {
    const own = place(copies);
    const before = filesBelow(own.folder);
    await makePlan(own);
    await dedup(own, "--apply-plan", own.plan);
    unlinkSync(own.plan);
    expect((await dedup(own, "--undo-plan", `${own.plan}.undo`)).code).toBe(0);
    expect(filesBelow(own.folder)).toEqual(before);
  });

  it.each<[string, (plan: DeletePlan) => unknown, RegExp]>([
    ["no plan", () => ({}), /format is not/],
    ["of another version", (plan) => ({ ...plan, version: 2 }), /version is not 1/],
    [
      "with a relative path",
      (plan) => ({ ...plan, entries: [{ ...plan.entries[0], path: "../x" }] }),
      /entries\[0\]\.path is not an absolute path/,
    ],
    [
      "that lets a file go which stays for another one",
      ({ entries: [first, ...rest], ...plan }) => ({
        ...plan,
        entries: [first, { ...first, ...first?.keep }, ...rest],
      }),
      /keep\.path would go/,
    ],
  ])("refuses a file that is %s, and moves nothing", async (_, change, message) => {
    const own = place(copies);
    const plan = await makePlan(own);
    const before = filesBelow(own.folder);
    writeFileSync(own.plan, JSON.stringify(change(plan)));
    const result = await dedup(own, "--apply-plan", own.plan);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(message);
    expect(filesBelow(own.folder)).toEqual(before);
  });

  it("says when there is no plan", async () => {
    const own = place({});
    const result = await dedup(own, "--apply-plan", own.plan);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/plan\.json cannot be read \(ENOENT\)/);
  });
});

describe("GET /api/v1/export/delete-plan.json", () => {
  /** Syncs, accepts every group that is found, and exports the plan. */
  async function planOfAll(daemon: Daemon): Promise<{ groups: any[]; json: any; text: string }> {
    await runJob(daemon, "/api/v1/sync");
    await analysesEnd(daemon);
    const groups = (await rest(daemon, "GET", "/api/v1/duplicates")).json.data;
    const groupIds = groups.map(({ id }: any) => id);
    await rest(daemon, "POST", "/api/v1/delete-plan/accept", { groupIds });
    const { json, text } = await rest(daemon, "GET", "/api/v1/export/delete-plan.json");
    return { groups, json, text };
  }

  it("has the files of an archive whose path passes a symbolic link, but no mail with attachments", async () => {
    const ready = (attached: string | Uint8Array, about = "harbour"): Uint8Array =>
      mail({ Subject: about }, letter(about), [["bill", Buffer.from(attached)]]);
    const own = place({
      "a.txt": letter("bridge"),
      "b.txt": letter("bridge"),
      "c.txt": letter("garden"),
      "d.eml": ready("148.20"),
      "e.eml": ready("151.75"),
      "f.eml": ready("148.20", "mill"),
      // Its attachment cannot be read, so the mail is read without.
      "g.eml": ready(pdf(["words"], { font: ENDLESS_WIDTHS }), "mill"),
    });
    const link = join(own.home, "link");
    symlinkSync(join(own.folder, ".."), link);
    const daemon = await startDaemon({
      config: folderConfig(temporaryFolder(), join(link, "pile")),
    });
    onTestFinished(async () => void (await daemon.stop()));
    const { json, text } = await planOfAll(daemon);
    expect(json.retained.map(({ id, reason }: any) => `${id} ${reason}`).sort()).toEqual([
      "papers: e.eml is part of a file that holds several documents",
      "papers: g.eml is part of a file that holds several documents",
    ]);
    expect(names(json, own)).toEqual(["b.txt"]);
    writeFileSync(own.plan, text);
    expect((await dedup(own, "--apply-plan", own.plan)).code).toBe(0);
    expect(Object.keys(filesBelow(own.folder))).toEqual([
      "a.txt",
      "c.txt",
      "d.eml",
      "e.eml",
      "f.eml",
      "g.eml",
    ]);
  });

  it("leaves out a file that two archives read, and stays applicable to the others", async () => {
    const own = place({
      "in/a.txt": letter("bridge"),
      "c.txt": letter("garden"),
      "d.txt": letter("garden"),
    });
    // A link hides from the configuration that one folder is in the other.
    const link = join(own.home, "link");
    symlinkSync(join(own.folder, "in"), link);
    const more = `    - {name: linked, kind: folder, path: ${JSON.stringify(link)}}\n`;
    const daemon = await startDaemon({ config: folderConfig(temporaryFolder(), own.folder, more) });
    onTestFinished(async () => void (await daemon.stop()));
    const { groups, json, text } = await planOfAll(daemon);
    expect(groups).toHaveLength(2);
    expect(names(json, own)).toEqual(["d.txt"]);
    expect(json.retained).toMatchObject([{ reason: "is a file that is read under two paths" }]);
    writeFileSync(own.plan, text);
    expect((await dedup(own, "--apply-plan", own.plan)).code).toBe(0);
    expect(Object.keys(filesBelow(own.folder))).toEqual(["c.txt", "in/a.txt"]);
  });

  it.skipIf(spawnSync("unshare", ["-rm", "true"]).status !== 0)(
    "leaves out a file that a mount shows twice",
    async () => {
      const own = place({
        "a/one.txt": letter("bridge"),
        "b/there.txt": "",
        "c.txt": letter("garden"),
        "d.txt": letter("garden"),
      });
      const config = join(own.home, "steward.yaml");
      writeFileSync(config, folderConfig(temporaryFolder(), own.folder));
      const run = `mount --bind "$1/a" "$1/b" && shift && exec "$@"`;
      const command = ["sh", "-c", run, "sh", own.folder, LAUNCHER, "-config", config];
      const daemon = await watchStart(
        spawn("unshare", ["-rm", ...command], { env: cleanEnvironment }),
      );
      onTestFinished(async () => void (await daemon.stop()));
      const { json } = await planOfAll(daemon);
      expect(names(json, own)).toEqual(["d.txt"]);
      expect(json.retained).toMatchObject([
        { id: "papers: b/one.txt", reason: "is a file that is read under two paths" },
      ]);
    },
  );
});
