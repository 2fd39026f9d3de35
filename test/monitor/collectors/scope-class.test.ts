import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scopeClass, scopeClasses } from "../../../src/monitor/collectors/scope-class.ts";

describe("The class of scopes", () => {
  it.each([
    [[], "none"],
    [[""], "none"],
    [["dns:read"], "read"],
    [["devices:core:read"], "read"],
    [["all:read"], "all_read"],
    [["dns"], "write"],
    [["devices:core"], "write"],
    [["all"], "all"],
    [[" ALL "], "all"],
    [["dns:read", "all:read"], "all_read"],
    [["all:read", "dns"], "write"],
    [["dns", "all", "dns:read"], "all"],
  ] as const)("of %j is %s", (scopes, expected) => {
    expect(scopeClass(scopes)).toBe(expected);
  });

  it("never falls when a scope is added", () => {
    const scope = fc.oneof(fc.string(), fc.constantFrom("all", "all:read", "dns:read", "dns", ""));
    const rank = (scopes: readonly string[]) => scopeClasses.indexOf(scopeClass(scopes));
    fc.assert(
      fc.property(fc.array(scope), scope, (scopes, added) => {
        expect(rank([...scopes, added])).toBe(Math.max(rank(scopes), rank([added])));
      }),
    );
  });
});
