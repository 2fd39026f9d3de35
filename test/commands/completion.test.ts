/** The completion scripts, tried in the shells that are here. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { allCommands } from "../../src/commands/all-commands.ts";
import { completionScript } from "../../src/commands/completion.ts";

const folder = mkdtempSync(join(tmpdir(), "steward-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(shell: "bash" | "zsh" | "fish"): string {
  const file = join(folder, shell);
  writeFileSync(file, completionScript(shell, allCommands));
  return file;
}

/** What bash offers for the last of these words. */
function offered(...words: readonly string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(" ");
  const text = execFileSync(
    "bash",
    [
      "-c",
      `source "$1"; COMP_WORDS=(steward ${line}); COMP_CWORD=${words.length}; _steward; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      fileOf("bash"),
    ],
    { encoding: "utf8", cwd: folder },
  );
  return text.split("\n").filter((word) => word !== "");
}

function has(shell: string): boolean {
  return spawnSync(shell, ["-c", "true"]).status === 0;
}

describe("completion in bash", () => {
  it("offers every command", () => {
    expect(offered("")).toEqual(
      expect.arrayContaining([...allCommands.map(({ name }) => name), "help", "-config"]),
    );
    expect(offered("dup")).toEqual(["duplicates"]);
  });

  it("offers the options and the words of a command", () => {
    expect(offered("jobs", "--fo")).toEqual(["--follow"]);
    expect(offered("duplicates", "s")).toEqual(["show", "status"]);
    expect(offered("help", "leas")).toEqual(["leases"]);
    expect(offered("completion", "")).toEqual(expect.arrayContaining(["bash", "zsh", "fish"]));
  });

  it("offers the values of an option that admits certain ones, and files where it takes any", () => {
    expect(offered("duplicates", "--status", "f")).toEqual(["false_positive"]);
    expect(offered("backup", "--config", "b")).toEqual(["bash"]);
  });
});

describe("the other shells", () => {
  it.runIf(has("zsh"))("zsh reads its script (skipped without zsh)", () => {
    expect(spawnSync("zsh", ["-n", fileOf("zsh")], { encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  it.runIf(has("fish"))("fish offers what bash does (skipped without fish)", () => {
    const text = execFileSync(
      "fish",
      ["-c", `source ${fileOf("fish")}; complete --do-complete "steward duplicates --status f"`],
      { encoding: "utf8" },
    );
    expect(text.trim()).toBe("false_positive");
  });

  it("name every command and option", () => {
    for (const shell of ["zsh", "fish"] as const) {
      const script = completionScript(shell, allCommands);
      for (const { name, options } of allCommands) {
        expect(script).toContain(name);
        for (const option of Object.keys(options)) expect(script).toContain(option);
      }
    }
  });
});
