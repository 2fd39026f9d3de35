import { globSync } from "node:fs";
import { expect, it } from "vitest";
import { importsOf, textOf } from "./sources.ts";

const { scripts } = JSON.parse(textOf("package.json")) as { scripts: Record<string, string> };
const [, paths = ""] = / run (.+)$/.exec(scripts["test:long"] ?? "") ?? [];
const files = globSync("test/**/*.ts", { cwd: new URL("../..", import.meta.url) });

it("every file with full counts of its own is run by npm run test:long", () => {
  const users = files.filter((file) => importsOf(file).includes("test/support/long-run.ts"));
  expect(users.length).toBeGreaterThan(30);
  const run = paths.split(" ");
  expect(
    users.filter((file) => !run.some((path) => file === path || file.startsWith(`${path}/`))),
  ).toEqual([]);
});

it("what is the long run is decided in one file", () => {
  const variable = /env\W+STEWARD_TEST_LONG/;
  expect(files.filter((file) => variable.test(textOf(file)))).toEqual(["test/support/long-run.ts"]);
});
