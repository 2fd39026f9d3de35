import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EngineInfoFieldsSchema,
  EnginePermissionSetFieldsSchema,
  EnginePermissionSetTokenFieldsSchema,
} from "../../../src/gen/steward/tokens/v1/engine_pb.ts";
import { definePath, type PathSpec } from "../../../src/tokens/logical/define-path.ts";
import { compilePattern } from "../../../src/tokens/logical/pattern.ts";
import { createRouter } from "../../../src/tokens/logical/router.ts";
import type { Path, PathHandler } from "../../../src/tokens/logical/types.ts";

const done: PathHandler = () => Promise.resolve(undefined);

function declared(
  pattern: string,
  operations: PathSpec["operations"] = { read: done },
  also: readonly string[] = [],
): Path {
  const fields = pattern.includes(":name")
    ? EnginePermissionSetFieldsSchema
    : pattern.includes(":permissionset")
      ? EnginePermissionSetTokenFieldsSchema
      : EngineInfoFieldsSchema;
  return definePath({ pattern, also, fields, operations, synopsis: pattern, description: pattern });
}

describe("a name in a path", () => {
  it.each(["a", "A1", "_", "a-b", "a.b", "a--b", "a.-.b", "0"])("may be %s", (name) => {
    expect(compilePattern("token/:name").match(`token/${name}`)?.get("name")).toBe(name);
  });

  it.each(["", "-a", "a-", ".", "..", "a.", ".a", "a/b", "a b", "ä", "a%2fb", "a\n"])(
    "may not be %j",
    (name) => {
      expect(compilePattern("token/:name").match(`token/${name}`)).toBeUndefined();
    },
  );

  it("is matched as the original's expression does", () => {
    const original = /^(?:\w(?:(?:[\w\-.]+)?\w)?)$/;
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("a", "Z", "0", "_", "-", ".", "/", " ", "é"),
          maxLength: 8,
        }),
        (name) => {
          expect(compilePattern(":name").match(name) !== undefined).toBe(original.test(name));
        },
      ),
    );
  });

  it("is refused in no time however long it is", () => {
    const started = performance.now();
    expect(compilePattern("a/:name/b").match(`a/${"a-".repeat(500_000)}`)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe("a rest in a path", () => {
  it("takes everything behind its slash", () => {
    const pattern = compilePattern("leases/:name*");
    expect(
      ["leases/x/y/", "leases/", "leases/a b\n", "leases"].map((path) =>
        pattern.match(path)?.get("name"),
      ),
    ).toEqual(["x/y/", "", "a b\n", undefined]);
  });

  it("begins with no slash, which would be a second name of the same thing", () => {
    const pattern = compilePattern("leases/:name*");
    expect(["leases//", "leases//x"].map((path) => pattern.match(path))).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe("a pattern", () => {
  it.each(["a/:rest*/b", "a/:Name", "a/(b)", ":a/:a", "a b"])(
    "is refused when it is none: %s",
    (text) => {
      expect(() => compilePattern(text)).toThrow("assertion failed");
    },
  );

  it("takes a dot literally", () => {
    expect(compilePattern("a.b").match("axb")).toBeUndefined();
  });

  it("must fit its fields", () => {
    expect(() =>
      definePath({
        pattern: "x/:other",
        fields: EngineInfoFieldsSchema,
        operations: { read: done },
        synopsis: "",
        description: "",
      }),
    ).toThrow("the variable other");
    expect(() =>
      definePath({
        pattern: "x",
        fields: EngineInfoFieldsSchema,
        operations: {},
        synopsis: "",
        description: "",
      }),
    ).toThrow("has an operation");
    expect(() =>
      definePath({
        pattern: "x",
        fields: EnginePermissionSetFieldsSchema,
        coerce: { nope: "pairs" },
        operations: { read: done },
        synopsis: "",
        description: "",
      }),
    ).toThrow("has the field nope");
    expect(() =>
      definePath({
        pattern: "x",
        fields: EnginePermissionSetFieldsSchema,
        coerce: { name: "pairs" },
        operations: { read: done },
        synopsis: "",
        description: "",
      }),
    ).toThrow("is a map");
  });
});

describe("the router", () => {
  const router = createRouter([
    declared("set/:name"),
    declared("set/fixed"),
    declared("set/:name/more"),
    declared("sets", { list: done }, ["set"]),
    declared("both", { read: done, list: done }),
  ]);
  const found = (path: string): string | undefined => router.find(path)?.path.pattern;

  it("prefers literals to variables", () => {
    expect(["set/fixed", "set/other", "set/other/more", "set/fixed/more"].map(found)).toEqual([
      "set/fixed",
      "set/:name",
      "set/:name/more",
      "set/:name/more",
    ]);
  });

  it("takes a slash at the end as part of a list, and of nothing else", () => {
    expect(
      ["sets/", "sets", "set/", "set"].map((path) => router.route(path, "list")?.path.pattern),
    ).toEqual(["sets", "sets", "sets", "sets"]);
    expect(["set/fixed/", "set/other/", "both/"].map((path) => router.route(path, "read"))).toEqual(
      [undefined, undefined, undefined],
    );
    expect(router.route("both/", "list")?.path.pattern).toBe("both");
    expect(router.route("sets//", "list")).toBeUndefined();
  });

  it("finds a path that does not know the operation, so that it is 405 and not 404", () => {
    expect(router.route("sets", "read")?.path.pattern).toBe("sets");
    expect(router.route("set/other", "list")?.path.pattern).toBe("set/:name");
  });

  it("gives the variables", () => {
    expect([...(router.route("set/abc", "read")?.variables ?? [])]).toEqual([["name", "abc"]]);
  });

  it("prefers, for a list, the path that lists", () => {
    const both = createRouter([
      declared("leases/lookup", { update: done }),
      declared("leases/lookup/:name*", { list: done }),
    ]);
    expect(
      ["leases/lookup/", "leases/lookup/github/"].map((path) =>
        both.route(path, "list")?.variables.get("name"),
      ),
    ).toEqual(["", "github/"]);
    expect(both.route("leases/lookup", "update")?.path.pattern).toBe("leases/lookup");
    expect(both.find("leases/lookup/")?.path.pattern).toBe("leases/lookup/:name*");
  });
});
