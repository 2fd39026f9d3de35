import { describe, expect, it } from "vitest";
import { parsePolicy, validatePolicy } from "../../../src/demo/tailscale/policy-check.ts";

const check = (policy: object): unknown => validatePolicy(JSON.stringify(policy), "{}");

describe("policies", () => {
  it("are HuJSON: comments and commas at the end are no errors, half an object is", () => {
    expect(parsePolicy('{ // a\n "acls": [1,], /* b */ }')).toEqual({ acls: [1] });
    for (const text of ["{", "7", "null", "{a: 1}"]) expect(parsePolicy(text)).toBeUndefined();
  });

  it("hold a test by address, group, star and range of ports", () => {
    const acls = [{ action: "accept", src: ["group:a"], dst: ["tag:x:80-90,443"] }];
    const groups = { "group:a": ["ada@corp.test"] };
    expect(
      check({
        acls,
        groups,
        tests: [
          {
            src: "ada@corp.test",
            accept: ["tag:x:85", "tag:x:443"],
            deny: ["tag:x:91", "tag:y:85"],
          },
        ],
      }),
    ).toEqual({});
    expect(
      check({ acls, groups, tests: [{ src: "bob@corp.test", accept: ["tag:x:85"] }] }),
    ).toMatchObject({
      data: [{ user: "bob@corp.test", errors: ['address "tag:x:85": want: Accept, got: Drop'] }],
    });
    expect(
      check({
        acls: [{ action: "accept", src: ["*"], dst: ["*:*"] }],
        tests: [{ src: "x", accept: ["y:1"] }],
      }),
    ).toEqual({});
  });

  it("count grants and leave rules that deny out", () => {
    const tests = [{ src: "ada@corp.test", accept: ["tag:x:443"] }];
    expect(
      check({ grants: [{ src: ["autogroup:member"], dst: ["tag:x"], ip: ["tcp:443"] }], tests }),
    ).toEqual({});
    expect(check({ acls: [{ action: "drop", src: ["*"], dst: ["*:*"] }], tests })).toMatchObject({
      message: "test(s) failed",
    });
  });

  it("bear any nonsense that parses", () => {
    for (const policy of [
      { acls: 7, groups: "x", tests: [null, { src: 1, accept: [2] }] },
      { grants: [{}] },
      {},
    ])
      expect(check(policy)).toEqual({});
  });
});
