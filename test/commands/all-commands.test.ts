import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { allCommands } from "../../src/commands/all-commands.ts";

const folder = join(import.meta.dirname, "../../src/commands");

describe("the table of commands", () => {
  it("names each command once, with a summary that fits its line of the general help", () => {
    const names = allCommands.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, usage, summary } of allCommands) {
      expect(usage.split(" ")[0]).toBe(name);
      expect(`steward ${usage}`.length).toBeLessThan(30);
      expect(summary.length).toBeLessThanOrEqual(48);
    }
  });

  it("declares commands without loading their code, which a start would pay for", () => {
    const declarations = globSync("*-command.ts", { cwd: folder });
    expect(declarations.length).toBe(allCommands.length + 1);
    const light = [
      "./command.ts",
      "./options.ts",
      "./cycle/arguments.ts",
      "./dedup/modes.ts",
      "./dedup/options.ts",
      "./dedup/parameter-options.ts",
      "./remote/options.ts",
    ];
    const loaded = declarations.flatMap((file) =>
      [
        ...readFileSync(join(folder, file), "utf8").matchAll(
          /^import (?!type )[^;]*? from "(?<path>[^"]+)";/gm,
        ),
      ]
        .map(({ groups }) => groups?.["path"] ?? "")
        .filter((path) => !light.includes(path))
        .map((path) => `${basename(file)} imports ${path}`),
    );
    expect(loaded).toEqual([]);
  });
});
