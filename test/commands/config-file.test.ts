import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { daemonSchema, loadDaemonConfig } from "../../src/daemon/configuration.ts";
import { printConfigFile } from "../../src/commands/effective-config.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import type { Config } from "../../src/kernel/config/config.ts";
import { configFile } from "../../src/kernel/config/config-file.ts";
import { formatFinding } from "../../src/kernel/config/findings.ts";
import { variableOf, type Key } from "../../src/kernel/config/key.ts";
import { loadConfig, type LoadResult } from "../../src/kernel/config/load.ts";

type Tree = { [name: string]: unknown };

const folder = mkdtempSync(join(tmpdir(), "config-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const environmentOf = (more: Record<string, string> = {}): Record<string, string> => ({
  HOME: "/home/ada",
  ...more,
});

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** What the command prints for a configuration, and what that loads to. */
function roundTrip(
  tree: Tree,
  environment: Record<string, string> = {},
): {
  readonly text: string;
  readonly before: Config | undefined;
  readonly after: Config | undefined;
  readonly findings: string[];
} {
  const source = write("source.yaml", stringify(tree));
  let text = "";
  const code = printConfigFile({ config: source, demo: false }, environmentOf(environment), {
    stdout: (more) => void (text += more),
    stderr: (more) => void (text += more),
  });
  if (code !== 0) throw new Error(text);
  // Another folder, so that no path is read as relative to the file.
  mkdirSync(join(folder, "other"), { recursive: true });
  const { config, findings } = loadDaemonConfig(write("other/written.yaml", text), environmentOf());
  return {
    text,
    before: loadDaemonConfig(source, environmentOf(environment)).config,
    after: config,
    findings: findings.map(formatFinding),
  };
}

/** Secrets by their text, so that two of them can be compared. */
function comparable(value: unknown): unknown {
  if (value instanceof Secret) return value.use((text) => text);
  if (value instanceof Map) return [...value].map(([name, held]) => [name, comparable(held)]);
  if (Array.isArray(value)) return value.map(comparable);
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, held]) => [name, comparable(held)]))
    : value;
}

const values = (config: Config | undefined): unknown[] =>
  daemonSchema.map((key) => [
    key.path,
    config === undefined ? "not loaded" : comparable(config.get(key)),
  ]);

function put(tree: Tree, path: string, value: unknown): Tree {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let at = tree;
  for (const name of names) at = (at[name] ??= {}) as Tree;
  at[last] = value;
  return tree;
}

const words = [
  "true",
  "false",
  3,
  7,
  129,
  "90s",
  "7m",
  65_537,
  0.25,
  "127.0.0.1:9",
  "/srv/a file",
  "./relative",
  "/srv/checkpoints.mdb",
  "https://x.example/a",
  "plain: text # 'quoted' \"twice\"",
  "04:45",
  "name",
  "/metrics/x",
  "10.0.0.0/8",
  "127.0.0.1",
  "https://x.example",
];

/** Values other than the default that load on their own. */
function candidates(key: Key<unknown>): unknown[] {
  const choices = /^(?:a list of )?one of (.*)$/.exec(key.type.expects)?.[1]?.split(", ") ?? words;
  if (key.type.isMap === true) return [{ team_a: "x: y", true: "2" }, { a: "b" }];
  return key.type.holds === "list" ? choices.map((word) => [word]) : choices;
}

/** Each key by itself: most rules over several of them would refuse what no two keys agreed on. */
function loadAlone(text: string, name: string): LoadResult {
  mkdirSync(join(folder, "other"), { recursive: true });
  return loadConfig({
    file: write(name, text),
    environment: environmentOf(),
    schema: daemonSchema,
    readFile: (path) => readFileSync(path, "utf8"),
  });
}

function isChange(key: Key<unknown>, value: unknown): boolean {
  const { config } = loadConfig({
    file: "f",
    environment: {},
    schema: [key],
    readFile: () => stringify(put({}, key.path, value)),
  });
  return (
    config !== undefined &&
    JSON.stringify(comparable(config.get(key))) !== JSON.stringify(comparable(key.default))
  );
}

const scalars = daemonSchema.filter(
  (key) => key.secret !== true && key.type.fields === undefined && key.type.isMapOfSecrets !== true,
);

describe("-print-effective-config-yaml", () => {
  it("writes a file that loads to the defaults, without a finding", () => {
    const { before, after, findings, text } = roundTrip({});
    expect(findings).toEqual([]);
    expect(values(after)).toEqual(values(before));
    expect(text).not.toContain("# token");
  });

  it("writes every key so that it loads to the same value", () => {
    const tree: Tree = {};
    const unchanged: string[] = [];
    for (const key of scalars) {
      const value = candidates(key).find((candidate) => isChange(key, candidate));
      if (value === undefined) unchanged.push(key.path);
      else put(tree, key.path, value);
    }
    // The rest know one value only.
    expect(unchanged).toEqual([
      "collectors.k8s_audit.objectstore.layout",
      "ingress_wal.corruption",
    ]);
    const before = loadAlone(stringify(tree), "source.yaml").config;
    const after =
      before === undefined
        ? undefined
        : loadAlone(configFile(before, daemonSchema, "a test"), "other/written.yaml").config;
    expect(before).toBeDefined();
    expect(values(after)).toEqual(values(before));
  });

  it("writes lists of objects, maps and texts of any kind", () => {
    const keyFile = write("key", "from-a-file-of-secrets\n");
    const { before, after, findings } = roundTrip({
      networks: [
        {
          name: "a",
          url: "https://one.example",
          auth: {
            oauth: { client_id: "x: y", client_secret_file: "key", scopes: ["all:read", "b # c"] },
          },
          http: { timeout: "1500ms", rate_limit: 0.5, retry: { max_attempts: 9 } },
        },
        { name: "b", provider: "headscale", url: "https://hs.example", api_key_file: keyFile },
      ],
      collectors: {
        node_metrics: {
          enabled: true,
          targets: [
            {
              url: "http://n:1/metrics",
              labels: { on: "null", a: "- \u202e\u0007\n#", "b c": "" },
              headers: { "x-a_file": "key" },
              bearer_token_file: keyFile,
            },
          ],
        },
      },
      dedup: {
        archives: [
          { name: "papers", kind: "folder", path: "relative/papers", include: ["*.txt", "- a"] },
        ],
      },
      tokens: {
        mounts: [{ path: "github", description: "yes", max_lease_ttl: "45m" }, { path: "b" }],
        audit: [{ file_path: "a.log" }],
      },
      otlp: { endpoint: "http://c:4318", headers: { "x-a_file": keyFile, null_file: keyFile } },
      resource: { attributes: { team: "1e3", "a.b": "~" } },
      auth: { token_file: "key" },
      state: { directory: "../state" },
    });
    expect(findings).toEqual([
      expect.stringMatching(
        /^WARNING collectors\.node_metrics\.targets: belong to the first of the networks/,
      ),
    ]);
    expect(values(after)).toEqual(values(before));
  });

  it("shows no secret: one in the configuration is a comment that names where it stands", () => {
    write("pairs", "x-pair=canary\n");
    const { text } = roundTrip(
      {
        auth: { token: "canary-canary-canary" },
        networks: [
          { name: "a", auth: { oauth: { client_id: "x", client_secret: "canary" } } },
          {
            name: "b",
            provider: "headscale",
            url: "https://hs",
            api_key_file: write("key", "canary"),
          },
        ],
        collectors: {
          node_metrics: {
            targets: [{ url: "http://n:1/metrics?key=canary", headers: { x: "canary" } }],
          },
        },
        otlp: { headers: { "x-a": "canary" }, logs: { endpoint: "https://c/v1/logs?key=canary" } },
      },
      {
        STEWARD_ANNOTATIONS__TOKEN: "canary",
        OTEL_EXPORTER_OTLP_HEADERS_FILE: join(folder, "pairs"),
      },
    );
    expect(text).not.toContain("canary");
    expect(text).toMatch(/\n {2}# token: "" {2}# secret, from line 2\n/);
    expect(text).toContain('# token: ""  # secret, from STEWARD_ANNOTATIONS__TOKEN\n');
    expect(text).toContain(`# x-pair: ""  # secret, from part of file ${join(folder, "pairs")}\n`);
    expect(text).toContain('# endpoint: "https://c/v1/logs?key=redacted"\n');
    expect(text).toContain(`api_key_file: ${JSON.stringify(join(folder, "key"))}\n`);
  });

  it("writes paths that mean the same from another folder", () => {
    const { text } = roundTrip(
      {},
      {
        STEWARD_STATE__DIRECTORY: "state",
        STEWARD_AUTH__TOKEN_FILE: relative(process.cwd(), write("key", "from-a-file-of-secrets")),
      },
    );
    expect(text).toContain(`  directory: ${JSON.stringify(resolve("state"))}\n`);
    expect(text).toContain(`  token_file: ${JSON.stringify(join(folder, "key"))}\n`);
  });

  it("says which file it was made from, or that the daemon would read one that was not", () => {
    const headOf = (config: string | undefined, environment: Record<string, string>): string => {
      let text = "";
      const print = (more: string): void => void (text += more);
      printConfigFile({ config, demo: false }, environment, { stdout: print, stderr: print });
      return text.split("\n")[0] ?? "";
    };
    mkdirSync(join(folder, "steward"));
    const found = write("steward/steward.yaml", "");
    expect(headOf(found, environmentOf())).toBe(
      `# The configuration of ${found} and the environment.`,
    );
    expect(headOf(undefined, environmentOf({ XDG_CONFIG_HOME: folder }))).toBe(
      `# The configuration of the environment alone: no file was read, since there is no -config FILE; the daemon would read ${found}.`,
    );
  });

  it("hides each secret key of the schema", () => {
    const secrets = daemonSchema.filter((key) => key.secret === true);
    for (const key of secrets) {
      let text = "";
      const print = (more: string): void => void (text += more);
      printConfigFile(
        { config: undefined, demo: false },
        environmentOf({ [variableOf(key.path)]: "canary-of-many-letters" }),
        { stdout: print, stderr: print },
      );
      expect(text).not.toContain("canary");
    }
    expect(secrets.length).toBeGreaterThan(10);
  });

  it("ends 1 with one line when the configuration is not valid", () => {
    let [stdout, stderr] = ["", ""];
    const code = printConfigFile(
      { config: undefined, demo: false },
      environmentOf({ STEWARD_LOGGING__LEVEL: "loud" }),
      { stdout: (more) => void (stdout += more), stderr: (more) => void (stderr += more) },
    );
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^config invalid: logging\.level: [^\n]*\n$/);
  });
});
