import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearest } from "../../../../src/kernel/base/text/nearest.ts";

describe("the nearest name", () => {
  it.each([
    ["statsu", "status"],
    ["STATUS", "status"],
    ["group_ids", "groupIds"],
    ["groupId", "groupIds"],
    ["confrim", "confirm"],
    ["stauts", "status"],
    ["", undefined],
    ["zzzzzz", undefined],
    ["x".repeat(65), undefined],
  ])("of %s is %s", (name, expected) => {
    expect(nearest(name, ["status", "groupIds", "confirm", "documentId"])).toBe(expected);
  });

  it("is the closest of several", () => {
    expect(nearest("docC", ["docAlpha", "docB", "offset"])).toBe("docB");
  });

  it("is what comparing with all of them finds", () => {
    const name = fc.stringMatching(/^[ab_]{0,7}$/);
    const alone = (from: string, to: string): boolean => nearest(from, [to]) !== undefined;
    fc.assert(
      fc.property(name, fc.array(name, { maxLength: 6 }), (from, all) => {
        const found = nearest(from, all);
        // One that is near by itself is no further away than what was found among others.
        expect(found === undefined).toBe(!all.some((to) => alone(from, to)));
        if (found !== undefined)
          for (const to of all)
            if (alone(from, to))
              expect([found, nearest(from, [found, to])]).toEqual([found, found]);
      }),
    );
  });

  it("forgives two swapped letters in a short name", () => {
    expect(nearest("nmae", ["name", "kind"])).toBe("name");
  });
});
