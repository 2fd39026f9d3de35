import { expect, it } from "vitest";
import { authored, codeOf } from "./sources.ts";

/**
 * What no module imports and why it is there all the same. A helper that only its test calls proves
 * nothing about the daemon.
 */
const known: Readonly<Record<string, string>> = {
  "src/kernel/wire/read.ts readMessage": "reads a whole message for tests of the mapping",
};

it("every exported function, constant and class is used by a module that is no test, or its reason is written down", () => {
  const uses = new Map<string, number>();
  const exported: { readonly file: string; readonly name: string }[] = [];
  for (const file of authored) {
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
