/** What `steward dedup` writes and prints: CSV, unique documents, lists, explanations. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { LAUNCHER } from "../support/launcher.ts";
import { mail } from "../support/documents.ts";
import { smallArchive, writeFiles } from "./corpus.ts";
import { cleanEnvironment, removeTemporaryFolders, runSteward, temporaryFolder } from "./daemon.ts";
import { spawn } from "../support/spawn.ts";

afterAll(removeTemporaryFolders);

const garden = smallArchive["minutes/fence.txt"] ?? "";
const white = garden.replace("green", "white");
const lone =
  "A text that is like no other one in this pile and has words enough to be analysed on its own, as twenty are needed for that.";

function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryFolder();
  writeFiles(folder, files);
  // One age for all, so that only names decide what stays.
  for (const name of Object.keys(files))
    utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000);
  return folder;
}

function pile(): string {
  return folderOf({ "a.txt": garden, "b.txt": garden, "c white.txt": white, "lone.txt": lone });
}

function dedup(...args: readonly string[]): ReturnType<typeof runSteward> {
  return runSteward(["dedup", "--quiet", ...args]);
}

function jsonl(rows: readonly unknown[]): string {
  return rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join("");
}

describe("steward dedup --csv", () => {
  it("writes one row a document with a byte order mark, CRLF and quotes", async () => {
    const folder = pile();
    const { code, stdout, stderr } = await dedup("--csv", "-", folder);
    const id = /^[^,]+/m.exec(stdout.split("\r\n")[1] ?? "")?.[0] ?? "";
    const scores = `${(1 + 2 * 0.8525714285714285) / 3},${(1 + 0.8 + 0.8) / 3},${(1 + 2 * 0.9314285714285714) / 3},1,pending`;
    expect([code, stderr]).toEqual([0, ""]);
    expect(id).toMatch(/^[\w-]{21}$/);
    expect(stdout.split("\r\n")).toEqual([
      "\uFEFFgroup_id,confidence_score,jaccard_similarity,fuzzy_text_ratio,discriminative_score,group_status,is_primary,id,title,correspondent,document_type,tags,created_date,word_count,truncated,hard_link_of",
      `${id},${scores},true,${folder}/a.txt,a,,,,,29,false,`,
      `${id},${scores},false,${folder}/b.txt,b,,,,,29,false,`,
      `${id},${scores},false,${folder}/c white.txt,c white,,,,,29,false,`,
      "",
    ]);
  });

  it("guards texts that a spreadsheet would run, and keeps metadata", async () => {
    const rows = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", 'say "a, b"', "two\nlines", "1"].map(
      (id) => ({
        id,
        content: garden,
        tags: ["=a", "b"],
        correspondent: "@me",
        created: "2024-01-02",
      }),
    );
    const input = folderOf({ "in.jsonl": jsonl(rows) });
    const { stdout } = await dedup("--csv", "-", join(input, "in.jsonl"));
    for (const cell of [
      "'=1+1",
      "'+1",
      "'-1",
      "'@x",
      "'\tx",
      `"'\rx"`,
      '"say ""a, b"""',
      '"two\nlines"',
      "1",
    ])
      expect(stdout).toContain(`,${cell},${cell},'@me,,'=a|b,2024-01-02,29,`);
  });

  it("prints only the summary beside a file, and says what was written", async () => {
    const folder = pile();
    const file = join(temporaryFolder(), "groups.csv");
    const { code, stdout } = await dedup("--csv", file, folder);
    expect(code).toBe(0);
    expect(stdout).not.toContain("Group 1");
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      "4 documents, none skipped",
      "3 pairs in 1 group",
    ]);
    expect(stdout).toContain(`wrote ${file}: 1 group of 3 documents\n`);
    expect(readFileSync(file, "utf8").split("\r\n")).toHaveLength(5);
  });
});

describe("steward dedup --unique", () => {
  const rows = [
    { id: 7, text: garden, more: [1, 2] },
    `{"text": "short",   "id":"s"}\r`,
    "{broken",
    { id: "w", text: white },
    { id: "l", text: lone },
    { id: "g", text: garden.toUpperCase() },
  ];
  const kept = jsonl([rows[0], rows[1], rows[4]]);

  it("gives back the lines that stay byte for byte, in their order", async () => {
    const folder = folderOf({ "in.jsonl": jsonl(rows) });
    const { code, stdout, stderr } = await dedup("--unique", "-", join(folder, "in.jsonl"));
    expect([code, stdout, stderr]).toEqual([0, kept, ""]);
  });

  it("does so for packed files, pipes and standard input", async () => {
    const folder = folderOf({ "in.gz": gzipSync(`\uFEFF${jsonl(rows)}`) });
    expect((await dedup("--unique", "-", join(folder, "in.gz"))).stdout).toBe(kept);
    const out = join(folder, "out.jsonl");
    const piped = await runSteward(["dedup", "--quiet", "--unique", out, "-"], {
      input: jsonl(rows),
    });
    expect([piped.code, readFileSync(out, "utf8")]).toEqual([0, kept]);
    expect(piped.stdout).toContain(`wrote ${out}: 3 of 5 documents, 2 redundant left out\n`);
    expect(readdirSync(folder).sort()).toEqual(["in.gz", "out.jsonl"]);
  });

  it("keeps the last line without an end, and documents of several files in their order", async () => {
    const first = JSON.stringify({ text: lone });
    const second = JSON.stringify({ text: garden });
    const folder = folderOf({ "a.jsonl": first, "b.jsonl": `${second}\n${first}` });
    const paths = ["b.jsonl", "a.jsonl"].map((name) => join(folder, name));
    expect((await dedup("--unique", "-", ...paths)).stdout).toBe(`${second}\n${first}\n`);
  });

  it("writes documents of folders with their path and text", async () => {
    const folder = pile();
    const { stdout } = await dedup("--unique", "-", folder);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { id: join(folder, "a.txt"), title: "a", content: garden },
      { id: join(folder, "lone.txt"), title: "lone", content: lone },
    ]);
  });

  it("leaves nothing that its own result has twice", async () => {
    const words = Array.from({ length: 40 }, (_, at) => `w${at}`);
    // A chain that drifts: each text is like its neighbours only.
    const chain = Array.from({ length: 60 }, (_, at) => ({
      id: `c${at}`,
      text: [...words.slice(at % 40), ...words.slice(0, at % 40)]
        .map((word, place) => (place < at ? `${word}x` : word))
        .join(" "),
    }));
    const folder = folderOf({ "in.jsonl": jsonl(chain) });
    const once = await dedup("--unique", join(folder, "once.jsonl"), join(folder, "in.jsonl"));
    expect(once.code).toBe(0);
    const ids = readFileSync(join(folder, "once.jsonl"), "utf8").trimEnd().split("\n");
    expect(ids.length).toBeGreaterThan(1);
    expect(ids.length).toBeLessThan(60);
  });
});

describe("steward dedup --list", () => {
  it("names what is redundant, one a line or ended by NUL", async () => {
    const folder = pile();
    const names = ["b.txt", "c white.txt"].map((name) => join(folder, name));
    expect((await dedup("--list", folder)).stdout).toBe(`${names.join("\n")}\n`);
    for (const nul of ["-0", "--null"])
      expect((await dedup("--list", nul, folder)).stdout).toBe(`${names.join("\0")}\0`);
  });

  it("has its summary on standard error, and agrees with --unique", async () => {
    const folder = pile();
    const { stdout, stderr } = await runSteward(["dedup", "--list", folder]);
    expect(stderr).toContain("3 pairs in 1 group\n");
    const unique = await dedup("--unique", "-", folder);
    const staying = unique.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id as string);
    expect([...stdout.trimEnd().split("\n"), ...staying].sort()).toEqual(
      readdirSync(folder)
        .map((name) => join(folder, name))
        .sort(),
    );
  });

  it("names no mail with attachments and none of them, which are not files that can go by themselves", async () => {
    const ready = (attached: string): Uint8Array =>
      mail({ Subject: "Your invoice is ready" }, lone, [["invoice.txt", Buffer.from(attached)]]);
    const folder = folderOf({
      "a.eml": ready(garden),
      "b.eml": ready(white.toUpperCase()),
      "c.eml": mail({ Subject: "Your invoice is ready" }, lone),
      "0.txt": garden,
    });
    expect((await dedup("--list", folder)).stdout).toBe(`${join(folder, "c.eml")}\n`);
    const { stdout } = await dedup("--unique", "-", folder);
    const ids = stdout.match(/(?<=^\{"id":")[^"]+/gm);
    expect(ids).toEqual(["0.txt", "a.eml"].map((name) => join(folder, name)));
  });

  it.skipIf(spawnSync("unshare", ["-rm", "true"]).status !== 0)(
    "names no file that is the only one, though a mount shows it twice",
    async () => {
      const folder = folderOf({ "a/one.txt": garden, "b/there.txt": lone, "c.txt": white });
      const run = `mount --bind "$1/a" "$1/b" && shift && exec "$@"`;
      const list = async (...paths: readonly string[]): Promise<string> => {
        const command = [LAUNCHER, "dedup", "--quiet", "--list", ...paths];
        const child = spawn("unshare", ["-rm", "sh", "-c", run, "sh", folder, ...command], {
          env: cleanEnvironment,
        });
        const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
        expect(stderr).toBe("");
        return stdout;
      };
      expect(await list(folder)).toBe(`${join(folder, "c.txt")}\n`);
      expect(await list(join(folder, "a"), join(folder, "b"))).toBe("");
      expect(await list(join(folder, "a/one.txt"), join(folder, "b/one.txt"))).toBe("");
    },
  );

  it("prints nothing for a pile without duplicates", async () => {
    expect(await dedup("--list", folderOf({ "a.txt": lone }))).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });
});

describe("steward dedup --explain", () => {
  it("shows what the confidence of two files is made of", async () => {
    const folder = folderOf({
      "march.txt": smallArchive["bills/water-march.txt"] ?? "",
      "june.txt": smallArchive["bills/water-june.txt"] ?? "",
    });
    const [march, june] = ["march.txt", "june.txt"].map((name) => join(folder, name));
    const { code, stdout, stderr } = await dedup("--explain", march ?? "", june ?? "");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual([
      `first:  ${march} (38 words)`,
      `second: ${june} (38 words)`,
      "",
      "Not duplicates: the confidence 0.3425 is below the threshold 0.75.",
      "",
      "  0.6363  Jaccard similarity: share of phrases of 3 words that are in both texts",
      "  0.9665  fuzzy ratio: letters alike once the words are sorted",
      "  0.7684  base: 60 % Jaccard similarity, 40 % fuzzy ratio",
      "  0.2083  discriminative score: agreement of dates, amounts and numbers",
      "  0.3425  confidence: base × (1 − 0.7 × (1 − 0.2083))",
      "",
      "Dates, amounts and numbers:",
      "  dates (weight 3)",
      "    only the first:  2024-03-14",
      "    only the second: 2024-06-14",
      "  amounts (weight 2)",
      "    only the first:  148.20",
      "    only the second: 151.75",
      "  identifiers (weight 2)",
      "    in both:         55810234",
      "    only the first:  nw20417",
      "    only the second: nw20988",
      "  references (weight 1)",
      "    in both:         55810234",
      "",
      "Words that differ, in 3 places:",
      "  - NW-20417",
      "  + NW-20988",
      "  - 14/03/2024",
      "  + 14/06/2024",
      "  - $148.20",
      "  + $151.75",
      "",
    ]);
  });

  it("gives the scores of the groups for lines by their ids, as JSON too", async () => {
    const folder = folderOf({
      "in.jsonl": jsonl([{ text: garden }, { text: white }, { text: "short" }, { text: garden }]),
    });
    const file = join(folder, "in.jsonl");
    const found = JSON.parse((await dedup("--explain", "1", "2", "--json", file)).stdout);
    expect(found).toMatchObject({
      duplicates: true,
      sameText: false,
      jaccard: 0.8,
      confidence: 0.8525714285714285,
    });
    const groups = JSON.parse((await dedup("--json", file)).stdout).groups;
    expect(groups[0].confidence).toBeCloseTo((1 + 2 * found.confidence) / 3, 12);
    expect((await dedup("--explain", "1", "4", file)).stdout).toContain(
      "Duplicates: the texts are the same, word for word.",
    );
    expect((await dedup("--explain", "1", "3", file)).stdout).toContain(
      "Not compared: the second has 1 word, and texts of fewer than 20 are not analysed.",
    );
    expect((await dedup("--explain", "1", "2", "--fail-on-duplicates", file)).code).toBe(3);
    const other = join(folder, "other.jsonl");
    copyFileSync(file, other);
    expect((await dedup("--explain", "1", `${other}:1`, file, other)).stderr).toContain(
      "2 documents are named 1; name the one that is meant as the report does, FILE:ID",
    );
    expect((await dedup("--explain", `${file}:1`, `${other}:1`, file, other)).stdout).toContain(
      "Duplicates: the texts are the same",
    );
  });

  it("reads an attachment of a mail by its name", async () => {
    const folder = folderOf({
      "m.eml": mail({ From: "a@example.com", Subject: "Hello" }, lone, [
        ["a.txt", Buffer.from(garden)],
      ]),
      "b.txt": garden,
    });
    const { stdout } = await dedup("--explain", join(folder, "m.eml/a.txt"), join(folder, "b.txt"));
    expect(stdout).toContain("Duplicates: the texts are the same");
  });

  it.each([
    [["a.txt", "gone.txt"], /gone\.txt cannot be read: ENOENT/],
    [["a.txt", "./a.txt"], /are one document; name two documents/],
    [
      ["a.txt", "gone.txt", "."],
      /there is no document gone\.txt in \.; name both as the report does/,
    ],
    [["a.txt", "photo.png", "."], /photo\.png was skipped: \.png/],
  ])("of %j says what is wrong", async (args, message) => {
    const folder = folderOf({ "a.txt": garden, "photo.png": "x" });
    const result = await runSteward(["dedup", "--quiet", "--explain", ...args], { cwd: folder });
    expect([result.code, result.stdout]).toEqual([1, ""]);
    expect(result.stderr).toMatch(message);
  });
});

describe("exit codes and parameters", () => {
  it("are 3 with --fail-on-duplicates where there are any, else 0", async () => {
    expect((await dedup("--fail-on-duplicates", pile())).code).toBe(3);
    expect(
      (
        await dedup(
          "--fail-on-duplicates",
          "--threshold",
          "1",
          folderOf({ "a.txt": garden, "b.txt": white }),
        )
      ).code,
    ).toBe(0);
    expect((await dedup("--fail-on-duplicates", folderOf({ "a.png": "x" }))).code).toBe(1);
  });

  it("are those of the contract: one weight sets the other, bands follow permutations", async () => {
    const run = async (...args: readonly string[]): Promise<any> =>
      JSON.parse((await dedup("--json", ...args, pile())).stdout).parameters;
    expect(
      await run("--fuzzy-weight", "0", "--ngram", "2", "--penalty", "0", "--fuzzy-sample", "500"),
    ).toMatchObject({
      confidenceWeightJaccard: 100,
      confidenceWeightFuzzy: 0,
      ngramSize: 2,
      discriminativePenaltyStrength: 0,
      fuzzySampleSize: 500,
    });
    expect(await run("--permutations", "32")).toMatchObject({ numPermutations: 32, numBands: 32 });
    expect(await run("--permutations", "512", "--bands", "100")).toMatchObject({
      numPermutations: 512,
      numBands: 100,
    });
  });

  it.each([
    [
      ["--jaccard-weight", "50", "--fuzzy-weight", "40", "."],
      "--jaccard-weight and --fuzzy-weight must add up to 100, and add up to 90;",
    ],
    [
      ["--bands", "64", "--permutations", "32", "."],
      "--bands must not exceed --permutations, 32, and is 64;",
    ],
    [["-0", "."], "-0 goes with --list;"],
    [["--explain", "a"], "--explain needs two values: --explain A B;"],
    [["--explain", "a", "b", "--list", "."], "--explain and --list exclude each other;"],
    [["--list", "--json", "."], "--json and --list would both write to standard output;"],
    [
      ["--csv", "-", "--unique", "-", "."],
      "--csv - and --unique - would both write to standard output;",
    ],
    [["--csv", "x", "--html", "x", "."], "--csv and --html name the same file;"],
    [["--color", "blue", "."], '--color must be auto or always or never, got "blue";'],
  ])("%j ends 2", async (args, message) => {
    const result = await runSteward(["dedup", ...args]);
    expect([result.code, result.stderr, result.stdout]).toEqual([
      2,
      `steward dedup: ${message} see steward dedup --help\n`,
      "",
    ]);
  });

  it("colour what goes to people only when that is wanted", async () => {
    const folder = pile();
    expect((await dedup(folder)).stdout).not.toContain("\u001b");
    expect((await dedup("--color", "always", folder)).stdout).toContain(
      `\u001b[32m${folder}/a.txt\u001b[39m`,
    );
    for (const args of [["--json"], ["--list"], ["--csv", "-"], ["--unique", "-"]])
      expect((await dedup("--color", "always", ...args, folder)).stdout).not.toContain("\u001b");
  });
});

/** Prints on a pseudo-terminal of Python's, which is as narrow as a terminal can be. */
function onTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(
    "python3",
    ["-c", "import pty, sys; pty.spawn(sys.argv[1:])", LAUNCHER, "dedup", "--quiet", ...args],
    {
      // Python may need more of the environment than Steward does.
      env: { ...process.env, NO_COLOR: "", TERM: "xterm", ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let told = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (told += text));
  return new Promise((resolve) => child.on("close", () => resolve(told)));
}

describe.skipIf(spawnSync("python3", ["-c", "import pty"]).status !== 0)("a terminal", () => {
  it("shows colours and whole names however narrow it is", async () => {
    const folder = pile();
    const told = await onTerminal([folder], {});
    expect(told).toContain(`\u001b[32m${folder}/a.txt\u001b[39m`);
    expect(told).toContain(`${folder}/c white.txt\r\n`);
  });

  it.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("shows none with %j", async (environment) => {
    const told = await onTerminal([pile()], environment);
    expect(told).toContain("Group 1: ");
    expect(told).not.toContain("\u001b");
  });

  it("is not sent control characters of a name in a list, which a pipe gets as they are", async () => {
    const folder = folderOf({ "a.txt": garden, "b\u001b[31m.txt": garden });
    expect(await onTerminal(["--list", folder], {})).toBe(`${folder}/b\\u001b[31m.txt\r\n`);
    expect((await dedup("--list", folder)).stdout).toBe(`${folder}/b\u001b[31m.txt\n`);
  });
});

describe("files that are written", () => {
  it.each(["--csv", "--html", "--unique"])("never replace what is read: %s", async (option) => {
    const folder = pile();
    const file = join(folder, "a.txt");
    const link = join(temporaryFolder(), "link");
    symlinkSync(file, link);
    for (const [output, ...inputs] of [
      [file, folder],
      [file, file],
      [link, folder],
      [file, link],
    ] as const) {
      const result = await dedup(option, output, ...inputs);
      expect([result.code, result.stdout]).toEqual([1, ""]);
      expect(result.stderr).toMatch(/would replace a file that is read .*; give /);
    }
    expect(readFileSync(file, "utf8")).toBe(garden);
    expect((await dedup(option, file, "--exclude", "a.txt", folder)).code).toBe(0);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  it.each([
    [
      "--csv",
      "nowhere/x.csv",
      /--csv \S+nowhere\/x\.csv: there is no folder \S+nowhere \(ENOENT\); give /,
    ],
    ["--html", "folder", /--html \S+folder: is a folder; give the name of a file/],
    ["--unique", "file/x", /--unique \S+file\/x: .*ENOTDIR/],
  ])("%s %s fails before anything is read", async (option, name, message) => {
    const out = folderOf({ file: "" });
    mkdirSync(join(out, "folder"));
    // Standard input stays open: reading it would never end.
    const child = spawn(LAUNCHER, ["dedup", option, join(out, name), "-"], {
      env: cleanEnvironment,
    });
    const impatient = setTimeout(() => child.kill("SIGKILL"), 60_000);
    let told = "";
    child.stderr.on("data", (bytes: Buffer) => (told += bytes.toString()));
    const code = await new Promise((resolve) => child.on("close", resolve));
    clearTimeout(impatient);
    expect([code, told]).toEqual([1, expect.stringMatching(message)]);
    expect(readdirSync(out).sort()).toEqual(["file", "folder"]);
  });

  it("are replaced whole, keep their permissions, and follow a link", async () => {
    const folder = pile();
    const out = temporaryFolder();
    const real = join(out, "real.csv");
    writeFileSync(real, "old");
    chmodSync(real, 0o600);
    linkSync(real, join(out, "second-name.csv"));
    symlinkSync(real, join(out, "link.csv"));
    expect((await dedup("--csv", join(out, "link.csv"), folder)).code).toBe(0);
    expect(readFileSync(real, "utf8")).toContain("group_id");
    expect(statSync(real).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(out, "second-name.csv"), "utf8")).toBe("old");
    expect(readdirSync(out).sort()).toEqual(["link.csv", "real.csv", "second-name.csv"]);
  });

  it("leave the former one as it was where the disk is full", async () => {
    const folder = pile();
    const out = temporaryFolder();
    const file = join(out, "r.csv");
    writeFileSync(file, "former");
    // Of so few blocks, a file is larger after the first.
    const full = `trap '' XFSZ; ulimit -f 0; exec "$0" dedup --quiet --workers 1 "$@"`;
    for (const option of ["--csv", "--html", "--unique"]) {
      const { status, stderr } = spawnSync("sh", ["-c", full, LAUNCHER, option, file, folder], {
        env: cleanEnvironment,
        encoding: "utf8",
      });
      expect([option, status, stderr]).toEqual([option, 1, expect.stringContaining(file)]);
      expect(readFileSync(file, "utf8")).toBe("former");
    }
    expect(readdirSync(out)).toEqual(["r.csv"]);
  });

  it.runIf(existsSync("/dev/full"))("say when a device is full", async () => {
    const { code, stderr } = await dedup("--csv", "/dev/full", pile());
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("--csv /dev/full: the disk is full; free space"),
    ]);
  });

  it("are not there after Ctrl-C", async () => {
    const out = temporaryFolder();
    const child = spawn(LAUNCHER, ["dedup", "--unique", join(out, "u.jsonl"), "-"], {
      env: cleanEnvironment,
    });
    child.stdin.on("error", () => {});
    child.stdin.write(jsonl([{ text: garden }]));
    const ended = new Promise((resolve) => child.on("close", resolve));
    await new Promise((resolve) => child.stderr.once("data", resolve));
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect([existsSync(join(out, "u.jsonl")), readdirSync(out)]).toEqual([false, []]);
  });
});
