import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { helpText } from "../../src/commands/help.ts";
import {
  daemonOptions,
  dedupOptions,
  folderOptions,
  rotateKeyOptions,
} from "../../src/commands/options.ts";
import { commitOf, stewardVersion, versionReport } from "../../src/daemon/version.ts";

describe("the help", () => {
  it.each(["steward", "dedup", "backup", "check", "root-token", "rotate-key"] as const)(
    "on %s fits 80 columns and shows examples",
    (topic) => {
      const lines = helpText(topic).split("\n");
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines).toContain("Examples:");
      expect(lines.at(-1)).toBe("");
    },
  );

  it("names every option there is", () => {
    for (const name of Object.keys(daemonOptions))
      expect(helpText("steward")).toMatch(new RegExp(`^ +-${name}( |$)`, "m"));
    for (const name of Object.keys(dedupOptions))
      expect(helpText("dedup")).toContain(`  --${name} `);
    for (const topic of ["backup", "check", "root-token"] as const)
      for (const name of Object.keys(folderOptions))
        expect(helpText(topic)).toContain(`  --${name} `);
    for (const name of Object.keys(rotateKeyOptions))
      expect(helpText("rotate-key")).toContain(`  --${name} `);
  });

  it.each(["steward", "dedup", "backup", "check", "root-token"] as const)(
    "on %s names the exit codes in the usual words",
    (topic) => {
      const text = helpText(topic).replaceAll(/\s+/g, " ");
      expect(text).toMatch(/[Ee]xits 0 .*2 on a usage error/);
      expect(text).not.toMatch(/wrong use|[Ee]nds? with \d/);
    },
  );

  it("states the ranges that are checked", () => {
    for (const { value } of Object.values(dedupOptions))
      if (typeof value === "object" && "from" in value)
        expect(helpText("dedup")).toContain(`from ${value.from} to ${value.to}`);
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
