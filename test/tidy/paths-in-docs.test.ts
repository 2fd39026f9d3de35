/** Pages name files of the repository as proof; a name that leads nowhere proves nothing. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
/** Decisions are left out: they tell what was so on their day. */
const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/decisions/README.md",
  ...globSync("docs/{.,architecture,recipes,runbooks,tutorials}/*.md", { cwd: root }),
];

/** Paths of the API description, with their methods in lower case. */
const operations = Object.entries(
  (
    JSON.parse(readFileSync(join(root, "docs/api/openapi.json"), "utf8")) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    }
  ).paths,
).map(([template, methods]) => ({
  pattern: new RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  methods: Object.keys(methods),
}));

/** Requests of the document and monitor API in backticks, e.g. `DELETE /api/v1/jobs/ID`. */
function requestsIn(text: string): { readonly method: string; readonly path: string }[] {
  return [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/api\/[^`?[ ]+)/g)].map(
    ([, method = "", path = ""]) => ({ method: method.toLowerCase(), path }),
  );
}

/** Paths in backticks, without a line or an option behind them; not those that a recipe adds. */
function namedIn(text: string): string[] {
  return [
    ...text.matchAll(
      /`((?:src|test|docs|bench|workers|gateway|tools|proto|deploy)\/[\w@./*-]+)`(?! \(new\))/g,
    ),
  ].map((match) => match[1] ?? "");
}

/** Files imported by the first code block after each file that a recipe adds. */
function importedIn(text: string): string[] {
  return [...text.matchAll(/`([\w/.-]+\.ts)` \(new\)[^]*?```ts\n([^]*?)```/g)].flatMap(
    ([, added = "", code = ""]) =>
      [...code.matchAll(/from "(\.[^"]+)"/g)].map((match) => join(dirname(added), match[1] ?? "")),
  );
}

/** Targets of links to files, without the place in the page. */
function linkedIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map((match) => match[1] ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));
}

it("the index of the documentation leads to every page", () => {
  const index = readFileSync(join(root, "docs/README.md"), "utf8");
  const linked = new Set(linkedIn(index));
  const unlisted = globSync("*.md", { cwd: join(root, "docs") }).filter(
    (page) => page !== "README.md" && !linked.has(page),
  );
  expect(unlisted).toEqual([]);
});

/** Backticks hold messages in the first column: a lower-case sentence with a space. */
it("every message of docs/troubleshooting.md is one that Steward writes", () => {
  const page = readFileSync(join(root, "docs/troubleshooting.md"), "utf8");
  const messages = page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .flatMap((line) => [...(line.split(" | ")[0] ?? "").matchAll(/`([^`]* [^`]*)`/g)])
    .map(([, text = ""]) => text);
  expect(messages.length).toBeGreaterThan(12);
  const sources = globSync(["src/**/*.ts", "gateway/**/*.ts"], { cwd: root })
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  const unknown = messages.filter((message) =>
    message
      .split("…")
      .map((part) => part.trim())
      .some((part) => part.length > 3 && !sources.includes(part)),
  );
  expect(unknown).toEqual([]);
});

describe.each(pages)("%s", (page) => {
  const text = readFileSync(join(root, page), "utf8");

  it("names no file that is not there", () => {
    expect(namedIn(text).filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
  });

  it("names no request that the API does not have", () => {
    const unknown = requestsIn(text).filter(
      ({ method, path }) =>
        !operations.some(({ pattern, methods }) => pattern.test(path) && methods.includes(method)),
    );
    expect(unknown).toEqual([]);
  });

  it("imports no file that is not there", () => {
    expect(importedIn(text).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("links to no file that is not there", () => {
    expect(
      linkedIn(text).filter((target) => !existsSync(join(root, dirname(page), target))),
    ).toEqual([]);
  });
});
