import { describe, expect, it } from "vitest";
import type { Secret } from "../../../src/kernel/base/secret.ts";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import { defineKey, defineSchema, type Key } from "../../../src/kernel/config/key.ts";
import { loadConfig, type LoadResult } from "../../../src/kernel/config/load.ts";
import { mapOfSecrets } from "../../../src/kernel/config/values/maps.ts";
import { listOfObjects } from "../../../src/kernel/config/values/objects.ts";
import {
  duration,
  integer,
  listOf,
  oneOf,
  path,
  secret,
  string,
} from "../../../src/kernel/config/values/types.ts";

const help = "A key.";

interface Place {
  readonly name: string;
  readonly folder: string;
  readonly token: Secret | undefined;
  readonly size: number;
}

const level: Key<"info" | "debug"> = defineKey({
  path: "logging.level",
  type: oneOf(["info", "debug"]),
  default: "info",
  aliases: ["log_level"],
  help,
});
const folder: Key<string> = defineKey({ path: "state.directory", type: path, default: "", help });
const folders: Key<readonly string[]> = defineKey({
  path: "folders",
  type: listOf(path),
  default: [],
  help,
});
const token: Key<Secret | undefined> = defineKey({
  path: "token",
  type: secret,
  default: undefined,
  secret: true,
  help,
});
const headers: Key<ReadonlyMap<string, Secret>> = defineKey({
  path: "otlp.headers",
  type: mapOfSecrets({ limit: 3 }),
  default: new Map(),
  fallbacks: [{ variable: "OTEL_HEADERS" }],
  help,
});
const wait: Key<number> = defineKey({
  path: "otlp.wait",
  type: duration,
  default: 1000,
  fallbacks: [
    { variable: "OTEL_WAIT", translate: (text) => (/^\d+$/.test(text) ? `${text}ms` : undefined) },
    { variable: "OTEL_WAIT_OLD" },
  ],
  help,
});
const places: Key<readonly Place[]> = defineKey({
  path: "places",
  default: [],
  help,
  type: listOfObjects<Place>({
    limit: 2,
    fields: {
      name: { type: string, help },
      folder: { type: path, help },
      token: { type: secret, optional: true, secret: true, help },
      size: { type: integer(1, 9), default: 5, help },
    },
  }),
});
const schema = defineSchema([level, folder, folders, token, headers, wait, places]);
const files: Record<string, string> = {
  "/etc/steward/key": " canary-in-file\n\n",
  "/run/key": "canary-run",
};

function load(
  yaml: string | undefined,
  environment: Record<string, string> = {},
  mode = 0o600,
): LoadResult {
  const readFile = (name: string): string => {
    const content = name === "/etc/steward/steward.yaml" ? yaml : files[name];
    if (content === undefined)
      throw Object.assign(new Error(`ENOENT: no such file or directory, open '${name}'`), {
        code: "ENOENT",
      });
    return content;
  };
  return loadConfig({
    ...(yaml === undefined ? {} : { file: "/etc/steward/steward.yaml" }),
    environment,
    schema,
    readFile,
    modeOf: () => 0o100000 | mode,
  });
}

const problems = (result: LoadResult): string[] => result.findings.map(formatFinding);
const revealed = (map: ReadonlyMap<string, Secret> | undefined): Record<string, string> =>
  Object.fromEntries([...(map ?? [])].map(([name, held]) => [name, held.use((value) => value)]));

describe("a second name of a key", () => {
  it("counts in the file and in the environment", () => {
    expect(load("log_level: debug\n").config?.get(level)).toBe("debug");
    expect(load(undefined, { STEWARD_LOG_LEVEL: "debug" }).config?.get(level)).toBe("debug");
    expect(load("logging: {level: debug}\nlog_level: debug\n").config?.get(level)).toBe("debug");
    expect(load("log_level: debug\n", { STEWARD_LOGGING__LEVEL: "info" }).config?.get(level)).toBe(
      "info",
    );
  });

  it("is refused where it says something else than the first", () => {
    expect(problems(load("logging: {level: info}\nlog_level: debug\n"))).toEqual([
      "ERROR log_level: is another name of logging.level and has a different value (line 2) — remove one of them.",
    ]);
    expect(
      problems(load(undefined, { STEWARD_LOGGING__LEVEL: "info", STEWARD_LOG_LEVEL: "debug" }))[0],
    ).toContain("is another name of logging.level");
  });
});

describe("a relative path", () => {
  it("begins at the file's folder in the file, and where the process runs in a variable", () => {
    const { config } = load(
      "state: {directory: data}\nfolders: [a, /b]\nplaces: [{name: x, folder: ../c}]\n",
    );
    expect([config?.get(folder), config?.get(folders), config?.get(places)[0]?.folder]).toEqual([
      "/etc/steward/data",
      ["/etc/steward/a", "/b"],
      "/etc/c",
    ]);
    expect(load(undefined, { STEWARD_STATE__DIRECTORY: "data" }).config?.get(folder)).toBe("data");
  });

  it("of a secret's file does too, and white space around the secret is cut off", () => {
    const { config } = load("token_file: key\n");
    expect(config?.get(token)?.use((value) => value)).toBe("canary-in-file");
    expect(config?.effective({ provenance: false })).toContainEqual({
      key: "token",
      secret: true,
      set: true,
      source: "file",
    });
  });
});

describe("a map of secrets", () => {
  it("gathers its entries from all layers, the highest of each name", () => {
    const { config, findings } = load(
      "otlp: {headers: {x-org: file, x-two: file, x-key_file: key}}\n",
      { STEWARD_OTLP__HEADERS__X_ORG: "variable", OTEL_HEADERS: "x-two=otel,x-three=a%2Cb" },
    );
    expect(findings).toEqual([]);
    expect(revealed(config?.get(headers))).toEqual({
      "x-org": "file",
      x_org: "variable",
      "x-two": "file",
      "x-three": "a,b",
      "x-key": "canary-in-file",
    });
    const rows = config
      ?.effective({ provenance: true })
      .filter((row) => row.key.startsWith("otlp.headers"));
    expect(rows).toEqual([
      { key: "otlp.headers.x-key", secret: true, set: true, source: "file", provenance: "file" },
      { key: "otlp.headers.x-org", secret: true, set: true, source: "value", provenance: "file" },
      { key: "otlp.headers.x-three", secret: true, set: true, source: "value", provenance: "env" },
      { key: "otlp.headers.x-two", secret: true, set: true, source: "value", provenance: "file" },
      { key: "otlp.headers.x_org", secret: true, set: true, source: "value", provenance: "env" },
    ]);
  });

  it("may lie whole in a file that a variable of others names", () => {
    files["/run/headers"] = "authorization=Bearer%20x\n";
    expect(
      revealed(load(undefined, { OTEL_HEADERS_FILE: "/run/headers" }).config?.get(headers)),
    ).toEqual({ authorization: "Bearer x" });
    expect(problems(load(undefined, { OTEL_HEADERS_FILE: "/gone" }))[0]).toMatch(
      /^WARNING OTEL_HEADERS_FILE: is ignored: \/gone cannot be read/,
    );
  });

  it("shows as one row without a value when it is empty", () => {
    expect(load(undefined).config?.effective({ provenance: false })).toContainEqual({
      key: "otlp.headers",
    });
  });

  it.each([
    [
      { STEWARD_OTLP__HEADERS: "canary" },
      "ERROR otlp.headers: must be written name=value,name=value (STEWARD_OTLP__HEADERS)",
    ],
    [
      { STEWARD_OTLP__HEADERS: "a=%zz" },
      "ERROR otlp.headers: must be written name=value,name=value (STEWARD_OTLP__HEADERS)",
    ],
    [
      { STEWARD_OTLP__HEADERS: "a=1,b=2,c=3,d=4" },
      "ERROR otlp.headers: must have at most 3 entries, got 4 (STEWARD_OTLP__HEADERS)",
    ],
    [
      { STEWARD_OTLP__HEADERS: "a=1", STEWARD_OTLP__HEADERS__B: "2" },
      "ERROR otlp.headers: is given twice, whole and as STEWARD_OTLP__HEADERS__B (STEWARD_OTLP__HEADERS__B) — write all of it in one form.",
    ],
  ])("complains of %j without a word of the value", (environment, expected) => {
    expect(problems(load(undefined, environment))).toEqual([expected]);
  });
});

describe("a variable of others", () => {
  it("counts below the file and translates what it says", () => {
    expect(load(undefined, { OTEL_WAIT: "250" }).config?.get(wait)).toBe(250);
    expect(load("otlp: {wait: 5s}\n", { OTEL_WAIT: "250" }).config?.get(wait)).toBe(5000);
    expect(load(undefined, { OTEL_WAIT: "250", OTEL_WAIT_OLD: "3s" }).config?.get(wait)).toBe(250);
    expect(load(undefined, { OTEL_WAIT: "250" }).config?.source(wait)).toEqual({
      from: "environment",
      variable: "OTEL_WAIT",
    });
  });

  it("that says what the key cannot be is a warning and is ignored", () => {
    const foreign = load(undefined, { OTEL_WAIT: "soon", OTEL_WAIT_OLD: "never" });
    expect(foreign.config?.get(wait)).toBe(1000);
    expect(problems(foreign)).toEqual([
      'WARNING OTEL_WAIT: has the value "soon", which is invalid for otlp.wait, and is ignored',
      'WARNING otlp.wait: must be a duration such as 30s, 5m or 1h30m, got "never", which is ignored (OTEL_WAIT_OLD)',
    ]);
  });
});

describe("a list of objects", () => {
  it("shows each field as a row, and never its secrets", () => {
    const { config } = load(
      "places: [{name: a, folder: /a, token: canary}, {name: b, folder: /b, token_file: /run/key, size: 9}]\n",
    );
    expect(config?.get(places).map((location) => location.token?.use((value) => value))).toEqual([
      "canary",
      "canary-run",
    ]);
    const rows = config
      ?.effective({ provenance: false })
      .filter((row) => row.key.startsWith("places"));
    expect(JSON.stringify(rows)).not.toContain("canary");
    expect(rows).toEqual([
      { key: "places.0.folder", value: "/a" },
      { key: "places.0.name", value: "a" },
      { key: "places.0.size", value: 5 },
      { key: "places.0.token", secret: true, set: true, source: "value" },
      { key: "places.1.folder", value: "/b" },
      { key: "places.1.name", value: "b" },
      { key: "places.1.size", value: 9 },
      { key: "places.1.token", secret: true, set: true, source: "file" },
    ]);
    expect(load(undefined).config?.effective({ provenance: false })).toContainEqual({
      key: "places",
      value: [],
    });
  });

  it("names what is wrong in it, field by field", () => {
    expect(
      problems(
        load(
          "places: [{name: a, folder: /a, token: x, token_file: /run/key}, {nam: b, size: 10}]\n",
        ),
      ),
    ).toEqual([
      "ERROR places[0].token: is given twice, as value and as file (line 1) — remove one of them.",
      "ERROR places[1].nam: is not a known key (line 1) — did you mean name?",
      "ERROR places[1].name: is missing, must be text (line 1)",
      "ERROR places[1].folder: is missing, must be a path without ~ (only a shell expands it) (line 1)",
      'ERROR places[1].size: must be a whole number from 1 to 9, got "10" (line 1)',
    ]);
  });
});

describe("a file that others can read", () => {
  const warning =
    "WARNING /etc/steward/steward.yaml: holds a secret and can be read by other users of this machine — chmod 0600 /etc/steward/steward.yaml";

  it.each<[string, string, Record<string, string>?]>([
    ["of a key", "token: canary\n"],
    ["that a variable overrides", "token: canary\n", { STEWARD_TOKEN: "other" }],
    ["in a map", "otlp: {headers: {x-token: canary}}\n"],
    ["in a listed object", "places: [{name: a, folder: /a, token: canary}]\n"],
    [
      "as the password of an address",
      'places: [{name: "https://user:canary@host.example", folder: /a}]\n',
    ],
  ])("is worth a warning when it holds a secret %s", (_where, yaml, environment = {}) => {
    expect(problems(load(yaml, environment, 0o640))).toEqual([warning]);
    expect(problems(load(yaml, environment, 0o604))).toEqual([warning]);
    expect(problems(load(yaml, environment, 0o600))).toEqual([]);
  });

  it("is fine while its secrets stand in files of their own, or in variables", () => {
    for (const yaml of [
      "",
      "logging: {level: info}\n",
      "token_file: /run/key\n",
      "places: [{name: a, folder: /a, token_file: /run/key}]\n",
    ]) {
      expect([
        yaml,
        problems(load(yaml, { STEWARD_OTLP__HEADERS__X_TOKEN: "canary" }, 0o644)),
      ]).toEqual([yaml, []]);
    }
  });
});
