import { describe, expect, it } from "vitest";
import type { Secret } from "../../../src/kernel/base/secret.ts";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import { defineKey, defineSchema, type Key } from "../../../src/kernel/config/key.ts";
import { loadConfig, type LoadResult } from "../../../src/kernel/config/load.ts";
import {
  boolean,
  bytes,
  duration,
  integer,
  listOf,
  oneOf,
  secret,
  string,
} from "../../../src/kernel/config/values/types.ts";

const help = "A key.";
const wait: Key<number> = defineKey({ path: "poll.wait", type: duration, default: 30_000, help });
const size: Key<number> = defineKey({
  path: "poll.max_size",
  type: bytes,
  default: 1024,
  help,
  warn: (value) => (value > 2048 ? { rule: "is large" } : undefined),
});
const count: Key<number> = defineKey({ path: "poll.count", type: integer(1, 9), default: 3, help });
const names: Key<readonly string[]> = defineKey({
  path: "names",
  type: listOf(string),
  default: [],
  help,
});
const on: Key<boolean> = defineKey({
  path: "feature.on",
  type: boolean,
  default: false,
  env: "FEATURE_ON",
  help,
});
const mode: Key<"slow" | "fast"> = defineKey({
  path: "feature.mode",
  type: oneOf(["slow", "fast"]),
  default: "slow",
  help,
});
const token: Key<Secret | undefined> = defineKey({
  path: "feature.token",
  type: secret,
  default: undefined,
  secret: true,
  env: "FEATURE_TOKEN",
  help,
});
const schema = defineSchema([wait, size, count, names], [on, mode, token]);

const files: Record<string, string> = { "/token": "from-file-canary\n", "/empty": "\n" };

function load(yaml: string | undefined, environment: Record<string, string> = {}): LoadResult {
  const readFile = (path: string): string => {
    const text = path === "steward.yaml" ? yaml : files[path];
    if (text === undefined)
      throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), {
        code: "ENOENT",
      });
    return text;
  };
  return loadConfig({
    ...(yaml === undefined ? {} : { file: "steward.yaml" }),
    environment,
    schema,
    readFile,
  });
}

function problems(result: LoadResult): string[] {
  return result.findings.map(formatFinding);
}

describe("the order of sources", () => {
  it("is default, then file, then environment, and every value knows where it came from", () => {
    const { config, findings } = load("poll:\n  wait: 5m\n  count: 5\n", {
      STEWARD_POLL__COUNT: "7",
    });
    expect(findings).toEqual([]);
    expect([config?.get(size), config?.get(wait), config?.get(count)]).toEqual([1024, 300_000, 7]);
    expect(config?.source(size)).toEqual({ from: "default" });
    expect(config?.source(wait)).toEqual({ from: "file", line: 2 });
    expect(config?.source(count)).toEqual({ from: "environment", variable: "STEWARD_POLL__COUNT" });
  });

  it("lets the STEWARD_ form win over a name honoured as it is", () => {
    expect(load(undefined, { FEATURE_ON: "yes" }).config?.get(on)).toBe(true);
    expect(load(undefined, { FEATURE_ON: "yes", STEWARD_FEATURE__ON: "0" }).config?.get(on)).toBe(
      false,
    );
  });

  it("judges a file's value even where the environment replaces it", () => {
    expect(problems(load("poll:\n  count: many\n", { STEWARD_POLL__COUNT: "7" }))).toEqual([
      'ERROR poll.count: must be a whole number from 1 to 9, got "many" (line 2)',
    ]);
  });
});

describe("the forms of a value", () => {
  it("takes a list from the file, or by comma from file and environment", () => {
    expect(load("names: [a, b]\n").config?.list(names)).toEqual(["a", "b"]);
    expect(load("names: a, b\n").config?.list(names)).toEqual(["a", "b"]);
    expect(load(undefined, { STEWARD_NAMES: "a,,b " }).config?.list(names)).toEqual(["a", "b"]);
  });

  it("keeps text as it was written, also where YAML sees a number", () => {
    expect(load("names: [0x10, 1.50, yes]\n").config?.list(names)).toEqual(["0x10", "1.50", "yes"]);
  });

  it.each(["TRUE", "1", "Yes"])("takes %s for true", (text) => {
    expect(load(undefined, { STEWARD_FEATURE__ON: text }).config?.get(on)).toBe(true);
  });

  it("counts an empty file and an empty section as nothing said", () => {
    expect(load("").config?.get(count)).toBe(3);
    expect(load("# nothing\npoll:\n").config?.get(count)).toBe(3);
  });

  it("resolves anchors", () => {
    expect(
      load("poll:\n  wait: &t 10s\nfeature: {mode: fast}\nnames: [*t]\n").config?.list(names),
    ).toEqual(["10s"]);
  });
});

describe("problems", () => {
  it("are all found in one pass, with line and remedy, errors first", () => {
    const result = load(
      "poll:\n  wiat: 1s\n  wait: 30\n  max_size: 4KiB\n  count: 0\nfeatures:\n  on: true\nnames: {a: 1}\nfeature: 7\n",
      { STEWARD_FEATURE__MODE: "medium", STEWARD_POLL__WIAT: "1s" },
    );
    expect(result.config).toBeUndefined();
    expect(problems(result)).toEqual([
      "ERROR poll.wiat: is not a known key (line 2) — did you mean poll.wait?",
      "ERROR features: is not a known key (line 6) — did you mean feature?",
      "ERROR feature: must be a group of keys, got a number (line 9)",
      'ERROR poll.wait: must be a duration such as 30s, 5m or 1h30m, got "30" (line 3)',
      'ERROR poll.count: must be a whole number from 1 to 9, got "0" (line 5)',
      "ERROR names: must be a list of text, got a group of keys (line 8)",
      'ERROR feature.mode: must be one of slow, fast, got "medium" (STEWARD_FEATURE__MODE)',
      "WARNING STEWARD_POLL__WIAT: is not a known variable and is ignored — did you mean STEWARD_POLL__WAIT?",
      "WARNING poll.max_size: is large (line 4)",
    ]);
  });

  it("name a key written without its section", () => {
    expect(problems(load("mode: fast\n"))).toEqual([
      "ERROR mode: is not a known key (line 1) — did you mean feature.mode?",
    ]);
  });

  it.each([
    ["a: [1\n", /^ERROR steward.yaml: is not valid YAML: .*\(line \d\)$/],
    ["feature:\n  token: |canary\n", /^(?!.*canary).*is not valid YAML: .*\(line \d\)$/],
    [
      "poll:\n  count: 1\n  count: 2\n",
      /not valid YAML: this key occurs twice, column 3 of `count: …` \(line 3\)/,
    ],
    ["- a\n", /^ERROR steward.yaml: must hold keys/],
    ["__proto__:\n  x: 1\n", /^ERROR __proto__: is not a known key/],
    [`names: ${"[".repeat(40)}${"]".repeat(40)}\n`, /nested deeper than 20 levels/],
    [`names: [${"x,".repeat(60_000)}]\n`, /at most 50000 values/],
    [`# ${"x".repeat(1024 * 1024)}\n`, /at most 1048576 characters/],
  ])("of the file are named: %.20j", (yaml, expected) => {
    expect(problems(load(yaml)).join("\n")).toMatch(expected);
  });

  it("do not let aliases multiply without end", () => {
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ..."bcdefgh"
        .split("")
        .map(
          (name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefg"[index]}`).join(",")}]`,
        ),
    ].join("\n");
    expect(problems(load(bomb)).join("\n")).toMatch(/at most 50000 values/);
  });

  it("include a file that is not there", () => {
    const result = loadConfig({
      file: "/nowhere.yaml",
      environment: {},
      schema,
      readFile: () => {
        throw new Error("gone");
      },
    });
    expect(result.config).toBeUndefined();
    expect(problems(result)[0]).toContain("ERROR /nowhere.yaml: cannot be read");
  });

  it("do not include empty or foreign variables", () => {
    expect(
      problems(
        load(undefined, { STEWARD_POLL__COUNT: "", STEWARD_DEMO: "true", PATH: "/bin", POLL: "x" }),
      ),
    ).toEqual([]);
  });

  it("include _FILE for what is no secret", () => {
    expect(problems(load(undefined, { STEWARD_POLL__COUNT_FILE: "/token" }))).toEqual([
      "WARNING STEWARD_POLL__COUNT_FILE: is ignored: poll.count is no secret and is not read from a file — did you mean STEWARD_POLL__COUNT?",
    ]);
  });
});

describe("a secret", () => {
  const value = (result: LoadResult): string | undefined =>
    result.config?.get(token)?.use((text) => text);

  it("comes from file, environment or a file named in either, without its last line break", () => {
    expect(value(load("feature: {token: canary}\n"))).toBe("canary");
    expect(value(load("feature: {token_file: /token}\n"))).toBe("from-file-canary");
    expect(value(load(undefined, { STEWARD_FEATURE__TOKEN: "canary" }))).toBe("canary");
    expect(value(load(undefined, { STEWARD_FEATURE__TOKEN_FILE: "/token" }))).toBe(
      "from-file-canary",
    );
    expect(value(load(undefined, { FEATURE_TOKEN_FILE: "/token" }))).toBe("from-file-canary");
    expect(
      value(load("feature: {token_file: /token}\n", { STEWARD_FEATURE__TOKEN: "canary" })),
    ).toBe("canary");
    expect(
      value(load(undefined, { FEATURE_TOKEN: "other", STEWARD_FEATURE__TOKEN_FILE: "/token" })),
    ).toBe("from-file-canary");
  });

  it("is refused when given twice, empty or unreadable", () => {
    expect(
      problems(
        load(undefined, {
          STEWARD_FEATURE__TOKEN: "canary",
          STEWARD_FEATURE__TOKEN_FILE: "/token",
        }),
      ),
    ).toEqual([
      "ERROR feature.token: is given twice, as value and as file (STEWARD_FEATURE__TOKEN_FILE) — remove one of them.",
    ]);
    expect(problems(load("feature: {token: canary, token_file: /token}\n"))[0]).toContain(
      "is given twice",
    );
    expect(problems(load(undefined, { STEWARD_FEATURE__TOKEN_FILE: "/empty" }))[0]).toContain(
      "must not be empty, /empty is",
    );
    expect(problems(load(undefined, { STEWARD_FEATURE__TOKEN_FILE: "/gone" }))[0]).toContain(
      "cannot be read from its file",
    );
    expect(problems(load("feature: {token: [canary]}\n"))[0]).not.toContain("canary");
  });

  it("never shows in the effective configuration", () => {
    const rows = load("feature: {token: canary}\npoll: {wait: 90s}\n", {
      STEWARD_NAMES: "a,b",
    }).config?.effective({ provenance: true });
    expect(JSON.stringify(rows)).not.toContain("canary");
    expect(rows).toEqual([
      { key: "feature.mode", value: "slow", provenance: "default" },
      { key: "feature.on", value: false, provenance: "default" },
      { key: "feature.token", secret: true, set: true, source: "value", provenance: "file" },
      { key: "names", value: ["a", "b"], provenance: "env" },
      { key: "poll.count", value: 3, provenance: "default" },
      { key: "poll.max_size", value: "1KiB", provenance: "default" },
      { key: "poll.wait", value: "1m30s", provenance: "file" },
    ]);
    expect(load(undefined).config?.effective({ provenance: false })).toContainEqual({
      key: "feature.token",
      secret: true,
      set: false,
      source: "unset",
    });
  });
});

describe("a schema", () => {
  it("refuses our own mistakes", () => {
    const inside = defineKey({ path: "poll.wait.first", type: string, default: "", help });
    expect(() => defineSchema([wait], [wait])).toThrow("poll.wait is declared once");
    expect(() => defineSchema([wait, inside])).toThrow(
      "no section of poll.wait.first is itself a key",
    );
    expect(() => defineKey({ path: "Poll", type: string, default: "", help })).toThrow(
      "dotted lower-case",
    );
    expect(() => load("").config?.get(inside)).toThrow("is in the schema");
  });
});
