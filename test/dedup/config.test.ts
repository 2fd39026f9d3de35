import { describe, expect, it } from "vitest";
import {
  dedupArchives,
  dedupKeys,
  dedupSyncInterval,
  paperlessUnread,
} from "../../src/dedup/config.ts";
import { formatFinding } from "../../src/kernel/config/findings.ts";
import { loadConfig, type LoadResult } from "../../src/kernel/config/load.ts";

function load(yaml: string, environment: Record<string, string> = {}): LoadResult {
  return loadConfig({
    file: "f.yaml",
    environment,
    schema: dedupKeys,
    checks: [paperlessUnread],
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
      'ERROR dedup.archives[0].kind: must be one of folder, jsonl, got "floder" (line 4)',
      "ERROR dedup.archives[0].path: is missing, must be a path without ~ (only a shell expands it) (line 3)",
      'ERROR dedup.archives[1]: must have the keys name, kind, path, include, exclude, id_field, text_field, got "folder" (line 6)',
      'ERROR dedup.archives[2].path: must be a path without ~ (only a shell expands it), got "~/x" (line 9)',
    ]);
  });

  it("have names of their own", () => {
    expect(problems(`${two}    - {name: scans, kind: jsonl, path: x}\n`)[0]).toContain(
      "dedup.archives: must have different names, scans is there twice (line 4)",
    );
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

  it("say that a Paperless archive cannot be read", () => {
    expect(problems("dedup:\n  archives:\n    - {name: a, kind: paperless, path: x}\n")).toEqual([
      'ERROR dedup.archives[0].kind: is "paperless", which this version cannot read (line 3) — write one of folder, jsonl.',
    ]);
    expect(problems("", { PAPERLESS_URL: "http://p" })).toEqual([
      "WARNING PAPERLESS_URL: is ignored: this version cannot read Paperless-ngx — point an archive of kind folder at an export.",
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
