import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Operation } from "../../../../src/tokens/logical/types.ts";
import { compileAcl, rootAcl } from "../../../../src/tokens/vault/policies/acl.ts";
import { capabilityNames } from "../../../../src/tokens/vault/policies/capabilities.ts";
import { parsePolicy } from "../../../../src/tokens/vault/policies/policy-text.ts";
import type { Acl } from "../../../../src/tokens/vault/types.ts";

function aclOf(...texts: readonly string[]): Acl {
  return compileAcl(
    texts.map((text, index) => ({ name: `p${index}`, rules: parsePolicy(text) })),
    0,
  );
}

function may(
  acl: Acl,
  operation: Operation,
  path: string,
  extra: { sudo?: boolean; data?: Record<string, unknown> } = {},
): boolean {
  return acl.check({ operation, path, data: extra.data ?? {}, sudo: extra.sudo ?? false }).allowed;
}

/**
 * A policy whose rules grant one capability each, so that the answer tells which rule was taken.
 */
const NAMES = ["create", "read", "update", "patch", "delete", "list", "sudo"];
function oneEach(...paths: readonly string[]): Acl {
  return aclOf(
    paths.map((path, index) => `path "${path}" { capabilities = ["${NAMES[index]}"] }`).join("\n"),
  );
}

describe("an access list", () => {
  it.each<[readonly string[], string, number]>([
    [["a/b", "a/*"], "a/b", 0],
    [["a/*", "a/b*"], "a/bc", 1],
    [["a/+/c", "a/b/*"], "a/b/c", 1],
    [["foo/+/baz", "foo/*"], "foo/x/baz", 0],
    [["foo/+/bar", "foo/+/ba*"], "foo/x/bar", 0],
    [["foo/+", "foo/*"], "foo/x", 0],
    [["foo/bar/+/baz", "foo/+/bar/baz"], "foo/bar/bar/baz", 0],
    [["+/+/c", "+/b/c"], "a/b/c", 1],
    [["a/+/b*", "a/+/bar/ba*"], "a/x/bar/baz", 1],
    [["+", "*"], "a", 0],
    [["a/+/*", "a/*"], "a/b/c/d", 1],
    [["a/+b/c", "a/*"], "a/+b/c", 0],
  ])("takes of %j for %s only rule %i", (paths, path, index) => {
    expect(oneEach(...paths).capabilities(path)).toEqual([NAMES[index]]);
  });

  it("knows no rule for what only looks alike", () => {
    for (const [rule, path] of [
      ["a/+", "a/b/c"],
      ["a/+/c", "a/c"],
      ["a/*", "a"],
      ["a+/b", "ax/b"],
      ["a/*/c", "a/b/c"],
    ] as const) {
      expect(oneEach(rule).capabilities(path), `${rule} ${path}`).toEqual(["deny"]);
    }
  });

  it("joins what policies grant on the same path, and denies when one denies", () => {
    const both = aclOf(
      'path "a/*" { capabilities = ["read"] }',
      'path "a/*" { capabilities = ["update"] }',
      'path "a/b" { policy = "deny" }',
    );
    expect(both.capabilities("a/x")).toEqual(["read", "update"]);
    expect(both.check({ operation: "read", path: "a/x", data: {}, sudo: false })).toEqual({
      allowed: true,
      granting: ["p0"],
      wrap: {},
      root: false,
    });
    expect(may(both, "read", "a/b")).toBe(false);
    for (const texts of [
      ['path "a" { policy = "deny" }', 'path "a" { policy = "sudo" }'],
      ['path "a" { policy = "sudo" }', 'path "a" { policy = "deny" }'],
    ]) {
      expect(aclOf(...texts).capabilities("a")).toEqual(["deny"]);
    }
  });

  it("looks for lists without their slash first", () => {
    const acl = aclOf(
      'path "a/b" { capabilities = ["list"] } path "c/+" { capabilities = ["list"] } path "d/*" { capabilities = ["list"] } path "d/e/" { capabilities = ["deny"] }',
    );
    expect(may(acl, "list", "a/b/")).toBe(true);
    expect(may(acl, "list", "c/x/")).toBe(true);
    expect(may(acl, "list", "d/")).toBe(true);
    expect(may(acl, "list", "d/e/")).toBe(false);
    expect(may(acl, "read", "a/b/")).toBe(false);
  });

  it("asks for sudo where it is needed", () => {
    const acl = aclOf(
      'path "a" { capabilities = ["read"] } path "b" { capabilities = ["read", "sudo"] }',
    );
    expect(may(acl, "read", "a", { sudo: true })).toBe(false);
    expect(may(acl, "read", "b", { sudo: true })).toBe(true);
    expect(may(acl, "update", "b", { sudo: true })).toBe(false);
  });

  it("lets everybody ask for help, and treats revocation and renewal as updates", () => {
    const acl = aclOf('path "a" { capabilities = ["update"] }');
    expect(may(acl, "help", "x")).toBe(true);
    expect(may(acl, "revoke", "a")).toBe(true);
    expect(may(acl, "renew", "b")).toBe(false);
  });

  it("joins parameters of the same path and checks them for all but lists and deletions", () => {
    const acl = aclOf(
      'path "a" { capabilities = ["create", "list", "delete"] allowed_parameters = { "x" = ["1"] } required_parameters = ["x"] }',
      'path "a" { capabilities = ["update"] allowed_parameters = { "x" = ["2"], "y" = [] } }',
    );
    expect(may(acl, "create", "a", { data: { x: "2" } })).toBe(true);
    expect(may(acl, "create", "a", { data: { x: "3" } })).toBe(false);
    expect(may(acl, "update", "a", { data: { y: "3" } })).toBe(false);
    expect(may(acl, "update", "a", { data: { x: "1", y: "3" } })).toBe(true);
    expect(may(acl, "delete", "a", { data: { z: "1" } })).toBe(true);
    const open = aclOf(
      'path "a" { capabilities = ["create"] allowed_parameters = { "x" = ["1"] } }',
      'path "a" { capabilities = ["create"] allowed_parameters = { "x" = [] } }',
    );
    expect(may(open, "create", "a", { data: { x: "9" } })).toBe(true);
  });

  it("tells the shortest bounds of wrapping, and refuses when they contradict each other", () => {
    const acl = aclOf(
      'path "a" { capabilities = ["read"] min_wrapping_ttl = 30 max_wrapping_ttl = 90 }',
      'path "a" { capabilities = ["read"] max_wrapping_ttl = 60 }',
    );
    expect(acl.check({ operation: "read", path: "a", data: {}, sudo: false }).wrap).toEqual({
      minMs: 30_000,
      maxMs: 60_000,
    });
    const never = aclOf(
      'path "a" { capabilities = ["read"] min_wrapping_ttl = 90 }',
      'path "a" { capabilities = ["read"] max_wrapping_ttl = 60 }',
    );
    expect(may(never, "read", "a")).toBe(false);
  });

  it("leaves out rules that have ended", () => {
    const policies = [
      {
        name: "p",
        rules: parsePolicy(
          'path "a" { capabilities = ["read"] expiration = "2030-01-01T00:00:00Z" }',
        ),
      },
    ];
    expect(may(compileAcl(policies, Date.UTC(2029, 11)), "read", "a")).toBe(true);
    expect(may(compileAcl(policies, Date.UTC(2030, 0)), "read", "a")).toBe(false);
  });

  it.each<[string, string, boolean]>([
    ["a/b/c", "a/", true],
    ["a/b/c", "b/", false],
    ["a/*", "a/", true],
    ["*", "a/", true],
    ["a/b*", "a/", true],
    ["ab*", "a/", false],
    ["a/", "a/", true],
    ["+/b", "a/", true],
    ["a/+", "a/b/c/", false],
    ["a/+/*", "a/b/c/", true],
    ["+/+", "a/", true],
    ["b/+", "a/", false],
    ["a/+/c", "a/b/", true],
    ["a/+/c*", "a/b/cd/", true],
  ])("with a rule for %s knows something below %s: %j", (rule, prefix, verdict) => {
    expect(oneEach(rule).anyBelow(prefix)).toBe(verdict);
    expect(aclOf(`path "${rule}" { policy = "deny" }`).anyBelow(prefix)).toBe(false);
  });

  it("of root allows everything", () => {
    expect(rootAcl.check({ operation: "delete", path: "x", data: {}, sudo: true })).toEqual({
      allowed: true,
      granting: ["root"],
      wrap: {},
      root: true,
    });
    expect(rootAcl.capabilities("x")).toEqual(["root"]);
  });
});

/** The rules of facts §2.5 word by word, slowly. */
function reference(rules: readonly { path: string; set: number }[], path: string): number {
  const joined = (matching: readonly { path: string; set: number }[]): number => {
    const set = matching.reduce((all, rule) => all | rule.set, 0);
    return (set & 1) === 0 ? set : 1;
  };
  const hasPlus = (rule: string) => rule.split("/").includes("+");
  const exact = rules.filter(
    (rule) => rule.path === path && !rule.path.endsWith("*") && !hasPlus(rule.path),
  );
  if (exact.length > 0) return joined(exact);
  const asExpression = (rule: string) =>
    new RegExp(
      `^${rule
        .replace(/\*$/, "")
        .split("/")
        .map((segment) => (segment === "+" ? "[^/]*" : segment))
        .join("/")}${rule.endsWith("*") ? "[^]*" : ""}$`,
    );
  const found = rules.filter(
    (rule) => (rule.path.endsWith("*") || hasPlus(rule.path)) && asExpression(rule.path).test(path),
  );
  const worth = (rule: string): (number | string)[] => {
    const stem = rule.replace(/\*$/, "");
    const plus = hasPlus(rule) ? `/${rule}/`.indexOf("/+/") : -1;
    return [
      plus === -1 ? stem.length : plus,
      rule.endsWith("*") ? 0 : 1,
      -stem.split("/").filter((segment) => segment === "+").length,
      stem.length,
      stem,
    ];
  };
  const [best] = found.toSorted((a, b) => {
    const [left, right] = [worth(a.path), worth(b.path)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at === -1 ? 0 : (left[at] ?? 0) < (right[at] ?? 0) ? 1 : -1;
  });
  return best === undefined ? 0 : joined(found.filter((rule) => rule.path === best.path));
}

describe("the choice of the best rule", () => {
  const segment = fc.constantFrom("a", "b", "ab", "+", "");
  const path = fc
    .array(segment, { minLength: 1, maxLength: 4 })
    .map((segments) => segments.join("/"));
  const rule = fc
    .record({
      path: fc
        .tuple(path, fc.constantFrom("", "*", "a*"))
        .map(([start, end]) =>
          start.endsWith("+") && end !== "" ? `${start}/${end}` : start + end,
        ),
      set: fc.constantFrom(1, 4, 8, 16, 64),
    })
    .filter((one) => !one.path.startsWith("/"));
  const isRead = fc
    .array(fc.constantFrom("a", "b", "ab", "aba", ""), { minLength: 1, maxLength: 5 })
    .map((segments) => segments.join("/"))
    .filter((one) => !one.startsWith("/"));

  it("is that of the written rules, whatever the policies", () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 12 }), isRead, (rules, path) => {
        const policies = rules.map((one, index) => ({
          name: `p${index}`,
          rules: parsePolicy(
            `path "${one.path}" { capabilities = ${JSON.stringify(capabilityNames(one.set))} }`,
          ),
        }));
        const expected = reference(rules, path);
        const acl = compileAcl(policies, 0);
        expect(acl.check({ operation: "read", path, data: {}, sudo: false }).allowed).toBe(
          (expected & 8) !== 0,
        );
        if (!path.endsWith("/")) expect(acl.capabilities(path)).toEqual(capabilityNames(expected));
      }),
      { numRuns: 5_000 },
    );
  });
});
