import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

/** What no module imports and why it is there all the same. A helper that only its test calls proves nothing about the daemon. */
const known: Readonly<Record<string, string>> = {
  "src/demo/headscale/headscale.ts startHeadscale": "the simulated control plane of tests",
  "src/kernel/jobs/define-job.ts defineJob": "declares kinds of jobs; the daemon's own are literals",
  "src/kernel/wire/style.ts enumOf": "reads enums for tests of the mapping",
  "src/kernel/wire/read.ts readMessage": "reads a whole message for tests of the mapping",
  "src/kernel/state/projection.ts openProjection": "opens a list over a table; the daemon fills its lists itself",
  "src/kernel/state/migrate.ts rewriteRows": "for the first migration that rewrites rows",
  "src/kernel/client/paging.ts byPageNumber": "for upstreams that count pages",
  "src/dedup/meta.ts metaText": "reads what setMetaText stores",
  "src/dedup/groups/steps.ts runAtOnce": "runs a stepwise computation in one go, for tests",
  "gateway/web/render.ts renderHtml": "renders without streaming, for tests",
  "gateway/web/landing/read-status.ts readStatus": "the status document from its message, for tests",
  "gateway/describe/examples.ts examplesOf": "the examples of a document, run by tests",
};

/** The text without comments, which name things that they do not use. */
function codeOf(file: string): string {
  return readFileSync(join(root, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

it("every exported function, constant and class is used by a module that is no test, or its reason is written down", () => {
  const files = ["src", "workers", "gateway"].flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts")).map((file) => `${folder}/${file}`)).filter((file) => !file.startsWith("src/gen/"));
  const uses = new Map<string, number>();
  const exported: { readonly file: string; readonly name: string }[] = [];
  for (const file of files) {
    const code = codeOf(file);
    for (const [word] of code.matchAll(/[A-Za-z_$][\w$]*/g)) uses.set(word, (uses.get(word) ?? 0) + 1);
    for (const [, name = ""] of code.matchAll(/^export (?:async )?(?:function\*?|const|class|let) (\w+)/gm)) exported.push({ file, name });
  }
  const unused = exported.filter(({ name }) => uses.get(name) === 1).map(({ file, name }) => `${file} ${name}`);
  expect(unused.filter((each) => known[each] === undefined)).toEqual([]);
});
