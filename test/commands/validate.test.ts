import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { validate } from "../../src/commands/validate.ts";
import { daemonSchema } from "../../src/daemon/configuration.ts";
import { sections } from "../../src/kernel/config/key.ts";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";

afterAll(removeTemporaryFolders);

function fileOf(text: string | Uint8Array, mode = 0o600): string {
  const file = join(temporaryFolder(), "steward.yaml");
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function run(
  config: string | undefined,
  {
    json = false,
    strict = false,
    environment = {},
  }: { json?: boolean; strict?: boolean; environment?: Record<string, string> } = {},
): { code: number; stdout: string; stderr: string } {
  const seen = { stdout: "", stderr: "" };
  const output = {
    stdout: (text: string) => void (seen.stdout += text),
    stderr: (text: string) => void (seen.stderr += text),
  };
  return {
    code: validate(
      { config, demo: false, json, warningsAsErrors: strict },
      { HOME: "/", ...environment },
      output,
    ),
    ...seen,
  };
}

/** A file in which a key has this value. */
function nested(path: string, value: string): string {
  return path.split(".").reduceRight((inner, name) => `{${name}: ${inner}}`, value);
}

/** A secret in the file itself, which others should not read. */
const SECRET = "auth: {token: canary-of-at-least-32-characters-000}\n";

describe("-validate", () => {
  it("finds nothing to say of an empty configuration", () => {
    expect(run(fileOf(""))).toEqual({ code: 0, stdout: "config OK\n", stderr: "" });
    expect(run(undefined)).toMatchObject({ code: 0, stdout: "config OK\n" });
    expect(run(undefined, { json: true })).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  });

  it("says that it read no file, and which one the daemon would read", () => {
    const folder = temporaryFolder();
    const file = join(folder, "steward", "steward.yaml");
    mkdirSync(join(folder, "steward"));
    writeFileSync(file, "logging: {level: loud}\n");
    expect(run(undefined, { environment: { XDG_CONFIG_HOME: folder } })).toEqual({
      code: 0,
      stdout: "config OK\n",
      stderr: `no file was read, since there is no -config FILE; the daemon would read ${file}\n`,
    });
    // A variable is a configuration: the daemon reads no file beside it.
    const environment = { XDG_CONFIG_HOME: folder, STEWARD_LOGGING__LEVEL: "info" };
    expect(run(undefined, { environment })).toEqual({
      code: 0,
      stdout: "config OK\n",
      stderr: "no file was read, since there is no -config FILE\n",
    });
  });

  it("names all errors on standard error and all warnings on standard output, one a line, in one pass", () => {
    const file = fileOf(
      "logging: {level: loud}\ngatewey: {listen: x}\nauth: {token: short}\n",
      0o644,
    );
    const { code, stdout, stderr } = run(file, { environment: { STEWARD_NOBODY: "1" } });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toEqual([
      expect.stringMatching(
        /^ERROR gatewey: is not a known key \(line 2\) — did you mean gateway\?$/,
      ),
      expect.stringMatching(
        /^ERROR logging\.level: must be one of debug, info, warn, error, got "loud" \(line 1\)$/,
      ),
    ]);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .every((line) => /^WARNING \S+: .+/.test(line)),
    ).toBe(true);
    expect(stdout).toContain("0600");
    expect(stdout).not.toContain("config OK");
  });

  it("says it all as one JSON array, errors first", () => {
    const { code, stdout, stderr } = run(fileOf(`logging: {level: loud}\n${SECRET}`, 0o644), {
      json: true,
    });
    expect([code, stderr]).toEqual([1, ""]);
    expect(JSON.parse(stdout)).toEqual([
      {
        severity: "error",
        path: "logging.level",
        message: 'must be one of debug, info, warn, error, got "loud" (line 1)',
      },
      {
        severity: "warning",
        path: expect.stringContaining("steward.yaml") as string,
        message: expect.any(String) as string,
        remediation: expect.stringContaining("chmod 0600") as string,
      },
    ]);
  });

  it("quotes no value that stands where keys belong, for it may be a secret at the wrong level", () => {
    const canary = "canary-of-a-secret-0123456789";
    const groups = new Set(daemonSchema.flatMap(({ path }) => sections(path)));
    const objects = daemonSchema.filter(({ type }) => type.fileOnly).map(({ path }) => path);
    const texts = [...groups, ...objects].flatMap((path) =>
      [canary, `[${canary}]`].map((value) => nested(path, value)),
    );
    const inNetworks = [nested("networks", `[{name: a, auth: ${canary}}]`)];
    for (const text of [...texts, ...inNetworks]) {
      const { code, stdout, stderr } = run(fileOf(text));
      expect([text, code, stdout + stderr]).toEqual([text, 1, expect.not.stringContaining(canary)]);
      expect(stdout + stderr).toMatch(/, got (text|a list)/);
    }
    expect(run(fileOf(`auth: ${canary}\n`)).stderr).toBe(
      "ERROR auth: must be a group of keys, got text (line 1)\n",
    );
  });

  it("ends 1 for a warning only when warnings count as errors", () => {
    const file = fileOf(SECRET, 0o644);
    expect(run(file)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^WARNING [^\n]+\nconfig OK\n$/) as string,
      stderr: "",
    });
    expect(run(file, { strict: true })).toMatchObject({
      code: 1,
      stderr: "a warning counts as an error\n",
    });
    expect(run(file, { strict: true, json: true })).toMatchObject({ code: 1, stderr: "" });
    expect(run(undefined, { strict: true }).code).toBe(0);
  });

  it("says in one line of a file that cannot be read, or is no YAML, that it is invalid", () => {
    const missing = join(temporaryFolder(), "missing.yaml");
    expect(run(missing)).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^config invalid: [^\n]*missing\.yaml: cannot be read[^\n]*\n$/,
      ) as string,
    });
    expect(run(fileOf("a: [\n"))).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^config invalid: [^\n]*is not valid YAML[^\n]*\n$/) as string,
    });
    expect(JSON.parse(run(missing, { json: true }).stdout)).toMatchObject([
      { severity: "error", path: missing },
    ]);
  });

  it.each([
    ["Latin-1", Buffer.from("# a\nresource: {attributes: {place: 'K\u00f6ln'}}\n", "latin1"), 2],
    ["UTF-16", Buffer.from("\ufeffservices: {dedup: false}\n", "utf16le"), 1],
    ["UTF-8 that was cut", Buffer.from("# a\n# b\n# \u00f6").subarray(0, -1), 3],
  ])("says that a file is in %s rather than alter its text", (_encoding, bytes, line) => {
    const file = fileOf(bytes);
    expect(run(file)).toEqual({
      code: 1,
      stdout: "",
      stderr: `config invalid: ${file}: is not UTF-8 (line ${line}) \u2014 save it as UTF-8.\n`,
    });
    expect(JSON.parse(run(file, { json: true }).stdout)).toEqual([
      {
        severity: "error",
        path: file,
        message: `is not UTF-8 (line ${line})`,
        remediation: "save it as UTF-8.",
      },
    ]);
  });

  it("takes UTF-8 of any characters, with or without a byte order mark", () => {
    const text = "resource: {attributes: {place: 'K\u00f6ln \ud83d\ude80 \ufffd'}}\n";
    for (const file of [fileOf(text), fileOf(`\ufeff${text}`)]) expect(run(file).code).toBe(0);
  });

  it("warns of a path that is not there or is of another kind, by its key and with what to do; such a configuration is sound", () => {
    const folder = temporaryFolder();
    const lines = join(folder, "lines.jsonl");
    writeFileSync(lines, "{}\n");
    const archives = (...paths: readonly string[]): string =>
      `dedup: {archives: [{name: a, kind: folder, path: ${paths[0]}}, {name: b, kind: jsonl, path: ${paths[1]}}]}\n`;
    expect(run(fileOf(archives(folder, lines)))).toEqual({
      code: 0,
      stdout: "config OK\n",
      stderr: "",
    });
    const away = join(folder, "away");
    const wrong = run(
      fileOf(
        `${archives(away, folder)}state: {directory: ${lines}/state}\ntokens: {audit: [{file_path: ${lines}/audit.log}], seal: {key_file: ${away}}}\n`,
      ),
    );
    expect(wrong).toMatchObject({ code: 0, stderr: "" });
    expect(wrong.stdout.trimEnd().split("\n").toSorted()).toEqual([
      `WARNING dedup.archives[0].path: ${away} does not exist — mount or make it, or correct the path.`,
      `WARNING dedup.archives[1].path: ${folder} is a folder — give the path of a file.`,
      `WARNING state.directory: ${lines} is no folder — check the path and its permissions.`,
      `WARNING tokens.audit[0].file_path: ${lines} is no folder — check the path and its permissions.`,
      `WARNING tokens.seal.key_file: ${away} does not exist — check the path and its permissions.`,
      "config OK",
    ]);
    expect(run(fileOf(archives(away, lines)), { strict: true }).code).toBe(1);
    expect(run(fileOf(`services: {dedup: false}\n${archives(away, away)}`))).toEqual({
      code: 0,
      stdout: "config OK\n",
      stderr: "",
    });
  });

  it("takes folders that Steward makes, whether they are there or not", () => {
    const folder = temporaryFolder();
    const [state, backup, flows, geoip] = ["state", "backup", "flows", "geoip"].map((name) =>
      join(folder, name),
    );
    const file = fileOf(
      [
        `state: {directory: ${state}, backup: {directory: ${backup}}}`,
        `flows: {store: {directory: ${flows}}}`,
        `enrichment: {geoip: {enabled: true, download: {enabled: true, account_id: "1", license_key: k, directory: ${geoip}}}}`,
        `checkpoint: {file_path: ${state}/checkpoints.mdb}`,
      ].join("\n"),
    );
    const sound = { code: 0, stdout: "config OK\n", stderr: "" };
    expect(run(file, { strict: true })).toEqual(sound);
    for (const each of [state, backup, flows, geoip]) mkdirSync(each ?? "");
    expect(run(file, { strict: true })).toEqual(sound);
  });
});
