import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allCommands } from "../../src/commands/all-commands.ts";
import { parseArguments } from "../../src/commands/arguments.ts";
import { daemonOptions } from "../../src/commands/daemon-command.ts";
import { dedupCommand } from "../../src/commands/dedup-command.ts";
import { parameterOptions } from "../../src/commands/dedup/parameter-options.ts";
import { parameterRanges } from "../../src/dedup/analysis/parameters.ts";
import { commitOf, stewardVersion, versionReport } from "../../src/daemon/version.ts";

/** What a command line prints on standard output. */
async function printed(...args: string[]): Promise<string> {
  let text = "";
  const output = { stdout: (more: string) => void (text += more), stderr: () => undefined };
  const serve = () => Promise.reject(new Error("no daemon is meant"));
  expect(await parseArguments(args).run({ environment: {}, output, serve })).toBe(0);
  return text;
}

const texts: readonly (readonly [line: string, args: readonly string[]])[] = [
  ["steward --help", ["--help"]],
  ...allCommands.map(({ name }) => [`steward ${name} --help`, [name, "--help"]] as const),
];

describe("the help", () => {
  it.each(texts)("of %s fits 80 columns", async (_, args) => {
    const lines = (await printed(...args)).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.at(-1)).toBe("");
  });

  it.each(texts.filter(([line]) => !line.includes("version")))(
    "of %s shows examples, and names the exit codes in the usual words",
    async (_, args) => {
      const text = await printed(...args);
      expect(text.split("\n")).toContain("Examples:");
      const line = text.replaceAll(/\s+/g, " ");
      expect(line).toMatch(/[Ee]xits 0 .*2 on a usage error/);
      expect(line).not.toMatch(/wrong use|[Ee]nds? with \d/);
    },
  );

  it("names every option there is", async () => {
    const general = await printed("help");
    for (const name of Object.keys(daemonOptions))
      expect(general).toMatch(new RegExp(`^ +-${name}( |$)`, "m"));
    for (const { name, options } of allCommands.filter((each) => each.name !== "version"))
      for (const option of Object.keys(options))
        expect(await printed("help", name)).toMatch(new RegExp(`^ +--${option}( |$)`, "m"));
  });

  it("lists every command with its summary, and where its own help is", async () => {
    const general = await printed("-help");
    for (const { name, usage, summary } of allCommands) {
      expect(general).toContain(`  steward ${usage}`);
      expect(general).toContain(`  ${summary}\n`);
      expect(general).toContain(`steward ${name} --help`);
    }
    expect(general).toMatch(/\nMore: steward dedup --help, .* --help\n$/s);
  });

  it("states the ranges that are checked, which are those of the API's settings", () => {
    for (const { name, from, to, whole } of Object.values(parameterOptions))
      expect({ least: from, most: to, whole }).toEqual(parameterRanges[name]);
    for (const { value } of Object.values(dedupCommand.options))
      if (typeof value === "object" && "from" in value)
        expect(dedupCommand.help).toContain(`from ${value.from} to ${value.to}`);
  });
});

describe("the version", () => {
  it("is three numbers", () => {
    expect(stewardVersion()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("comes with the commit, Node and the system", () => {
    expect(versionReport()).toMatch(
      /^steward \d\S+\ncommit {2}([0-9a-f]{40}|unknown \(not a clone\))\nnode {4}\d+\.\d+\.\d+\nsystem {2}Linux \S+ \S+\n$/,
    );
  });

  it.each([
    [
      "a branch of its own file",
      { ".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": `${"a".repeat(40)}\n` },
      "a".repeat(40),
    ],
    [
      "a packed branch",
      {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/packed-refs": `# pack-refs\n${"c".repeat(40)} refs/heads/other/main\n${"b".repeat(40)} refs/heads/main\n`,
      },
      "b".repeat(40),
    ],
    ["no branch", { ".git/HEAD": `${"d".repeat(40)}\n` }, "d".repeat(40)],
    [
      "a linked worktree",
      {
        ".git": "gitdir: linked\n",
        "linked/HEAD": "ref: refs/heads/x\n",
        "linked/commondir": "../main\n",
        "main/refs/heads/x": `${"e".repeat(40)}\n`,
      },
      "e".repeat(40),
    ],
    ["a clone without a commit", { ".git/HEAD": "ref: refs/heads/main\n" }, undefined],
    ["no clone", {}, undefined],
  ])("knows the commit of %s", (_case, files, expected) => {
    const root = mkdtempSync(join(tmpdir(), "clone-"));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(root, name, ".."), { recursive: true });
      writeFileSync(join(root, name), text);
    }
    expect(commitOf(root)).toBe(expected);
    rmSync(root, { recursive: true });
  });
});
