import { describe, expect, it } from "vitest";
import { riskOf, ruleText } from "../../../../src/monitor/collectors/acl/rule-risk.ts";

describe("The risk of a rule", () => {
  it.each([
    [["*"], true],
    [["a", "*"], true],
    ["*", true],
    [["**"], false],
    [["*:22"], false],
    [[1, null], false],
    [undefined, false],
  ])("has a wildcard source in %j: %j", (src, wildcard) => {
    expect(riskOf({ src }).wildcardSource).toBe(wildcard);
  });

  it.each([
    [["*"], true],
    [["*:*"], true],
    [["*:22"], true],
    [["a:*"], false],
    [["a:b:*"], false],
    [["*:a:22"], false],
    [[""], false],
  ])("has a wildcard destination in %j: %j", (dst, wildcard) => {
    expect(riskOf({ dst }).wildcardDestination).toBe(wildcard);
  });

  it("reads the older names of both lists, whatever their case, and only when the newer are not there", () => {
    expect(riskOf({ Users: ["*"], Ports: ["*:*"] })).toMatchObject({
      wildcardSource: true,
      wildcardDestination: true,
    });
    expect(riskOf({ src: ["a"], users: ["*"] }).wildcardSource).toBe(false);
  });

  it.each([
    ["deny", false],
    ["Deny", false],
    ["accept", true],
    [undefined, true],
  ])("lets something through with the action %j: %j", (action, allows) => {
    expect(riskOf({ action }).allows).toBe(allows);
  });

  it.each([
    [["posture:ok"], true],
    [{ a: 1 }, true],
    ["posture:ok", true],
    [[], false],
    [{}, false],
    [null, false],
    ["", false],
    [undefined, false],
  ])("is gated by the posture %j: %j", (srcPosture, gated) => {
    expect(riskOf({ srcPosture }).postureGated).toBe(gated);
  });

  it("is none for what is no rule", () => {
    for (const rule of [null, "*", 7, ["*"]])
      expect(riskOf(rule)).toEqual({
        wildcardSource: false,
        wildcardDestination: false,
        allows: false,
        postureGated: false,
      });
  });

  it("is told with both lists, cut to a length", () => {
    expect(ruleText({ src: ["*", "a"], dst: ["*:*"] }, 100)).toBe("src=*,a dst=*:*");
    expect(ruleText({ src: ["abcdef"], dst: [] }, 8)).toBe("src=abc…");
  });
});
