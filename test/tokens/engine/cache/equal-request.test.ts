import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requestKey, type MintRequest } from "../../../../src/tokens/engine/cache/equal-request.ts";

const name = fc.constantFrom("web", "api", "docs", 'a","b', "a,b", "");
const request: fc.Arbitrary<MintRequest> = fc.record({
  installationId: fc.constantFrom("1", "12", "123456789012345678901"),
  scope: fc.record({
    repositories: fc.uniqueArray(name, { maxLength: 3 }),
    repositoryIds: fc.uniqueArray(fc.constantFrom(1, 2, 12), { maxLength: 3 }),
    permissions: fc.dictionary(
      fc.constantFrom("contents", "issues", "__proto__", "checks"),
      fc.constantFrom("read", "write"),
      { maxKeys: 3 },
    ),
  }),
  permissionSet: fc.option(fc.constantFrom("ci", "null", ""), { nil: undefined }),
  principal: fc.constantFrom("", "[]", "ci"),
  maxLeaseTtlMs: fc.constantFrom(1, 12),
});

/** What must decide, by another way than the key. */
function meaning({ scope, ...rest }: MintRequest): unknown {
  return {
    ...rest,
    repositories: new Set(scope.repositories.map((one) => one.toLowerCase())),
    ids: new Set(scope.repositoryIds),
    permissions: new Map(Object.entries(scope.permissions)),
  };
}

function isSame(left: unknown, right: unknown): boolean {
  try {
    expect(left).toStrictEqual(right);
    return true;
  } catch {
    return false;
  }
}

describe("the key of a mint request", () => {
  it("is the same for two requests exactly if they mean the same", () => {
    fc.assert(
      fc.property(request, request, (left, right) => {
        expect(requestKey(left) === requestKey(right)).toBe(isSame(meaning(left), meaning(right)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("does not depend on order, repetition or case", () => {
    fc.assert(
      fc.property(request, fc.nat(), (one, turn) => {
        const mixed = <T>(list: readonly T[]): T[] => {
          const at = list.length === 0 ? 0 : turn % list.length;
          return [...list.slice(at), ...list.slice(0, at), ...list.slice(0, 1)].toReversed();
        };
        const { repositories, repositoryIds, permissions } = one.scope;
        const other = {
          ...one,
          scope: {
            repositories: mixed(repositories).map((text) => text.toUpperCase()),
            repositoryIds: mixed(repositoryIds),
            permissions: Object.fromEntries(Object.entries(permissions).toReversed()),
          },
        };
        expect(requestKey(other)).toBe(requestKey(one));
      }),
    );
  });

  it("differs by each single part", () => {
    const one: MintRequest = {
      installationId: "1",
      scope: { repositories: ["web"], repositoryIds: [1], permissions: { contents: "read" } },
      permissionSet: "ci",
      principal: "p",
      maxLeaseTtlMs: 1,
    };
    const others: MintRequest[] = [
      { ...one, installationId: "2" },
      { ...one, scope: { ...one.scope, repositories: ["api"] } },
      { ...one, scope: { ...one.scope, repositories: [] } },
      { ...one, scope: { ...one.scope, repositoryIds: [2] } },
      { ...one, scope: { ...one.scope, permissions: { contents: "write" } } },
      { ...one, scope: { ...one.scope, permissions: {} } },
      { ...one, permissionSet: undefined },
      { ...one, principal: "q" },
      { ...one, maxLeaseTtlMs: 2 },
    ];
    expect(new Set([one, ...others].map(requestKey)).size).toBe(others.length + 1);
  });
});
