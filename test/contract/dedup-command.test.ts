import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { smallArchive, writeFiles } from "./corpus.ts";
import { cleanEnvironment, removeTemporaryFolders, runSteward, temporaryFolder } from "./daemon.ts";
import { mail } from "../support/documents.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { startPty } from "../support/pty.ts";
import { spawn } from "../support/spawn.ts";

afterAll(removeTemporaryFolders);

const fences = ["minutes/fence-copy.txt", "minutes/fence-white.md", "minutes/fence.txt"];

function archive(more: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = temporaryFolder();
  writeFiles(folder, { ...smallArchive, ...more });
  return folder;
}

function lines(records: readonly unknown[]): string {
  return records
    .map((record) => (typeof record === "string" ? record : JSON.stringify(record)))
    .join("\n");
}

const garden = smallArchive["minutes/fence.txt"] ?? "";

describe("steward dedup on a folder", () => {
  it("prints groups for people and a summary, and ends 0", async () => {
    const folder = archive();
    const result = await runSteward(["dedup", folder]);
    expect(result.code).toBe(0);
    for (const name of ["fence", "fence-copy", "fence-white"])
      expect(result.stdout).toContain(name);
    expect(result.stdout).not.toContain("water");
    expect(result.stdout).toMatch(/7 documents/);
    expect(result.stdout).toMatch(/documents per second/i);
    expect(result.stdout).toMatch(/peak memory/i);
    expect(result.stderr).toMatch(/100 %/);
  });

  it.each([
    ["a bar, drawn over again,", "xterm", true],
    ["a line for each 10 %", "dumb", false],
  ])("shows its progress as %s where TERM is %s", async (_, term, isBar) => {
    const pty = startPty([LAUNCHER, "dedup", archive()], {
      env: { ...cleanEnvironment, TERM: term },
    });
    expect(await pty.ended).toEqual({ code: 0, raw: false });
    expect(pty.written().includes("\u001b[K")).toBe(isBar);
    expect(pty.written().includes("\u001b")).toBe(isBar);
    expect(/^100 % {2}done/m.test(pty.written())).toBe(!isBar);
  });

  it("writes one JSON object and nothing else with --json, and is silent with --quiet", async () => {
    const folder = archive();
    const result = await runSteward(["dedup", "--json", "--quiet", folder]);
    expect([result.code, result.stderr]).toEqual([0, ""]);
    const report = JSON.parse(result.stdout);
    expect(Object.keys(report)).toEqual(["summary", "parameters", "groups"]);
    expect(report.groups).toHaveLength(1);
    expect(report.groups[0]).toMatchObject({ status: "pending", id: expect.any(String) as string });
    expect(report.groups[0].confidence).toBeCloseTo((1 + 2 * 0.8525714285714285) / 3, 12);
    expect(report.groups[0].members.map((member: any) => member.id).sort()).toEqual(
      fences.map((name) => join(folder, name)),
    );
    expect(report.groups[0].members.filter((member: any) => member.primary)).toHaveLength(1);
    expect(report.groups[0].reasons.length).toBeGreaterThan(0);
    expect(report.summary).toMatchObject({ documents: 7, groups: 1, pairs: 3 });
    expect(report.parameters).toMatchObject({ similarityThreshold: 0.75, minWords: 20 });
  });

  it("gives the same answer whatever the number of workers", async () => {
    const folder = archive();
    const answers = await Promise.all(
      ["1", "2"].map(
        async (workers) =>
          JSON.parse(
            (await runSteward(["dedup", "--json", "--quiet", "--workers", workers, folder])).stdout,
          ).groups,
      ),
    );
    expect(answers[0]).toEqual(answers[1]);
  });

  it("takes the threshold and the least number of words", async () => {
    const folder = archive();
    const strict = JSON.parse(
      (await runSteward(["dedup", "--json", "--quiet", "--threshold", "0.9", folder])).stdout,
    );
    expect(strict.groups[0].members).toHaveLength(2);
    const long = JSON.parse(
      (await runSteward(["dedup", "--json", "--quiet", "--min-words", "30", folder])).stdout,
    );
    expect(long.groups).toHaveLength(0);
  });

  it("tells bills apart by dates, sums and numbers in Arabic digits", async () => {
    const bill = (number: string, date: string, sum: string): string =>
      `الشركة الوطنية للكهرباء فرع المدينة عزيزي العميل نشكركم على تعاملكم معنا ونرفق لكم تفاصيل استهلاككم خلال الفترة المذكورة أدناه رقم الفاتورة: ${number} بتاريخ ${date} المبلغ ${sum} ريال يرجى سداد المبلغ المستحق قبل تاريخ الاستحقاق عبر أي من قنوات الدفع المعتمدة لدى الشركة أو من خلال التطبيق الإلكتروني وفي حال وجود أي استفسار يمكنكم التواصل مع مركز خدمة العملاء على مدار الساعة طوال أيام الأسبوع`;
    const march = bill("١٠٠٢٣٤", "١٤/٠٣/٢٠٢٤", "١٬٢٥٠٫٥٠");
    const folder = temporaryFolder();
    writeFiles(folder, {
      "april.txt": bill("١٠٠٩٧٧", "١٤/٠٤/٢٠٢٤", "٩٨٠٫٢٥"),
      "march.txt": march,
      "march again.txt": `نسخة ${march}`,
    });
    const { stdout } = await runSteward(["dedup", "--json", "--quiet", folder]);
    const [group, ...others] = JSON.parse(stdout).groups;
    expect(others).toEqual([]);
    expect(group.members.map((member: any) => member.id).sort()).toEqual(
      ["march again.txt", "march.txt"].map((name) => join(folder, name)),
    );
    expect(group.reasons).toContain("same date 2024-03-14");
  });

  it("survives unreadable files, foreign encodings, binary files, broken and cyclic links, and names them", async () => {
    const folder = archive({
      "odd/latin1.txt": Buffer.from(garden.replace("green", "gr\u00fcn"), "latin1"),
      "odd/binary.txt": Buffer.from([0, 1, 2, 0, 255]),
      "odd/empty.txt": "",
      "odd/locked.txt": garden,
    });
    symlinkSync(folder, join(folder, "odd/cycle"));
    symlinkSync(join(folder, "nowhere"), join(folder, "odd/broken.txt"));
    mkdirSync(join(folder, "odd/looks-like.txt"));
    chmodSync(join(folder, "odd/locked.txt"), 0);
    const result = await runSteward(["dedup", "--json", "--quiet", folder]);
    expect(result.code).toBe(0);
    const report = JSON.parse(result.stdout);
    const members = report.groups[0].members.map((member: any) => member.id as string);
    expect(members).toContain(join(folder, "odd/latin1.txt"));
    expect(members.some((id: string) => id.includes("cycle"))).toBe(false);
    const told = JSON.stringify(report.summary);
    for (const name of ["binary.txt", "broken.txt"]) expect(told).toContain(name);
  });

  it("never calls a mailbox the copy of its first mail, and names it", async () => {
    const part = (text: string): string =>
      `Content-Type: multipart/mixed; boundary=b\n\n--b\n\n${text}\n--b--\n`;
    const letter = `From: ann@example.com\nSubject: Fence\n${part(garden)}`;
    const other = `From: bob@example.com\nSubject: Roof\n${part("Something else.")}`;
    const from = "From - Thu Feb 29 10:00:00 2024\n";
    const folder = temporaryFolder();
    writeFiles(folder, {
      Sent: `${from}${letter}\n${from}${other}\n${from}${other}`,
      "letter.eml": letter,
    });
    const result = await runSteward(["dedup", "--json", "--quiet", folder]);
    const report = JSON.parse(result.stdout);
    expect(report.groups).toEqual([]);
    expect(report.summary).toMatchObject({ documents: 1, skipped: { mailbox: 1 } });
    expect(JSON.stringify(report.summary.notes)).toContain(join(folder, "Sent"));
  });

  it("never calls a file the duplicate of itself, and says what was given twice", async () => {
    const folder = archive();
    const fence = join(folder, "minutes/fence.txt");
    const result = await runSteward([
      "dedup",
      "--json",
      "--quiet",
      folder,
      fence,
      join(folder, "minutes"),
    ]);
    const report = JSON.parse(result.stdout);
    expect(report.groups[0].members.map((member: any) => member.id).sort()).toEqual(
      fences.map((name) => join(folder, name)),
    );
    expect(report.summary).toMatchObject({
      documents: 7,
      groups: 1,
      pairs: 3,
      skipped: { "read already": expect.any(Number) as number },
    });
    expect(report.summary.notes).toEqual([expect.stringContaining(fence) as string]);
  });

  it("ends 1 with a clear line when a path is not there", async () => {
    const result = await runSteward(["dedup", join(temporaryFolder(), "nothing")]);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/nothing/);
    expect(result.stdout).toBe("");
  });

  it("takes no folder with other files for its state, and leaves its mode", async () => {
    const folder = archive();
    chmodSync(folder, 0o755);
    const before = readdirSync(folder);
    const result = await runSteward(["dedup", "--quiet", "--state", folder, folder]);
    expect([result.code, result.stdout]).toEqual([1, ""]);
    expect(result.stderr).toContain(
      `--state ${folder}: holds other files and no state of Steward, which would make it private; give a new folder or an empty one`,
    );
    expect([statSync(folder).mode & 0o777, readdirSync(folder)]).toEqual([0o755, before]);
  });

  it("writes nowhere but in the state folder it was given", async () => {
    const folder = archive();
    const home = temporaryFolder();
    const state = join(temporaryFolder(), "state");
    const before = readdirSync(folder, { recursive: true });
    const first = JSON.parse(
      (
        await runSteward(["dedup", "--json", "--quiet", "--state", state, folder], {
          env: { HOME: home, XDG_STATE_HOME: home },
        })
      ).stdout,
    );
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
    expect(readdirSync(home)).toEqual([]);
    expect(statSync(state).isDirectory()).toBe(true);
    const second = JSON.parse(
      (
        await runSteward(["dedup", "--json", "--quiet", "--state", state, folder], {
          env: { HOME: home },
        })
      ).stdout,
    );
    expect(second.groups).toEqual(first.groups);
    await runSteward(["dedup", "--quiet", folder], { env: { HOME: home, XDG_STATE_HOME: home } });
    expect(readdirSync(home)).toEqual([]);
  });
});

describe("steward dedup on JSON Lines", () => {
  const records = [
    { id: "a", content: garden, title: "Fence" },
    { id: 7, content: garden.replace("green", "white") },
    "{broken",
    { id: "a", content: "the same id again" },
    { content: "no id" },
    { id: "n", content: 5 },
    "",
    { id: "e", content: "" },
  ];

  it("reads a file, names broken lines by number and goes on", async () => {
    const folder = temporaryFolder();
    writeFiles(folder, { "in.jsonl": lines(records) });
    const result = await runSteward(["dedup", "--json", "--quiet", join(folder, "in.jsonl")]);
    expect(result.code).toBe(0);
    const report = JSON.parse(result.stdout);
    expect(report.groups[0].members.map((member: any) => member.id).sort()).toEqual(["7", "a"]);
    const told = JSON.stringify(report.summary);
    for (const number of [3, 4, 6]) expect(told).toContain(`line ${number}`);
  });

  it("takes for the oldest what ISO 8601 says, whatever the time zone of the process", async () => {
    const folder = temporaryFolder();
    writeFiles(folder, {
      "dates.jsonl": lines([
        { id: "a", content: garden, created: "2020-01-01T04:00:00Z" },
        { id: "b", content: garden, created: "2020-01-01T00:00:00" },
        { id: "c", content: garden, created: "05.01.2019" },
      ]),
      "a.eml": mail({ Subject: "Fence", Date: "Wed, 1 Jan 2020 04:00:00 +0000" }, garden),
      "b.eml": mail({ Subject: "Fence", Date: "Wed, 1 Jan 2020 00:00:00" }, garden),
      "c.eml": mail({ Subject: "Fence", Date: "05.01.2019" }, garden),
    });
    for (const path of [join(folder, "dates.jsonl"), folder]) {
      const { stdout } = await runSteward(["dedup", "--json", "--quiet", path], {
        env: { TZ: "America/Los_Angeles" },
      });
      const [group] = JSON.parse(stdout).groups;
      expect(group.members).toHaveLength(3);
      expect(group.members.find((member: any) => member.primary).id).toMatch(/^b$|b\.eml$/);
      expect(group.reasons.at(-1)).toContain("oldest, created 2020-01-01T00:00:00");
    }
  });

  it("reads standard input", async () => {
    const result = await runSteward(["dedup", "--json", "--quiet", "-"], {
      input: lines(records.slice(0, 2)),
    });
    expect(JSON.parse(result.stdout).groups[0].members).toHaveLength(2);
  });

  it("finds nothing in nothing", async () => {
    const result = await runSteward(["dedup", "--json", "--quiet", "-"]);
    expect([result.code, JSON.parse(result.stdout).summary.documents]).toEqual([0, 0]);
  });
});

describe("steward dedup, misused", () => {
  it.each([
    [["dedup"], /PATH/],
    [["dedup", "--threshold", "2", "."], /--threshold/],
    [["dedup", "--threshold", "x", "."], /--threshold/],
    [["dedup", "--min-words", "0", "."], /--min-words/],
    [["dedup", "--workers", "0", "."], /--workers/],
    [["dedup", "--jsn", "."], /--jsn[\s\S]*--json/],
  ])("%j ends 2 and says what is wrong", async (args, message) => {
    const result = await runSteward(args);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
    expect(result.stderr.trim().split("\n").length).toBeLessThanOrEqual(3);
  });

  it("ends 130 on Ctrl-C", async () => {
    const child = spawn(LAUNCHER, ["dedup", "-"], { env: cleanEnvironment });
    child.stdin.on("error", () => {});
    child.stdin.write(`${JSON.stringify({ id: "a", content: garden })}\n`);
    const ended = new Promise<number | null>((resolve) =>
      child.on("close", (code) => resolve(code)),
    );
    await new Promise((resolve) => child.stderr.once("data", resolve));
    child.kill("SIGINT");
    expect(await ended).toBe(130);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends 130 on %s while nobody writes to the pipe that it reads",
    async (signal) => {
      const pipe = join(temporaryFolder(), "pipe");
      execFileSync("mkfifo", [pipe]);
      const child = spawn(LAUNCHER, ["dedup", pipe], { env: cleanEnvironment });
      const ended = new Promise<number | null>((resolve) =>
        child.on("close", (code) => resolve(code)),
      );
      const isReading = (): boolean =>
        readdirSync(`/proc/${child.pid}/fd`).some(
          (fd) => readlinkSync(`/proc/${child.pid}/fd/${fd}`) === pipe,
        );
      await vi.waitFor(() => expect(isReading()).toBe(true), { timeout: 60_000 });
      child.kill(signal);
      const impatient = setTimeout(() => child.kill("SIGKILL"), 60_000);
      expect(await ended).toBe(130);
      clearTimeout(impatient);
    },
  );
});
