import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

/**
 * What no module imports and why it is there all the same. A helper that only its test calls proves
 * nothing about the daemon.
 */
const known: Readonly<Record<string, string>> = {
  "src/kernel/wire/read.ts readMessage": "reads a whole message for tests of the mapping",
};

/** The text without comments, which name things that they do not use. */
function codeOf(file: string): string {
  return readFileSync(join(root, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

it("every exported function, constant and class is used by a module that is no test, or its reason is written down", () => {
  const files = ["src", "workers", "gateway"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => `${folder}/${file}`),
    )
    .filter((file) => !file.startsWith("src/gen/"));
  const uses = new Map<string, number>();
  const exported: { readonly file: string; readonly name: string }[] = [];
  for (const file of files) {
    const code = codeOf(file);
    for (const [word] of code.matchAll(/[A-Za-z_$][\w$]*/g))
      uses.set(word, (uses.get(word) ?? 0) + 1);
    for (const [, name = ""] of code.matchAll(
      /^export (?:async )?(?:function\*?|const|class|let) (\w+)/gm,
    ))
      exported.push({ file, name });
  }
  const unused = exported
    .filter(({ name }) => uses.get(name) === 1)
    .map(({ file, name }) => `${file} ${name}`);
  expect(unused.filter((each) => known[each] === undefined)).toEqual([]);
});
