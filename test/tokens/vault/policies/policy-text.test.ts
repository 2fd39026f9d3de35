import { describe, expect, it } from "vitest";
import { capabilityNames } from "../../../../src/tokens/vault/policies/capabilities.ts";
import { concernsMount, lintPolicy } from "../../../../src/tokens/vault/policies/lint.ts";
import { parsePolicy } from "../../../../src/tokens/vault/policies/policy-text.ts";

function granted(body: string): readonly string[] {
  const [rule] = parsePolicy(`path "a" { ${body} }`);
  return capabilityNames(rule?.capabilities ?? 0);
}

describe("the rules of a policy", () => {
  it("say what is granted, deny above all", () => {
    expect(granted('capabilities = ["read", "update"]')).toEqual(["read", "update"]);
    expect(granted('capabilities = ["read", "deny"]')).toEqual(["deny"]);
    expect(granted('capabilities = ["patch", "scan", "sudo"]')).toEqual(["patch", "sudo"]);
    expect(granted("capabilities = []")).toEqual(["deny"]);
  });

  it.each([
    ["deny", ["deny"]],
    ["read", ["list", "read"]],
    ["write", ["create", "delete", "list", "read", "update"]],
    ["sudo", ["create", "delete", "list", "read", "sudo", "update"]],
  ])('understand policy = "%s" of former days', (word, names) => {
    expect(granted(`policy = "${word}"`)).toEqual(names);
  });

  it("are the same in JSON, as an object and as a list", () => {
    const hcl = parsePolicy(
      'path "/a/*" { capabilities = ["read"] }\npath "b" { policy = "deny" }',
    );
    expect(
      parsePolicy('{"path": {"a/*": {"capabilities": ["read"]}, "b": {"policy": "deny"}}}'),
    ).toEqual(hcl);
    expect(
      parsePolicy('{"path": [{"a/*": {"capabilities": ["read"]}}, {"b": {"policy": "deny"}}]}'),
    ).toEqual(hcl);
    expect(hcl[0]?.path).toBe("a/*");
  });

  it("hold parameters in lower case, times and bounds of wrapping", () => {
    const [rule] = parsePolicy(`path "a" {
      comment = "why"
      allowed_parameters = { "TTL" = ["1h", 5, [1, "2"]] "*" = [] }
      denied_parameters { "Id" = [] }
      required_parameters = ["Name", "name"]
      min_wrapping_ttl = 60
      max_wrapping_ttl = "1h30m"
      expiration = "2030-01-01T00:00:00Z"
      mfa_methods = []
      pagination_limit = 0
    }`);
    expect(rule).toMatchObject({
      minWrapMs: 60_000,
      maxWrapMs: 5_400_000,
      expiresAtMs: Date.UTC(2030, 0),
    });
    expect(rule?.parameters).toEqual({
      required: ["name"],
      allowed: new Map<string, unknown>([
        ["ttl", ["1h", 5, [1, "2"]]],
        ["*", []],
      ]),
      denied: new Map([["id", []]]),
    });
  });

  it.each([
    ['key "a" {}', '"key" is not a key of a policy; known keys are path and name'],
    ["path { }", "path must be followed by one path"],
    ['path "a" "b" { }', "path must be followed by one path"],
    ['path "a" { capability = ["read"] }', '"capability" is not a key of a path'],
    ['path "a" { capabilities = ["reed"] }', 'line 1, column 28: invalid capability "reed"'],
    ['path "a" { capabilities = "read" }', "expected a list of strings"],
    ['path "a" { capabilities = [1] }', "expected a string in double quotes"],
    [
      'path "a" { capabilities = ["read"] capabilities = ["deny"] }',
      "capabilities must be given once",
    ],
    [
      '{"path": {"a": {"capabilities": ["deny"], "capabilities": ["read"]}}}',
      "capabilities must be given once",
    ],
    ['path "a" { policy = "all" }', 'invalid policy "all"'],
    ['path "a/+*" { }', "'+*' is forbidden"],
    ['path "a/{{identity.entity.id}}" { }', "templates are not supported"],
    ['path "a" { allowed_parameters = { "x" = "y" } }', "must be a list"],
    ['path "a" { denied_parameters = { "x" = ["a"] "X" = ["b"] } }', "must be given once"],
    [
      'path "a" { min_wrapping_ttl = "1h" max_wrapping_ttl = 60 }',
      "max_wrapping_ttl cannot be less than min_wrapping_ttl",
    ],
    ['path "a" { max_wrapping_ttl = "soon" }', '"soon" is not a duration'],
    ['path "a" { expiration = "tomorrow" }', "is not a time"],
    ['path "a" { mfa_methods = ["phone"] }', "mfa_methods is not supported"],
    ['path "a" { control_group = { ttl = "1h" } }', "control_group is not supported"],
    ['path "a" { pagination_limit = 10 }', "pagination_limit is not supported"],
    [
      'path "a" { list_scan_response_keys_filter_path = "a" }',
      "list_scan_response_keys_filter_path is not supported",
    ],
    ['{"path": "a"}', "path must be an object of paths"],
    ['path "a" { hasOwnProperty = 1 }', "is not a key of a path"],
  ])("are refused when they cannot be meant: %s", (text, why) => {
    expect(() => parsePolicy(text)).toThrow(why);
  });
});

describe("lint", () => {
  const warnings = (text: string) => lintPolicy(parsePolicy(text));

  it("tells of update without create where tokens are minted", () => {
    for (const path of [
      "github/token",
      "github/token/ci",
      "github/token*",
      "github/token/*",
      "a/b/token/+",
    ]) {
      expect(warnings(`path "${path}" { capabilities = ["update"] }`)).toEqual([
        expect.stringContaining('grant "create" besides "update"'),
      ]);
      expect(warnings(`path "${path}" { capabilities = ["create", "update"] }`)).toEqual([]);
    }
    expect(warnings('path "auth/token/create" { capabilities = ["update"] }')).toEqual([]);
    expect(warnings('path "github/tokens" { capabilities = ["update"] }')).toEqual([]);
  });

  it("belongs to the mounts that a rule can match", () => {
    const concerns = (path: string, point: string): boolean =>
      parsePolicy(`path "${path}" { policy = "read" }`).some((rule) => concernsMount(rule, point));
    for (const path of [
      "team/gh/token",
      "team/gh/*",
      "team/+/token",
      "+/gh/token",
      "team/*",
      "te*",
      "*",
      "+/+/token",
    ])
      expect([path, concerns(path, "team/gh/")]).toEqual([path, true]);
    for (const path of [
      "team/other/token",
      "team/ghost",
      "team",
      "+/other/token",
      "tex*",
      "github/token",
    ])
      expect([path, concerns(path, "team/gh/")]).toEqual([path, false]);
  });

  it("tells of wildcards that are none and of rules that grant nothing", () => {
    expect(warnings('path "a/*/b" { policy = "read" }')).toEqual([
      expect.stringContaining("only at the end"),
    ]);
    expect(warnings('path "a/+b/c" { policy = "read" }')).toEqual([
      expect.stringContaining("only as a whole segment"),
    ]);
    expect(warnings('path "a/b+/c" { policy = "read" }')).toEqual([
      expect.stringContaining("only as a whole segment"),
    ]);
    expect(warnings('path "a/+/b" { policy = "read" }')).toEqual([]);
    expect(warnings('path "a" { }')).toEqual([expect.stringContaining("grants nothing")]);
  });
});
