import { describe, expect, it } from "vitest";
import {
  configuredArchives,
  dedupArchives,
  dedupKeys,
  dedupSyncInterval,
  paperlessComplete,
} from "../../src/dedup/config.ts";
import { formatFinding } from "../../src/kernel/config/findings.ts";
import { loadConfig, type LoadResult } from "../../src/kernel/config/load.ts";

function load(yaml: string, environment: Record<string, string> = {}): LoadResult {
  return loadConfig({
    file: "f.yaml",
    environment,
    schema: dedupKeys,
    checks: [paperlessComplete],
    readFile: () => yaml,
  });
}

function problems(yaml: string, environment?: Record<string, string>): string[] {
  return load(yaml, environment).findings.map(formatFinding);
}

const two = `dedup:
  sync:
    interval: 5m
  archives:
    - name: scans
      kind: folder
      path: /srv/scans
      include: ["*.txt", "*.md"]
    - {name: export, kind: jsonl, path: export.jsonl}
`;

describe("the archives", () => {
  it("are a list of folders and JSONL files", () => {
    const { config, findings } = load(two);
    expect(findings).toEqual([]);
    expect(config?.list(dedupArchives)).toEqual([
      {
        name: "scans",
        kind: "folder",
        path: "/srv/scans",
        include: ["*.txt", "*.md"],
        exclude: [],
      },
      { name: "export", kind: "jsonl", path: "export.jsonl", include: [], exclude: [] },
    ]);
    expect(config?.get(dedupSyncInterval)).toBe(300_000);
    const rows = config?.effective({ provenance: false }) ?? [];
    expect(rows).toContainEqual({ key: "dedup.archives.0.include", value: ["*.txt", "*.md"] });
    expect(rows).toContainEqual({ key: "dedup.archives.1.path", value: "export.jsonl" });
  });

  it("name every mistake with its line", () => {
    expect(
      problems(
        "dedup:\n  archives:\n    - name: a b\n      kind: floder\n      pth: /x\n    - folder\n    - name: ok\n      kind: jsonl\n      path: ~/x\n",
      ),
    ).toEqual([
      "ERROR dedup.archives[0].pth: is not a known key (line 5) — did you mean path?",
      'ERROR dedup.archives[0].name: must be 1 to 64 letters, digits, dots, dashes and underscores, got "a b" (line 3)',
      'ERROR dedup.archives[0].kind: must be one of folder, jsonl, paperless, got "floder" (line 4)',
      "ERROR dedup.archives[1]: must have the keys name, kind, path, include, exclude, id_field, text_field, url, token, username, password, timeout, page_size, got text (line 6)",
      'ERROR dedup.archives[2].path: must be a path without ~ (only a shell expands it), got "~/x" (line 9)',
    ]);
  });

  it("have names of their own", () => {
    expect(problems(`${two}    - {name: scans, kind: jsonl, path: x}\n`)[0]).toContain(
      "dedup.archives: must have different names, scans is there twice (line 4)",
    );
  });

  const pair = (a: string, b: string): string[] =>
    problems(`dedup:\n  archives:\n    - {name: a, ${a}}\n    - {name: b, ${b}}\n`);

  it.each([
    ["http://p.test", "http://p.test"],
    ["http://p.test/", "http://P.test:80"],
    ["https://p.test/docs", "https://p.test/docs//"],
  ])("do not read one Paperless-ngx twice, %s and %s", (one, other) => {
    const row = (url: string, token: string): string =>
      `kind: paperless, url: "${url}", token: ${token}`;
    expect(pair(row(one, "mine"), row(other, "yours"))).toEqual([
      "ERROR dedup.archives: must not read a Paperless-ngx twice, a and b have the same address (line 2) — list it once, with the token of a user who may view the documents of both.",
    ]);
    expect(pair(row(one, "mine"), row(`${other}/more`, "yours"))).toEqual([]);
    expect(pair(row(one, "mine"), row(other.replace(/p\.test/i, "q.test"), "yours"))).toEqual([]);
  });

  it.each([
    [
      "path: /top",
      "path: /top/in",
      'b is in that of a (line 2) — remove b, or add "in/**" to exclude of a.',
    ],
    [
      "path: /top/in",
      "path: /top/",
      'a is in that of b (line 2) — remove a, or add "in/**" to exclude of b.',
    ],
    [
      "path: /top",
      "path: /other/../top",
      "b is that of a (line 2) — remove one of them, or divide the files by include and exclude.",
    ],
    [
      "path: /",
      "path: /a/b",
      'b is in that of a (line 2) — remove b, or add "a/b/**" to exclude of a.',
    ],
    [
      "path: /top",
      "path: /top/in, include: ['*.txt']",
      'b is in that of a (line 2) — remove b, or add "in/**" to exclude of a.',
    ],
    [
      "path: /top, exclude: ['*.tmp', 'inner/**']",
      "path: /top/in",
      'b is in that of a (line 2) — remove b, or add "in/**" to exclude of a.',
    ],
  ])("do not read a file twice, with %s and %s", (one, other, problem) => {
    expect(pair(`kind: folder, ${one}`, `kind: folder, ${other}`)).toEqual([
      `ERROR dedup.archives: must not read a file twice, the folder of ${problem}`,
    ]);
  });

  it.each([
    ["path: /top", "path: /topmost"],
    ["path: /top/a", "path: /top/b"],
    ["path: /top, exclude: [in]", "path: /top/in"],
    ["path: /top, exclude: ['in/**']", "path: /top/in"],
    ["path: /top, exclude: [a]", "path: /top/a/b"],
    ["path: /top, exclude: ['a/b/**']", "path: /top/a/b"],
    ["path: /top, include: ['*.txt']", "path: /top, include: ['*.pdf']"],
    ["path: /top, include: ['*.txt']", "path: /top, exclude: ['*.txt']"],
    ["path: /top", "path: /top/.hidden"],
    ["path: /top", "path: /top/..in"],
    ["path: /top", "path: /top/node_modules/a"],
  ])("may have folders that share no file, with %s and %s", (one, other) => {
    expect(pair(`kind: folder, ${one}`, `kind: folder, ${other}`)).toEqual([]);
  });

  it("read a JSON Lines file once for each text that it holds", () => {
    const row = "kind: jsonl, path: /a/b.jsonl";
    expect(pair(row, "kind: jsonl, path: /a/../a/b.jsonl, id_field: key")).toEqual([
      "ERROR dedup.archives: must not read a file twice, a and b have the same path (line 2) — remove one of them.",
    ]);
    expect(pair(row, `${row}, text_field: summary`)).toEqual([]);
    expect(pair(row, "kind: folder, path: /a")).toEqual([]);
  });

  it("take patterns only for folders", () => {
    expect(
      problems("dedup:\n  archives:\n    - {name: a, kind: jsonl, path: x, exclude: [y]}\n"),
    ).toEqual([
      "ERROR dedup.archives[0].exclude: is for archives of kind folder, this one is jsonl (line 3) — remove it.",
    ]);
  });

  it("take names of fields only for JSON Lines", () => {
    const row = (text: string): string =>
      `dedup:\n  archives:\n    - {name: a, path: x, ${text}}\n`;
    expect(problems(row("kind: jsonl, id_field: url, text_field: body"))).toEqual([]);
    expect(problems(row("kind: folder, text_field: body"))).toEqual([
      "ERROR dedup.archives[0].text_field: is for archives of kind jsonl, this one is folder (line 3) — remove it.",
    ]);
  });

  it("need a path unless they are a Paperless-ngx", () => {
    expect(problems("dedup:\n  archives:\n    - {name: a, kind: folder}\n")).toEqual([
      "ERROR dedup.archives[0].path: is missing, an archive of kind folder needs it (line 3)",
    ]);
  });

  it.each([
    [
      "path: x, url: 'http://p', token: t",
      "path: is for archives of kind folder and jsonl, this one is paperless (line 3) — remove it.",
    ],
    [
      "token: t",
      "url: is missing, an archive of kind paperless needs it (line 3) — write e.g. https://paperless.example.org.",
    ],
    [
      "url: paperless, token: t",
      "url: must be an http or https address (line 3) — write e.g. https://host.example.org.",
    ],
    [
      "url: 'http://u:p@p', token: t",
      "url: must not contain credentials (line 3) — put them into their own keys.",
    ],
    [
      "url: 'http://p'",
      "token: is missing, an archive of kind paperless needs a token, or username and password (line 3) — create a token in Paperless-ngx under My Profile.",
    ],
    [
      "url: 'http://p', username: u",
      "password: is missing, username and password are needed together (line 3)",
    ],
    [
      "url: 'http://p', token: t, page_size: 0",
      'page_size: must be a whole number from 1 to 1000, got "0" (line 3)',
    ],
    ["url: 'http://p', token: t, timeout: 0", "timeout: must be more than 0 (line 3)"],
  ])("of Paperless-ngx with %s are refused", (fields, problem) => {
    expect(problems(`dedup:\n  archives:\n    - {name: a, kind: paperless, ${fields}}\n`)).toEqual([
      `ERROR dedup.archives[0].${problem}`,
    ]);
  });

  it("of Paperless-ngx never show their credential", () => {
    const { config, findings } = load(
      "dedup:\n  archives:\n    - {name: a, kind: paperless, url: 'https://p.test', token: canary}\n",
    );
    expect(findings).toEqual([]);
    expect(JSON.stringify(config?.effective({ provenance: true }))).not.toContain("canary");
    expect(JSON.stringify(config?.get(dedupArchives))).not.toContain("canary");
  });

  it("come from PAPERLESS_URL and its credential while the file has none", () => {
    const { config, findings } = load("", {
      PAPERLESS_URL: "https://p.test",
      PAPERLESS_API_TOKEN: "t",
    });
    expect(findings).toEqual([]);
    const [archive] = config === undefined ? [] : configuredArchives(config);
    expect(archive).toMatchObject({ name: "paperless", kind: "paperless", url: "https://p.test" });
    expect(archive?.token?.equals("t")).toBe(true);
    expect(problems("", { PAPERLESS_URL: "https://p.test" })).toEqual([
      "ERROR dedup.paperless.url: needs a credential — set PAPERLESS_API_TOKEN, or PAPERLESS_USERNAME and PAPERLESS_PASSWORD.",
    ]);
    expect(problems("", { PAPERLESS_API_TOKEN: "t" })).toEqual([
      "WARNING dedup.paperless.url: is not set, so that its credential is ignored — set PAPERLESS_URL.",
    ]);
    expect(problems(two, { PAPERLESS_URL: "https://p.test", PAPERLESS_API_TOKEN: "t" })).toEqual([
      "WARNING dedup.paperless.url: is ignored, because dedup.archives lists archives — list it there with kind: paperless, or unset PAPERLESS_URL.",
    ]);
  });

  it.each([
    "STEWARD_DEDUP__ARCHIVES",
    "STEWARD_DEDUP__ARCHIVES__0__PATH",
    "STEWARD_DEDUP__ARCHIVES_FILE",
  ])("are not taken from %s", (variable) => {
    expect(problems("", { [variable]: "x" })).toEqual([
      `ERROR ${variable}: sets dedup.archives, a list of objects — write it in the configuration file.`,
    ]);
  });

  it("are not synced every moment", () => {
    expect(problems("dedup: {sync: {interval: 1s}}\n")[0]).toContain(
      "must be 0 (off) or at least 10s",
    );
    expect(problems("dedup: {sync: {interval: 0}}\n")).toEqual([]);
  });
});
