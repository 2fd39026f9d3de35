import { describe, expect, it } from "vitest";
import { createPolicies } from "../../../../src/tokens/vault/policies/policies.ts";
import { policyTables } from "../../../../src/tokens/vault/policies/tables.ts";
import { parsePolicy } from "../../../../src/tokens/vault/policies/policy-text.ts";
import { DEFAULT_POLICY_TEXT } from "../../../../src/tokens/vault/policies/built-in.ts";
import { createManualClock } from "../../../kernel/supervisor/manual-clock.ts";
import { openUnsealed } from "../fixtures/environment.ts";

async function bench() {
  const clock = createManualClock();
  const { env } = await openUnsealed(policyTables);
  const policies = createPolicies({ env, clock });
  return {
    env,
    clock,
    policies,
    reads: (path: string, ...names: readonly string[]) =>
      policies.acl(names).check({ operation: "read", path, data: {}, sudo: false }).allowed,
  };
}

describe("the policies", () => {
  it("begin with default and root", async () => {
    const { policies } = await bench();
    expect(policies.list()).toEqual(["default", "root"]);
    expect(policies.get("default")?.text).toBe(DEFAULT_POLICY_TEXT);
    expect(parsePolicy(DEFAULT_POLICY_TEXT).length).toBeGreaterThan(10);
    expect(policies.get("root")).toEqual({ name: "root", text: "" });
    expect(policies.get("none")).toBeUndefined();
  });

  it("are kept by their names in lower case, root listed last", async () => {
    const { policies } = await bench();
    await policies.write("Zoo", 'path "z" { policy = "read" }');
    await policies.write("apes", 'path "a" { policy = "read" }');
    expect(policies.list()).toEqual(["apes", "default", "zoo", "root"]);
    expect(policies.get("ZOO")).toEqual({ name: "zoo", text: 'path "z" { policy = "read" }' });
    await policies.delete("zoO");
    await policies.delete("zoo");
    expect(policies.get("zoo")).toBeUndefined();
  });

  it("take effect with the write, also where they were compiled before", async () => {
    const { policies, reads } = await bench();
    expect(reads("a", "p")).toBe(false);
    await policies.write("p", 'path "a" { policy = "read" }');
    expect(reads("a", "p")).toBe(true);
    await policies.write("p", 'path "a" { policy = "deny" }');
    expect(reads("a", "p")).toBe(false);
    await policies.write("p", 'path "a" { policy = "read" }');
    await policies.delete("p");
    expect(reads("a", "p")).toBe(false);
  });

  it("end rules on time", async () => {
    const { policies, reads, clock } = await bench();
    const end = new Date(Math.ceil(clock.now() / 1000) * 1000 + 10_000).toISOString();
    await policies.write("p", `path "a" { capabilities = ["read"] expiration = "${end}" }`);
    expect(reads("a", "p")).toBe(true);
    await clock.advance(11_000);
    expect(reads("a", "p")).toBe(false);
  });

  it("allow everything with root among them, nothing with unknown ones", async () => {
    const { policies } = await bench();
    expect(policies.acl(["x", "root"]).capabilities("a")).toEqual(["root"]);
    expect(policies.acl(["x"]).capabilities("a")).toEqual(["deny"]);
    expect(policies.acl(["default"]).capabilities("auth/token/lookup-self")).toEqual(["read"]);
  });

  it("take base64 and warn of likely mistakes", async () => {
    const { policies } = await bench();
    const text = 'path "github/token" { capabilities = ["update"] }';
    const { warnings } = await policies.write("p", Buffer.from(text).toString("base64"));
    expect(policies.get("p")?.text).toBe(text);
    expect(warnings).toEqual([expect.stringContaining("create")]);
  });

  it.each([
    ["root", "path", 'cannot update "root" policy'],
    ["Response-Wrapping", 'path "a" {}', 'cannot update "response-wrapping" policy'],
    ["a/", 'path "a" {}', "a policy's name"],
    ["/a", 'path "a" {}', "a policy's name"],
    ["p", "", "'policy' parameter not supplied or empty"],
    ["p", "path {", "line 1"],
    ["", 'path "a" {}', "a policy's name"],
    ["a\u0000", 'path "a" {}', "a policy's name"],
  ])("refuse to be %j with the text %j", async (name, text, why) => {
    const { policies } = await bench();
    await expect(policies.write(name, text)).rejects.toThrow(why);
    expect(policies.list()).toEqual(["default", "root"]);
  });

  it("keep default and root from being deleted, and let default be written", async () => {
    const { policies, reads } = await bench();
    await expect(policies.delete("default")).rejects.toThrow("cannot delete default policy");
    await expect(policies.delete("root")).rejects.toThrow("cannot delete root policy");
    await expect(policies.delete("response-wrapping")).rejects.toThrow(
      "cannot delete response-wrapping policy",
    );
    await policies.write("default", 'path "only" { policy = "read" }');
    expect(reads("only", "default")).toBe(true);
    expect(policies.list()).toEqual(["default", "root"]);
  });

  it("never lie in clear on disk and cannot be read while sealed", async () => {
    const { policies, env } = await bench();
    await policies.write("p", 'path "canary-path" { policy = "read" }');
    env.keyring?.seal();
    expect(() => policies.get("p")).toThrow("sealed");
    expect(() => policies.acl(["p"])).toThrow("sealed");
  });
});
