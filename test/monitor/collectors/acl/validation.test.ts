import { describe, expect, it } from "vitest";
import { acl } from "../../../../src/monitor/collectors/acl.ts";
import type { PolicyFindings } from "../../../../src/monitor/providers/model.ts";
import { createFakeProvider, failing } from "../fake-provider.ts";
import { openCollector } from "../harness.ts";

const policy = { text: '{"acls": []}', etag: "e1", updatedMs: undefined };
const found: PolicyFindings = {
  ok: false,
  errors: ["ada@corp.test: no"],
  testFailures: ["one", "two"],
  warnings: [],
};

describe("Validating the policy", () => {
  it("shows what was found, and tells each kind of it once without its text", async () => {
    const harness = openCollector(acl, createFakeProvider({ policy, validatePolicy: found }));
    await harness.run();
    expect(harness.series("vpn.acl.validation")).toEqual([
      "vpn.acl.validation.errors 1",
      "vpn.acl.validation.ok 0",
      "vpn.acl.validation.test_failures 2",
      "vpn.acl.validation.warnings 0",
    ]);
    expect(harness.records()).toEqual([
      'warn vpn.acl.validation_issue {"vpn.acl.validation.kind":"error"} the policy\'s validation found issues of kind error: 1',
      'warn vpn.acl.validation_issue {"vpn.acl.validation.kind":"test_failure"} the policy\'s validation found issues of kind test_failure: 2',
    ]);
  });

  it("says ok of a policy in which nothing is found", async () => {
    const provider = createFakeProvider({
      policy,
      validatePolicy: { ok: true, errors: [], testFailures: [], warnings: [] },
    });
    const harness = openCollector(acl, provider);
    await harness.run();
    expect(harness.series("vpn.acl.validation.ok")).toEqual(["vpn.acl.validation.ok 1"]);
    expect(harness.records()).toEqual([]);
    expect(provider.calls).toEqual(["policy", 'validatePolicy {"acls": []}']);
  });

  it("fails no run: a failed one only has no points, and its operation a state", async () => {
    const provider = createFakeProvider({ policy, validatePolicy: found });
    const harness = openCollector(acl, provider);
    await harness.run();
    provider.answers.validatePolicy = () => {
      throw failing(500);
    };
    await harness.run();
    expect(harness.series("vpn.acl.validation")).toEqual([]);
    expect(harness.series("vpn.acl.size")).toHaveLength(1);
    expect(harness.states.get("validateAndTestPolicyFile")).toBe("transient_failure");
  });

  it("ends the run when that is cancelled", async () => {
    const stop = new AbortController();
    const provider = createFakeProvider({
      policy,
      validatePolicy: () => {
        stop.abort(new Error("stopping"));
        throw failing(500);
      },
    });
    await expect(openCollector(acl, provider).run({ signal: stop.signal })).rejects.toThrow(
      "stopping",
    );
  });

  it("is not asked for when it is off, and when the control plane has no such thing", async () => {
    const off = createFakeProvider({ policy, validatePolicy: found });
    await openCollector(acl, off, {
      collectors: { acl: { intervalMs: 60_000, validate: false } },
    }).run();
    const without = createFakeProvider(
      { policy, validatePolicy: found },
      { unsupported: ["validatePolicy"] },
    );
    await openCollector(acl, without).run();
    expect([...off.calls, ...without.calls]).toEqual(["policy", "policy"]);
  });
});
