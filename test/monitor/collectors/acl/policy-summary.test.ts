import { describe, expect, it } from "vitest";
import { summarizePolicy } from "../../../../src/monitor/collectors/acl/policy-summary.ts";

const { signal } = new AbortController();

describe("The summary of a policy", () => {
  it("leaves out what is not there and does not judge a section that is no list", async () => {
    const summary = await summarizePolicy({ acls: null, grants: { a: 1 }, hosts: {} }, signal);
    expect([...summary.entries]).toEqual([
      ["grants", 1],
      ["hosts", 0],
    ]);
    expect(summary).toMatchObject({
      risks: [],
      sshWildcards: 0,
      autoApprovers: { routes: 0, exit_node: 0, services: 0 },
    });
  });

  it("counts a gated rule that denies, and nothing else of it", async () => {
    const summary = await summarizePolicy(
      { acls: [{ action: "deny", src: ["*"], dst: ["*:*"], srcPosture: ["p"] }] },
      signal,
    );
    expect(summary.risks).toEqual([
      {
        section: "acls",
        wildcardSources: 0,
        wildcardDestinations: 0,
        unrestricted: 0,
        postureGated: 1,
        riskyRules: [],
      },
    ]);
  });

  it("counts rules of ssh with a wildcard on either side, whatever they do", async () => {
    const ssh = [
      { action: "deny", src: ["*"], dst: ["a"] },
      { src: ["a"], dst: ["*"] },
      { src: ["*"], dst: ["*"] },
      { src: ["a"], dst: ["b"] },
    ];
    expect((await summarizePolicy({ ssh }, signal)).sshWildcards).toBe(3);
  });

  it("counts every open rule and keeps the texts of a hundred", async () => {
    const acls = Array.from({ length: 5_000 }, () => ({ src: ["*"], dst: ["*:*"] }));
    const [risk] = (await summarizePolicy({ acls }, signal)).risks;
    expect(risk).toMatchObject({
      unrestricted: 5_000,
      wildcardSources: 5_000,
      wildcardDestinations: 5_000,
    });
    expect(risk?.riskyRules).toHaveLength(100);
  });
});
