/** `steward dedup review` on a pseudo-terminal, as a person uses it. Needs Python 3 for the terminal. */
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { DeletePlan } from "../../src/dedup/plan/plan-file.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { startPty } from "../support/pty.ts";
import type { Pty } from "../support/pty.ts";
import { writeFiles } from "./corpus.ts";
import { cleanEnvironment, removeTemporaryFolders, runSteward, temporaryFolder } from "./daemon.ts";

afterAll(removeTemporaryFolders);
afterEach(() => {
  for (const pty of started.splice(0)) pty.kill();
});

const started: Pty[] = [];

/** A text of its own for each subject; the variants of one are near-duplicates. */
function letter(subject: string, variant = ""): string {
  const sentences = Array.from(
    { length: 24 },
    (_, at) =>
      `The ${subject} number ${at} was ${subject} ${at * 7} before the ${subject} meeting.`,
  );
  return `${sentences.join("\n")}\n${variant}\n`;
}

/** Three groups: bridges (three members), gardens, harbours. */
const files: Readonly<Record<string, string>> = {
  "bridge.txt": letter("bridge"),
  "bridge-2.txt": letter("bridge", "with one more line about the bridge in spring"),
  "below/bridge copy.txt": letter("bridge"),
  "garden.txt": letter("garden"),
  "garden-2.txt": letter("garden", "with one more line about the garden in autumn"),
  "harbour.txt": letter("harbour"),
  "harbour-2.txt": letter("harbour", "with one more line about the harbour in winter"),
};

interface Pile {
  readonly folder: string;
  readonly state: string;
}

function pile(texts: Readonly<Record<string, string>> = files): Pile {
  const folder = temporaryFolder();
  writeFiles(folder, texts);
  return { folder, state: join(temporaryFolder(), "state") };
}

interface Started {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

function review({ folder, state }: Pile, { args = [], env = {}, ...size }: Started = {}): Pty {
  const pty = startPty([LAUNCHER, "dedup", "review", "--state", state, ...args, folder], {
    env: { ...cleanEnvironment, TERM: "xterm-256color", ...env },
    ...size,
  });
  started.push(pty);
  return pty;
}

interface Group {
  readonly id: string;
  readonly status: string;
  readonly accepted?: true;
  readonly members: readonly { readonly id: string; readonly primary: boolean }[];
}

async function groupsOf(
  { folder, state }: Pile,
  args: readonly string[] = [],
): Promise<readonly Group[]> {
  const own = ["--json", "--quiet", "--state", state, ...args, folder];
  const result = await runSteward(["dedup", ...own]);
  expect(result.code).toBe(0);
  return (JSON.parse(result.stdout) as { groups: readonly Group[] }).groups;
}

/** The group that has a member with this name. */
function groupWith(groups: readonly Group[], name: string): Group | undefined {
  return groups.find(({ members }) => members.some(({ id }) => id.endsWith(`/${name}`)));
}

const SUBJECTS = ["bridge", "garden", "harbour"];

/** The subject of the group on the screen, once it shows; none of the groups before. */
async function shownSubject(pty: Pty, before: readonly string[] = []): Promise<string> {
  const subject = new RegExp(SUBJECTS.filter((each) => !before.includes(each)).join("|"));
  await pty.shows(subject);
  return subject.exec(pty.screen.text())?.[0] ?? "";
}

async function ends(pty: Pty, code: number): Promise<void> {
  expect(await pty.ended).toEqual({ code, raw: false });
  expect(pty.screen.isAlternate).toBe(false);
  expect(pty.screen.cursorIsVisible).toBe(true);
}

describe("steward dedup review", () => {
  it("goes through the groups, and the decisions hold in the next run", async () => {
    const own = pile();
    const pty = review(own);
    await pty.shows("Group 1 of 3");
    expect(pty.screen.isAlternate).toBe(true);
    const subjects = [await shownSubject(pty)];
    pty.send("k");
    await pty.shows("Group 2 of 3");
    await pty.shows("Group 1: accepted.");
    subjects.push(await shownSubject(pty, subjects));
    pty.send("x");
    await pty.shows("Group 3 of 3");
    subjects.push(await shownSubject(pty, subjects));
    pty.send("s");
    await ends(pty, 0);
    expect(pty.screen.text()).toContain("3 groups: 1 accepted, 1 not duplicates, 1 open.");
    expect(new Set(subjects).size).toBe(3);

    const groups = await groupsOf(own);
    const [accepted = "", rejected = "", open = ""] = subjects;
    expect(groupWith(groups, `${accepted}.txt`)).toMatchObject({
      status: "pending",
      accepted: true,
    });
    expect(groupWith(groups, `${rejected}.txt`)).toBeUndefined();
    expect(groupWith(groups, `${open}.txt`)).toMatchObject({ status: "pending" });
    expect(groupWith(groups, `${open}.txt`)).not.toHaveProperty("accepted");

    const again = review(own);
    await again.shows("Group 1 of 1");
    expect(await shownSubject(again)).toBe(open);
    again.send("q");
    await ends(again, 0);
    const all = review(own, { args: ["--all"] });
    await all.shows("Group 1 of 3");
    for (const text of ["Group 2 of 3", "Group 3 of 3"]) {
      all.send("s");
      await all.shows(text);
    }
    await all.shows("not duplicates");
    all.send("r");
    await all.shows("Open again.");
    all.send("q");
    await ends(all, 0);
    expect(groupWith(await groupsOf(own), `${rejected}.txt`)).toMatchObject({ status: "pending" });
  });

  it("stores each decision before the next group shows, so that a kill loses none", async () => {
    const own = pile();
    const pty = review(own);
    await pty.shows("Group 1 of 3");
    const subject = await shownSubject(pty);
    pty.send("k");
    await pty.shows("Group 2 of 3");
    pty.signal(9);
    expect((await pty.ended).code).toBe(-9);
    expect(groupWith(await groupsOf(own), `${subject}.txt`)).toMatchObject({ accepted: true });
  });

  it("takes decisions back, one by one, as if they had never been made", async () => {
    const own = pile();
    const before = await groupsOf(own);
    const pty = review(own);
    await pty.shows("Group 1 of 3");
    pty.send("u");
    await pty.shows("There is nothing to undo.");
    pty.send("k");
    await pty.shows("Group 2 of 3");
    pty.send("x");
    await pty.shows("Group 3 of 3");
    pty.send("u");
    await pty.shows("Undone: group 2");
    pty.send("u");
    await pty.shows("Undone: group 1");
    await pty.shows("documents, open");
    pty.send("q");
    await ends(pty, 0);
    expect(await groupsOf(own)).toEqual(before);
  });

  it("lets the document that stays be chosen, by a number that is checked", async () => {
    const own = pile();
    const pty = review(own, { columns: 200 });
    await pty.shows("Group 1 of 3");
    const subject = await shownSubject(pty);
    const before = groupWith(
      await groupsOf({ ...own, state: `${own.state}-other` }),
      `${subject}.txt`,
    );
    const second = before?.members[1]?.id ?? "";
    pty.send("p9\r");
    await pty.shows("There is no document 9");
    pty.send("p\u001b");
    await pty.shows("? help");
    pty.send("p2\r");
    await pty.shows("This document stays.");
    await pty.shows("stays, your choice");
    pty.send("q");
    await ends(pty, 0);
    const chosen = groupWith(await groupsOf(own), `${subject}.txt`);
    expect(chosen?.members.find(({ primary }) => primary)?.id).toBe(second);
    expect(chosen?.status).toBe("pending");
  });

  it("shows how the texts differ, and the keys", async () => {
    const pty = review(pile());
    await pty.shows("Group 1 of 3");
    pty.send("d");
    await pty.shows("Esc back");
    await pty.shows(/\[-with|\{\+with|same words/i);
    pty.send("n");
    await pty.shows("Esc back");
    pty.send("\u001b");
    await pty.shows("? help");
    pty.send("?");
    await pty.shows("any key goes back");
    pty.send("a");
    await pty.shows("? help");
    pty.send("q");
    await ends(pty, 0);
  });

  it("keeps the document that stayed when its group was accepted, until another one is chosen", async () => {
    const own = pile({ "a.txt": letter("bridge"), "b.txt": letter("bridge") });
    const [a, b] = [join(own.folder, "a.txt"), join(own.folder, "b.txt")];
    const touch = (path: string, year: number): void =>
      utimesSync(path, new Date(`${year}-06-01`), new Date(`${year}-06-01`));
    touch(a, 2020);
    touch(b, 2021);
    const pty = review(own, { columns: 200 });
    await pty.shows(/\* 1 \S*a\.txt/);
    pty.send("k");
    await ends(pty, 0);
    touch(a, 2022);
    const plan = join(own.state, "..", "plan.json");
    const planned = async (state: string): Promise<readonly (readonly [string, string])[]> => {
      const made = await runSteward(
        ["dedup", "--quiet", "--state", state, "--delete-plan", plan, own.folder],
        {},
      );
      expect(made).toMatchObject({ code: 0, stderr: "" });
      const { entries } = JSON.parse(readFileSync(plan, "utf8")) as DeletePlan;
      return entries.map(({ path, keep }) => [basename(path), basename(keep.path)]);
    };
    expect(await planned(own.state)).toEqual([["b.txt", "a.txt"]]);
    expect((await groupsOf(own))[0]?.members[0]).toMatchObject({ primary: true });
    expect((await groupsOf(own))[0]?.members[0]?.id).toContain("a.txt");
    // A run that knows nothing of it keeps the older one.
    expect((await groupsOf({ ...own, state: `${own.state}-other` }))[0]?.members[0]?.id).toContain(
      "b.txt",
    );
    const again = review(own, { args: ["--all"], columns: 200 });
    await again.shows(/\* 1 \S*a\.txt/);
    again.send("p2\r");
    await again.shows("This document stays.");
    again.send("q");
    await ends(again, 0);
    expect(await planned(own.state)).toEqual([["a.txt", "b.txt"]]);
  });

  it("opens a group again that got a member after it was accepted", async () => {
    const own = pile();
    const pty = review(own);
    await pty.shows("Group 1 of 3");
    const subject = await shownSubject(pty);
    pty.send("kq");
    await ends(pty, 0);
    const { id } = groupWith(await groupsOf(own), `${subject}.txt`) ?? { id: "" };
    writeFileSync(join(own.folder, "new.txt"), letter(subject, "a newer line"));
    const grown = groupWith(await groupsOf(own), "new.txt");
    expect(grown).toMatchObject({ id, status: "pending" });
    expect(grown).not.toHaveProperty("accepted");
  });

  it("keeps what was decided about files that another run does not read", async () => {
    const own = pile();
    writeFiles(own.folder, { "x/one.txt": letter("meadow"), "x/two.txt": letter("meadow", "two") });
    const pty = review(own);
    await pty.shows("Group 1 of 4");
    pty.send("kkkk");
    await ends(pty, 0);
    const part = { folder: join(own.folder, "x"), state: own.state };
    expect(await groupsOf(part)).toMatchObject([{ accepted: true }]);
    const groups = await groupsOf(own);
    expect(groups).toHaveLength(4);
    for (const group of groups) expect(group).toMatchObject({ accepted: true });
  });

  it("keeps what was decided about groups that a run with another threshold does not find", async () => {
    const own = pile();
    const pty = review(own);
    await pty.shows("Group 1 of 3");
    pty.send("kkk");
    await ends(pty, 0);
    expect(await groupsOf(own, ["--threshold", "0.999"])).toMatchObject([
      { accepted: true, members: [{}, {}] },
    ]);
    const groups = await groupsOf(own);
    expect(groups).toHaveLength(3);
    for (const group of groups) expect(group).toMatchObject({ accepted: true });
  });
});

describe("the terminal of the review", () => {
  it.each<[string, (pty: Pty) => void, number]>([
    ["q", (pty) => pty.send("q"), 0],
    ["Ctrl-D", (pty) => pty.send("\u0004"), 0],
    ["Ctrl-C", (pty) => pty.send("\u0003"), 130],
    ["SIGTERM", (pty) => pty.signal(15), 130],
    ["SIGINT", (pty) => pty.signal(2), 130],
    ["SIGHUP", (pty) => pty.signal(1), 1],
  ])("is as it was after %s", async (_, end, code) => {
    const pty = review(pile());
    await pty.shows("Group 1 of 3");
    expect(pty.screen.cursorIsVisible).toBe(false);
    end(pty);
    await ends(pty, code);
  });

  it("is the shell's while the review is suspended, and shows the group again after", async () => {
    const own = pile();
    // A shell with job control: a process that leads the session cannot be stopped.
    const command = `set -m; ${LAUNCHER} dedup review --state ${own.state} ${own.folder}; echo stopped; fg`;
    const pty = startPty(["bash", "-c", command], {
      env: { ...cleanEnvironment, TERM: "xterm-256color" },
    });
    started.push(pty);
    await pty.shows("Group 1 of 3");
    pty.send("\u001a");
    // The shell brings it back at once.
    await expect
      .poll(() => pty.written().split("\u001b[?1049h").length, { timeout: 60_000 })
      .toBe(3);
    const [left = "", shell = ""] = pty.written().split("\u001b[?1049l");
    expect(left.endsWith("\u001b[?25h")).toBe(true);
    expect(shell).toContain("stopped");
    await pty.shows("Group 1 of 3");
    pty.send("q");
    await ends(pty, 0);
  });

  it.each([
    [80, 24],
    [40, 10],
    [200, 50],
    [20, 5],
  ])("fits %i columns and %i rows, and scrolls to what does not", async (columns, rows) => {
    const pty = review(pile(), { columns, rows });
    await pty.shows("? help");
    pty.send("?");
    await pty.shows("any key");
    pty.send("   \u007f");
    pty.send("a");
    await pty.shows("? help");
    pty.send("d");
    await pty.shows("Esc back");
    pty.send("\u001b");
    await pty.shows("? help");
    pty.send("q");
    await ends(pty, 0);
    expect(pty.screen.overflows).toBe(0);
  });

  it("draws again when its size changes", async () => {
    const pty = review(pile());
    await pty.shows("q quit");
    pty.resize(50, 12);
    await expect.poll(() => pty.screen.lines().length, { timeout: 60_000 }).toBe(12);
    await pty.shows("Group 1 of 3");
    await pty.shows("? help");
    pty.resize(100, 30);
    await pty.shows("q quit");
    pty.send("q");
    await ends(pty, 0);
    expect(pty.screen.overflows).toBe(0);
  });

  it.each<[string, Readonly<Record<string, string>>, boolean]>([
    ["colours by itself", {}, true],
    ["none with NO_COLOR", { NO_COLOR: "1" }, false],
    ["none with TERM=dumb", { TERM: "dumb" }, false],
  ])("has %s", async (_, env, styled) => {
    const pty = review(pile(), { env });
    await pty.shows("Group 1 of 3");
    pty.send("dq");
    await pty.shows("? help");
    pty.send("q");
    await ends(pty, 0);
    expect(pty.screen.isStyled).toBe(styled);
  });

  it("never gets control characters from names and texts", async () => {
    const own = pile();
    const name = "evil\u001b]0;title\u0007\u009b31m.txt";
    writeFiles(own.folder, { [name]: letter("bridge", "\u001b[31mred\u001b[0m") });
    const pty = review(own);
    for (const _ of [1, 2, 3]) {
      await pty.shows("? help");
      pty.send("dn");
      await pty.shows("Esc back");
      pty.send("\u001bs");
    }
    await ends(pty, 0);
    expect(pty.written()).toContain("evil\\u001b]0;title\\u0007\\u009b31m.txt");
    expect(pty.written()).not.toContain("\u001b]0;");
  });
});

describe("steward dedup review without a terminal, or misused", () => {
  it("ends 2 and names the remedy", async () => {
    const { folder, state } = pile();
    const result = await runSteward(["dedup", "review", "--state", state, folder]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/needs a terminal/);
    expect(result.stderr).toMatch(/--json/);
    expect(existsSync(state)).toBe(false);
  });

  it.each<[readonly string[], RegExp]>([
    [["review"], /PATH/],
    [["review", "-"], /standard input/],
    [["review", "--json", "."], /--json/],
    [["review", "--delete-plan", "x", "."], /--delete-plan/],
    [["--all", "."], /--all/],
    [["--dry-run", "."], /--dry-run/],
    [["--apply-plan", "a", "--undo-plan", "b"], /exclude/],
    [["--apply-plan", "a", "."], /no PATH/],
    [["--apply-plan", "a", "--json"], /--json/],
  ])("%j ends 2 and says what is wrong", async (args, message) => {
    const result = await runSteward(["dedup", ...args]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
  });

  it("keeps decisions in the state folder of the user when none is given", async () => {
    const { folder } = pile();
    const home = temporaryFolder();
    const pty = startPty([LAUNCHER, "dedup", "review", folder], {
      env: { ...cleanEnvironment, TERM: "xterm", HOME: home, XDG_STATE_HOME: "" },
    });
    await pty.shows("Group 1 of 3");
    pty.send("kq");
    await ends(pty, 0);
    const state = join(home, ".local/state/steward/dedup");
    expect(readdirSync(state).join()).toContain("dedup-review");
    expect(readFileSync(join(folder, "bridge.txt"), "utf8")).toBe(files["bridge.txt"]);
  });
});
