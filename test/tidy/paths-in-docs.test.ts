/** Pages name files of the repository as proof; a name that leads nowhere proves nothing. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
/** Decisions are left out: they tell what was so on their day. */
const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/decisions/README.md",
  ...globSync(["docs/*.md", "docs/architecture/*.md"], { cwd: root }),
];

/** Paths in backticks, without a line or an option behind them. */
function namedIn(text: string): string[] {
  return [
    ...text.matchAll(/`((?:src|test|docs|bench|workers|gateway|tools|proto|deploy)\/[\w@./*-]+)`/g),
  ].map((match) => match[1] ?? "");
}

/** Targets of links to files, without the place in the page. */
function linkedIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map((match) => match[1] ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));
}

describe.each(pages)("%s", (page) => {
  const text = readFileSync(join(root, page), "utf8");

  it("names no file that is not there", () => {
    expect(namedIn(text).filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
  });

  it("links to no file that is not there", () => {
    expect(
      linkedIn(text).filter((target) => !existsSync(join(root, dirname(page), target))),
    ).toEqual([]);
  });
});
