import { describe, expect, it } from "vitest";
import { acl } from "../../../src/monitor/collectors/acl.ts";
import type { Policy, PolicyFindings } from "../../../src/monitor/providers/model.ts";
import { AccessPolicy } from "../../../src/monitor/policy/access-policy.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const text = `{ // of the demo
  "groups": {"group:eng": ["ada@corp.test"]},
  "tagOwners": {"tag:ci": ["group:eng"]},
  "acls": [
    {"action": "accept", "src": ["*"], "dst": ["*:*"]},
    {"action": "accept", "src": ["*"], "dst": ["tag:ci:22"], "srcPosture": ["posture:ok"]},
    {"action": "deny", "src": ["*"], "dst": ["*:*"]},
  ],
  "grants": [{"src": ["group:eng"], "dst": ["tag:ci"], "ip": ["tcp:443"], "srcPosture": []}],
  "ssh": [{"action": "check", "src": ["*"], "dst": ["autogroup:self"], "users": ["root"]}],
  "autoApprovers": {"routes": {"10.20.0.0/16": ["tag:ci"]}, "exitNode": ["group:eng", "tag:ci"]},
  "tests": [{"src": "ada@corp.test", "accept": ["tag:ci:443"]}], /* the end */
}`;
const policy = (more: Partial<Policy> = {}): Policy => ({
  text,
  etag: "e1",
  updatedMs: undefined,
  ...more,
});
const clean: PolicyFindings = { ok: true, errors: [], testFailures: [], warnings: [] };
const quiet = { collectors: { acl: { intervalMs: 60_000, validate: false } } };

describe("The collector of the policy", () => {
  it("counts what is in a policy and how open it is", async () => {
    const harness = openCollector(acl, createFakeProvider({ policy: policy() }), quiet);
    const seconds = Math.floor(harness.clock.now() / 1_000);
    await harness.run();
    const rules = (counts: Record<string, number>) =>
      Object.entries(counts).map(
        ([section, count]) => `vpn.acl.rules{vpn.acl.section="${section}"} ${count}`,
      );
    expect(harness.series()).toEqual([
      'vpn.acl.autoapprovers{vpn.acl.autoapprover_kind="exit_node"} 2',
      'vpn.acl.autoapprovers{vpn.acl.autoapprover_kind="routes"} 1',
      'vpn.acl.autoapprovers{vpn.acl.autoapprover_kind="services"} 0',
      `vpn.acl.last_changed ${seconds}`,
      'vpn.acl.posture_gated_rules{vpn.acl.section="acls"} 1',
      'vpn.acl.posture_gated_rules{vpn.acl.section="grants"} 0',
      ...rules({ acls: 3, autoApprovers: 2, grants: 1, groups: 1, ssh: 1, tagOwners: 1, tests: 1 }),
      `vpn.acl.size ${text.length}`,
      "vpn.acl.ssh_wildcard 1",
      'vpn.acl.unrestricted_rules{vpn.acl.section="acls"} 1',
      'vpn.acl.unrestricted_rules{vpn.acl.section="grants"} 0',
      'vpn.acl.wildcard_rules{vpn.acl.section="acls",vpn.acl.position="dst"} 1',
      'vpn.acl.wildcard_rules{vpn.acl.section="acls",vpn.acl.position="src"} 2',
      'vpn.acl.wildcard_rules{vpn.acl.section="grants",vpn.acl.position="dst"} 0',
      'vpn.acl.wildcard_rules{vpn.acl.section="grants",vpn.acl.position="src"} 0',
    ]);
    expect(harness.records()).toEqual([
      'warn vpn.acl.risky_rule {"vpn.acl.section":"acls","vpn.acl.rule":"src=* dst=*:*"} a rule of acls lets every source reach every destination: src=* dst=*:*',
    ]);
  });

  it("knows a change by the tag of the policy, or by the time that the control plane tells", async () => {
    const provider = createFakeProvider({ policy: policy() });
    const harness = openCollector(acl, provider, quiet);
    const changed = () => Number(harness.series("vpn.acl.last_changed")[0]?.split(" ")[1]);
    await harness.run();
    const first = changed();
    await harness.clock.advance(60_000);
    await harness.run();
    expect(changed()).toBe(first);
    provider.answers.policy = policy({ etag: "e2" });
    await harness.run();
    expect(changed()).toBe(first + 60);
    provider.answers.policy = policy({ etag: "e2", updatedMs: 1_600_000_000_500 });
    await harness.run();
    expect(changed()).toBe(1_600_000_000);
  });

  it("warns in every run of the same policy, and ends what a new one has not", async () => {
    const provider = createFakeProvider({ policy: policy() });
    const harness = openCollector(acl, provider, quiet);
    await harness.run();
    await harness.run();
    expect(harness.records()).toHaveLength(2);
    provider.answers.policy = policy({ etag: "e2", text: '{"acls": []}' });
    await harness.run();
    expect(harness.series("vpn.acl.rules")).toEqual(['vpn.acl.rules{vpn.acl.section="acls"} 0']);
    expect(harness.series("vpn.acl.unrestricted_rules")).toEqual([
      'vpn.acl.unrestricted_rules{vpn.acl.section="acls"} 0',
    ]);
    expect(harness.series("vpn.acl.ssh_wildcard")).toEqual(["vpn.acl.ssh_wildcard 0"]);
  });

  it("tells only size and change of a policy that does not parse, and has it not validated", async () => {
    const provider = createFakeProvider({
      policy: policy({ text: '{"acls": [' }),
      validatePolicy: clean,
    });
    const harness = openCollector(acl, provider);
    await harness.run();
    expect(harness.series().map((line) => line.split(" ")[0])).toEqual([
      "vpn.acl.last_changed",
      "vpn.acl.size",
    ]);
    expect(provider.calls).toEqual(["policy"]);
  });

  it("counts bytes, not characters", async () => {
    const harness = openCollector(
      acl,
      createFakeProvider({ policy: policy({ text: '{"acls":[]} // ü' }) }),
      quiet,
    );
    await harness.run();
    expect(harness.series("vpn.acl.size")).toEqual(["vpn.acl.size 17"]);
  });

  it("takes none stored for a feature that is off, with nothing in any section", async () => {
    const harness = openCollector(acl, createFakeProvider({ policy: "none" }));
    await harness.run();
    expect(harness.states.get("getPolicyFile")).toBe("disabled");
    expect(harness.series()).toHaveLength(10);
    expect(harness.series().every((line) => /^vpn\.acl\.rules\{.*\} 0$/.test(line))).toBe(true);
  });

  it("fails when the policy cannot be had", async () => {
    const harness = openCollector(
      acl,
      createFakeProvider({
        policy: () => {
          throw failing(403);
        },
      }),
    );
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
    expect(harness.states.get("getPolicyFile")).toBe("scope_denied");
  });

  it.each([
    ["a policy", () => policy()],
    ["none", () => "none" as const],
    [
      "a refusal",
      () => {
        throw failing(403);
      },
    ],
  ])("lets flows wait for its first answer only, also when that is %s", async (_what, answer) => {
    const accessPolicy = new AccessPolicy();
    const harness = openCollector(acl, createFakeProvider({ policy: answer }), {
      ...quiet,
      deps: { accessPolicy },
    });
    expect(accessPolicy.isSettled).toBe(false);
    await harness.run().catch(() => undefined);
    expect(accessPolicy.isSettled).toBe(true);
    await accessPolicy.settled;
  });

  it("remembers nothing of a policy that it was told to stop reading", async () => {
    const stop = new AbortController();
    const rules = JSON.stringify({
      acls: Array.from({ length: 1_200 }, () => ({ src: ["a"], dst: ["b:1"] })),
    });
    const provider = createFakeProvider({
      policy: () => {
        setImmediate(() => stop.abort(new Error("stopping")));
        return policy({ text: rules });
      },
    });
    const harness = openCollector(acl, provider, quiet);
    await expect(harness.run({ signal: stop.signal })).rejects.toThrow("stopping");
    provider.answers.policy = policy({ text: rules });
    await harness.run();
    expect(harness.series("vpn.acl.rules")).toEqual(['vpn.acl.rules{vpn.acl.section="acls"} 1200']);
  });
});
