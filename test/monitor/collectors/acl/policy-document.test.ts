import { describe, expect, it } from "vitest";
import {
  field,
  MAX_POLICY_LENGTH,
  parsePolicy,
  sizeOf,
} from "../../../../src/monitor/collectors/acl/policy-document.ts";

describe("The text of a policy", () => {
  it("may hold comments and trailing commas", () => {
    expect(parsePolicy('// a\n{"acls": [1, 2,], /* b */ "hosts": {"a": "10.0.0.1",},}')).toEqual({
      acls: [1, 2],
      hosts: { a: "10.0.0.1" },
    });
  });

  it.each([
    "",
    "   ",
    "[]",
    "null",
    '"text"',
    '{"acls": [}',
    '{"acls": []} more',
    "{'acls': []}",
    '{"a" "b"}',
    "{/* never closed",
  ])("is no policy: %j", (text) => {
    expect(parsePolicy(text)).toBeUndefined();
  });

  it("is not parsed when it is too long or nested too deeply", () => {
    expect(parsePolicy(`{}${" ".repeat(MAX_POLICY_LENGTH)}`)).toBeUndefined();
    expect(parsePolicy(`{"a":${"[".repeat(1_000_000)}`)).toBeUndefined();
  });

  it("has its fields in any case, the exact one first, and none that every object has", () => {
    expect(field({ ACLs: [1] }, "acls")).toEqual([1]);
    expect(field({ ACLs: [1], acls: [2] }, "acls")).toEqual([2]);
    expect(field({}, "toString")).toBeUndefined();
    expect(field(parsePolicy('{"__proto__": {"acls": [1]}}') ?? {}, "acls")).toBeUndefined();
  });

  it("has sections of a size when they are lists or objects", () => {
    expect([[1, 2], { a: 1 }, {}, null, 3, "text", undefined].map(sizeOf)).toEqual([
      2,
      1,
      0,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
