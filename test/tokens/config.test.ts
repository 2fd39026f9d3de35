import { describe, expect, it } from "vitest";
import { formatFinding } from "../../src/kernel/config/findings.ts";
import { loadConfig, type LoadResult } from "../../src/kernel/config/load.ts";
import {
  tokensAudit,
  tokensKeys,
  tokensMounts,
  tokensSealKeyFile,
  tokensSealType,
} from "../../src/tokens/config.ts";

function load(yaml: string): LoadResult {
  return loadConfig({
    file: "/etc/steward/f.yaml",
    environment: {},
    schema: tokensKeys,
    readFile: () => yaml,
  });
}

function problems(yaml: string): string[] {
  return load(yaml).findings.map(formatFinding);
}

const mounts = (...paths: readonly string[]) =>
  `tokens:\n  mounts:\n${paths.map((path) => `    - {path: ${path}}\n`).join("")}`;

describe("the tokens service's keys", () => {
  it("have defaults: one mount, a key file, one audit file in the state folder", () => {
    const { config, findings } = load("tokens: {}\n");
    expect(findings).toEqual([]);
    expect([
      config?.list(tokensMounts),
      config?.get(tokensSealType),
      config?.get(tokensSealKeyFile),
      config?.list(tokensAudit),
    ]).toEqual([
      [{ path: "github", description: "", default_lease_ttl: 0, max_lease_ttl: 0 }],
      "file",
      "",
      [
        {
          file_path: "audit.log",
          format: "json",
          hmac_accessor: true,
          elide_list_responses: false,
        },
      ],
    ]);
  });

  it("take mounts with their times and audit files with their options", () => {
    const { config, findings } = load(
      "tokens:\n  mounts:\n    - {path: github, description: ours, default_lease_ttl: 30m, max_lease_ttl: 1h}\n    - {path: teams/web/}\n  seal: {key_file: keys/tokens}\n  audit:\n    - {file_path: /var/log/steward.log, hmac_accessor: false, elide_list_responses: true}\n",
    );
    expect(findings).toEqual([]);
    expect(config?.list(tokensMounts)).toEqual([
      {
        path: "github",
        description: "ours",
        default_lease_ttl: 1_800_000,
        max_lease_ttl: 3_600_000,
      },
      { path: "teams/web/", description: "", default_lease_ttl: 0, max_lease_ttl: 0 },
    ]);
    expect(config?.get(tokensSealKeyFile)).toBe("/etc/steward/keys/tokens");
    expect(config?.list(tokensAudit)).toEqual([
      {
        file_path: "/var/log/steward.log",
        format: "json",
        hmac_accessor: false,
        elide_list_responses: true,
      },
    ]);
  });

  it("refuse paths that the house keeps, that are no paths, and that lie inside each other", () => {
    for (const reserved of ["sys", "auth/x", "cubbyhole/", "/identity"])
      expect(problems(mounts(reserved))[0]).toContain("is reserved");
    for (const wrong of ['"a b"', "a//b", "..", '"/"'])
      expect(problems(mounts(wrong))[0]).toContain("tokens.mounts[0].path: is not usable");
    expect(problems(mounts("github", "github/"))[0]).toContain("github/ is there twice");
    expect(problems(mounts("a/b", "a"))[0]).toContain("must not have nested paths: a/ and a/b/");
    expect(problems(mounts("a", "ab"))).toEqual([]);
    expect(
      problems(
        "tokens:\n  mounts:\n    - {path: a, default_lease_ttl: 2h, max_lease_ttl: 1h}\n",
      )[0],
    ).toContain("tokens.mounts[0].default_lease_ttl: must not be longer than max_lease_ttl");
  });

  it("refuse what this version cannot do and say so", () => {
    expect(problems("tokens: {seal: {type: transit}}\n")[0]).toContain("tokens.seal.type");
    expect(problems("tokens: {seal: {type: shamir}}\n")).toEqual([]);
    expect(problems("tokens:\n  audit:\n    - {file_path: a, format: jsonx}\n")[0]).toContain(
      'is "jsonx", which this version does not write',
    );
  });

  it("warn of no audit, and refuse files twice and folders", () => {
    expect(problems("tokens: {audit: []}\n")).toEqual([
      expect.stringMatching(/^WARNING tokens\.audit: is empty/),
    ]);
    expect(
      problems("tokens:\n  audit:\n    - {file_path: a}\n    - {file_path: a}\n")[0],
    ).toContain("a is there twice");
    expect(problems("tokens:\n  audit:\n    - {file_path: logs/}\n")[0]).toContain(
      "must be a file, not a folder",
    );
    expect(problems("tokens:\n  audit:\n    - {file_path: ~/x}\n")[0]).toContain("without ~");
  });
});
