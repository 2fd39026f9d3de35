import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allCommands } from "../../src/commands/all-commands.ts";
import { MAN_PAGE, manPage } from "../../tools/man-page.ts";

const hasGroff = spawnSync("groff", ["--version"]).status === 0;

describe("the manual page", () => {
  it("is the committed one; `npm run generate` writes it anew", () => {
    expect(readFileSync(MAN_PAGE, "utf8")).toBe(manPage());
  });

  it.runIf(hasGroff)(
    "is read without a warning and shows every command (skipped without groff)",
    () => {
      const { stdout, stderr } = spawnSync(
        "groff",
        ["-man", "-Tascii", "-ww", "-P-cbou", MAN_PAGE],
        {
          encoding: "utf8",
        },
      );
      expect(stderr).toBe("");
      for (const { name } of allCommands) expect(stdout).toContain(`   steward ${name}\n`);
      expect(stdout).toContain("--token-file FILE");
    },
  );
});
